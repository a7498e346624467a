/** What drivers of models need of the world around them. Commands provide it; in process every part has a default. */
import type { Log } from '../ports.ts';

export interface ModelServices {
  /** Progress of downloads, warnings about truncated texts. */
  readonly log?: Log;
  /** Where keys and addresses of services are looked up. Default process.env. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Aborted when the command is interrupted. */
  readonly signal?: AbortSignal;
}
