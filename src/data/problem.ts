import { DocOptError } from '../errors.ts';

/** Something wrong with the user's data, at a place the user can open. */
export interface Problem {
  /** error = results would be wrong, loading stops; warning = worth knowing, loading goes on. */
  readonly severity: 'error' | 'warning';
  readonly file: string;
  /** 1-based; null when the problem is of the whole file. */
  readonly line: number | null;
  /** The document or query concerned, when known. */
  readonly id: string | null;
  readonly message: string;
  /** What to do about it; '' when the message says it. */
  readonly hint: string;
}

/** Readers report here and go on with the next row when it returns. A strict report throws at the first error. */
export type Report = (problem: Problem) => void;

/** The report of every load: errors throw as DATA, warnings go to `onWarning`. */
export function strictReport(onWarning?: Report): Report {
  return (problem) => {
    if (problem.severity === 'error') throw new DataError(problem);
    onWarning?.(problem);
  };
}

/** A problem thrown: the DATA error of every load. */
export class DataError extends DocOptError {
  readonly problem: Problem;

  constructor(problem: Problem, cause?: unknown) {
    const place = problem.line === null ? problem.file : `${problem.file}:${problem.line}`;
    super('DATA', `${place}: ${problem.message}`, { hint: problem.hint, cause });
    this.problem = problem;
  }
}

/** A DATA error of a whole file or folder, for the places where nothing can go on. */
export function dataError(file: string, message: string, hint: string, cause?: unknown): DataError {
  return new DataError({ severity: 'error', file, line: null, id: null, message, hint }, cause);
}
