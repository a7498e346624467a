/** One line of `docopt doctor`. */
import { DocOptError, toDocOptError } from '../../src/errors.ts';

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** What to do; '' when nothing. */
  readonly remedy: string;
  /** Milliseconds that the trial took. */
  readonly ms?: number;
}

/** What a trial found out. */
export interface Finding {
  readonly detail: string;
  readonly remedy?: string;
  /** Of the part that matters, where it is not the whole trial. */
  readonly ms?: number;
}

/** Longer than any healthy answer to one text, short enough to wait for. */
const PATIENCE_MS = 60_000;

/** Runs a trial; whatever goes wrong is a FAIL line with the remedy, and so is no answer at all. */
export async function tried(name: string, work: () => Promise<Finding>): Promise<Check> {
  const started = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const message = `no answer within ${PATIENCE_MS / 1000} seconds`;
      reject(new DocOptError('UPSTREAM', message, { hint: 'Check the address, the network and the service itself.' }));
    }, PATIENCE_MS);
  });
  try {
    const { detail, remedy = '', ms } = await Promise.race([work(), tooLong]);
    return { name, ok: true, detail, remedy, ms: round(ms ?? performance.now() - started) };
  } catch (thrown) {
    return fault(name, toDocOptError(thrown));
  } finally {
    clearTimeout(timer);
  }
}

export function fault(name: string, error: DocOptError): Check {
  const oneLine = (text: string): string => text.replace(/\s*\n\s*/g, ' ').trim();
  return { name, ok: false, detail: oneLine(error.message), remedy: oneLine(error.hint) };
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
