/**
 * `acurank` (after Yoon et al. 2025, for rerankers that score one document at a time): every document has a belief of its
 * own about its score. The threshold is where k documents are expected above it; the documents whose membership is least
 * decided are scored. Beliefs are independent: a score says nothing of the neighbours.
 *
 * [I] A belief starts at the first-stage percentile with deviation 1/6: the mean of all percentiles over 3, as TrueSkill has it.
 */
import { DocOptError } from '../../src/errors.ts';
import type { Selector } from '../../src/ports.ts';
import type { SelectedDocument } from '../../src/types.ts';
import { chanceAbove, membershipThreshold } from '../kernels/membership-threshold.ts';
import { percentilePrior } from '../kernels/percentile-prior.ts';
import { createLedger, STATUS } from './ledger.ts';

export interface AcuRankOptions {
  /** Of a belief before its score. */
  readonly deviation?: number;
  /** Calls asked for at once. */
  readonly batch?: number;
  /** Ends when no open document's membership is more doubtful than this: min(p, 1 - p). 0 = never (default). */
  readonly tolerance?: number;
}

export function createAcuRank({ deviation = 1 / 6, batch = 1, tolerance = 0 }: AcuRankOptions = {}): Selector {
  if (!Number.isFinite(deviation) || deviation <= 0) {
    throw new DocOptError('CONFIG', `selector.deviation is ${deviation}; it must be a number above 0.`);
  }
  if (!Number.isInteger(batch) || batch < 1) {
    throw new DocOptError('CONFIG', `selector.batch is ${batch}; it must be a whole number of at least 1.`);
  }
  if (!(tolerance >= 0 && tolerance < 0.5)) {
    throw new DocOptError('CONFIG', `selector.tolerance is ${tolerance}; it must be at least 0 and below 0.5.`);
  }
  return {
    name: 'acurank',
    begin(pool, limits) {
      const size = pool.ids.length;
      const ledger = createLedger(size, limits);
      const means = percentilePrior(size);
      const deviations = new Float64Array(size).fill(deviation);
      const takeAnswers = (): void => {
        for (let d = 0; d < size; d++) {
          if (ledger.status[d] !== STATUS.scored) continue;
          means[d] = ledger.scores[d];
          deviations[d] = 0;
        }
      };
      const next = (): number[] => {
        if (ledger.left === 0) return [];
        const threshold = membershipThreshold(means, deviations, limits.capacity);
        const open: number[] = [];
        for (let d = 0; d < size; d++) if (ledger.status[d] === STATUS.open) open.push(d);
        // Equal deviations: the closest mean is the least decided membership, without probabilities that round to 0 or 1.
        const away = (d: number): number => Math.abs(means[d] - threshold);
        open.sort((a, b) => away(a) - away(b) || a - b);
        const doubt = (d: number): number => {
          const p = chanceAbove(means[d], deviation, threshold);
          return Math.min(p, 1 - p);
        };
        const picks = open.slice(0, Math.min(batch, ledger.left));
        return tolerance === 0 ? picks : picks.filter((d) => doubt(d) > tolerance);
      };
      return {
        ask() {
          ledger.requireAnswers();
          takeAnswers();
          return ledger.ask(next());
        },
        tell: ledger.tell,
        result() {
          takeAnswers();
          const positions = Array.from({ length: size }, (_, d) => d).sort((a, b) => means[b] - means[a] || a - b);
          const order = positions.map((position, index): SelectedDocument => {
            const scored = ledger.status[position] === STATUS.scored;
            return {
              position,
              id: pool.ids[position],
              rank: index + 1,
              source: scored ? 'scored' : 'estimated',
              relevanceScore: means[position],
              std: deviations[position],
            };
          });
          return { order, capacity: limits.capacity };
        },
      };
    },
  };
}
