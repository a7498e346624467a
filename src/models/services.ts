/** What drivers of models need of the world around them. Commands provide it; in process every part has a default. */
import type { Log } from '../ports.ts';
import { createWire, type Wire } from '../run/wire/mod.ts';
import type { ResponseCache } from '../store/response-cache.ts';

export interface ModelServices {
  /** Progress of downloads, warnings about truncated texts. */
  readonly log?: Log;
  /** Where keys and addresses of services are looked up. Default process.env. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Aborted when the command is interrupted. */
  readonly signal?: AbortSignal;
  /** The way to services, opened when a driver first needs it. Default: one for the process, without caps, its answers kept in memory. */
  readonly wire?: () => Promise<Wire>;
  /** Where vectors of local models are kept from one run to the next, opened when first needed. Default: nowhere. */
  readonly vectors?: () => Promise<ResponseCache>;
}

let ownWire: Wire | undefined;

/** The wire of these services. */
export async function wireOf({ wire }: ModelServices): Promise<Wire> {
  if (wire !== undefined) return wire();
  ownWire ??= createWire({ offline: /^(1|true|yes|on)$/i.test(process.env.DOCOPT_OFFLINE ?? '') });
  return ownWire;
}

export function envOf({ env }: ModelServices): Readonly<Record<string, string | undefined>> {
  return env ?? process.env;
}
