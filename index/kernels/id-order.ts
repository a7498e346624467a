import { DocOptError } from '../../src/errors.ts';
import { compareIds } from '../../src/kernels/compare.ts';

/** The ids in ascending order, both ways: ties compare two integers instead of two strings, and look-ups need no Map. */
export interface IdOrder {
  readonly ids: readonly string[];
  /** rank[position] in id order. */
  readonly rank: Int32Array;
  /** Position of an id, or -1. */
  positionOf(id: string): number;
}

/** Throws DATA naming the id that occurs twice. */
export function orderIds(ids: readonly string[]): IdOrder {
  const sorted = Int32Array.from(ids.keys());
  // Ids that come in order (most exports do) need no sort.
  if (!isAscending(ids)) sorted.sort((a, b) => compareIds(ids[a], ids[b]));
  const rank = new Int32Array(ids.length);
  for (let r = 0; r < sorted.length; r++) {
    rank[sorted[r]] = r;
    if (r > 0 && ids[sorted[r]] === ids[sorted[r - 1]]) {
      throw new DocOptError('DATA', `document id '${ids[sorted[r]]}' occurs twice; ids must be unique.`, {
        hint: 'docopt validate DATA lists every duplicate with its line.',
      });
    }
  }
  return {
    ids,
    rank,
    positionOf(id) {
      let low = 0;
      let high = sorted.length - 1;
      while (low <= high) {
        const middle = (low + high) >>> 1;
        const order = compareIds(ids[sorted[middle]], id);
        if (order === 0) return sorted[middle];
        if (order < 0) low = middle + 1;
        else high = middle - 1;
      }
      return -1;
    },
  };
}

function isAscending(ids: readonly string[]): boolean {
  for (let i = 1; i < ids.length; i++) if (!(ids[i - 1] < ids[i])) return false;
  return true;
}
