/** What ends a selection early: an interruption (an error), or a deadline (the best answer so far). */
import { DocOptError } from '../src/errors.ts';

export interface Stops {
  /** The work, or what stops it: rejects when `signal` aborts, answers 'deadline' when that comes first. */
  race<T>(work: Promise<T>): Promise<T | 'deadline'>;
  /** Lets go of the signals, which may live as long as the process. */
  release(): void;
}

/** One listener on each signal for the whole selection. */
export function watchStops(signal: AbortSignal | undefined, deadline: AbortSignal | undefined): Stops {
  const stops: Promise<'deadline'>[] = [];
  const releases: (() => void)[] = [];
  const on = (source: AbortSignal, stop: () => void): void => {
    if (source.aborted) stop();
    source.addEventListener('abort', stop);
    releases.push(() => source.removeEventListener('abort', stop));
  };
  if (signal !== undefined) {
    const interruption = new Promise<never>((_, reject) => on(signal, () => reject(interrupted())));
    // It may come while nothing is raced; `turn` reports it then.
    interruption.catch(() => {});
    stops.push(interruption);
  }
  if (deadline !== undefined) stops.push(new Promise((resolve) => on(deadline, () => resolve('deadline'))));
  return {
    race: (work) => Promise.race([work, ...stops]),
    release: () => {
      for (const release of releases) release();
    },
  };
}

export function interrupted(): DocOptError {
  return new DocOptError('INTERRUPTED', 'The selection was interrupted.', { hint: 'Run it again.' });
}
