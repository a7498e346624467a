/** What every selection run keeps: who was asked, who answered, and that the rules of the port are held. */
import { DocOptError } from '../../src/errors.ts';
import type { SelectionLimits } from '../../src/ports.ts';

export type Status = (typeof STATUS)[keyof typeof STATUS];

export const STATUS = { open: 0, asked: 1, scored: 2, failed: 3 } as const;

export interface Ledger {
  readonly status: Uint8Array;
  /** By position; NaN where there is none. */
  readonly scores: Float64Array;
  /** Calls left to ask for. */
  readonly left: number;
  /** Throws unless every answer of the last ask is in. */
  requireAnswers(): void;
  ask(positions: readonly number[]): readonly number[];
  tell(position: number, score: number | null): void;
}

export function createLedger(size: number, limits: SelectionLimits): Ledger {
  requireCount('budget', limits.budget);
  requireCount('capacity', limits.capacity);
  const status = new Uint8Array(size);
  const scores = new Float64Array(size).fill(Number.NaN);
  let left = Math.min(limits.budget, size);
  let waiting = 0;

  return {
    status,
    scores,
    get left() {
      return left;
    },
    requireAnswers() {
      if (waiting > 0) throw misuse(`ask() while ${waiting} answers are outstanding`);
    },
    ask(positions) {
      for (const position of positions) status[position] = STATUS.asked;
      left -= positions.length;
      waiting = positions.length;
      return positions;
    },
    tell(position, score) {
      if (status[position] !== STATUS.asked) throw misuse(`tell() for position ${position}, which is not asked for`);
      waiting--;
      if (score === null || Number.isNaN(score)) {
        status[position] = STATUS.failed;
        return;
      }
      if (!Number.isFinite(score)) throw misuse(`the score of position ${position} is ${score}, not a finite number`);
      status[position] = STATUS.scored;
      scores[position] = score;
    },
  };
}

function requireCount(name: string, value: number): void {
  if (!Number.isInteger(value) || value < 0) {
    throw new DocOptError('USAGE', `The ${name} is ${value}; it must be a whole number of at least 0.`);
  }
}

function misuse(what: string): DocOptError {
  return new DocOptError('INTERNAL', `Selection run misused: ${what}.`);
}
