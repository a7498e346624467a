import { DocOptError } from '../../errors.ts';

/**
 * refused: the service will not, whoever asks when (4xx). limited: too much asked (429). server: it failed (5xx).
 * network: no connection, or one that broke. deadline: no time left. malformed: an answer that is none.
 */
export type WireFault = 'refused' | 'limited' | 'server' | 'network' | 'deadline' | 'malformed';

/** What a service or the way to it did. Code UPSTREAM; never holds a key, also where the service quoted one. */
export class WireError extends DocOptError {
  readonly fault: WireFault;
  /** Of the last answer; undefined without one. */
  readonly status: number | undefined;
  /** The service's own words, cleaned. */
  readonly said: string;

  constructor(
    fault: WireFault,
    message: string,
    options: { hint?: string; cause?: unknown; status?: number; said?: string } = {},
  ) {
    super('UPSTREAM', message, options);
    this.fault = fault;
    this.status = options.status;
    this.said = options.said ?? '';
  }
}
