import { DocOptError } from '../errors.ts';
import type { Ranking, Run } from '../types.ts';
import { writeFileAtomic } from './atomic.ts';
import { idFault } from './id.ts';

/**
 * Writes a TREC run that other tools rank as we do. Evaluators sort by score themselves, and trec_eval keeps scores as
 * 32-bit floats and breaks ties its own way; so the scores written fall strictly, also as 32-bit floats, in the order of
 * the ranking. A score is written as it is wherever it already does. Atomic; DATA for ids that a run cannot carry.
 */
export async function writeRun(path: string, run: Run, tag: string): Promise<void> {
  const fault = idFault(tag);
  if (fault !== undefined)
    throw new DocOptError('USAGE', `run tag: ${fault}`, { hint: 'Choose a tag without white space.' });
  await writeFileAtomic(path, runLines(run, tag));
}

function* runLines(run: Run, tag: string): Generator<string> {
  for (const [queryId, ranking] of run) {
    const scores = fallingScores(ranking.scores);
    for (let i = 0; i < ranking.ids.length; i++) {
      const fault = idFault(queryId) ?? idFault(ranking.ids[i]);
      if (fault !== undefined)
        throw new DocOptError('DATA', `cannot write the run: ${fault}`, { hint: 'Rename it in the data.' });
      yield `${queryId} Q0 ${ranking.ids[i]} ${i + 1} ${scores[i]} ${tag}\n`;
    }
  }
}

/**
 * Scores of the same order whose 32-bit roundings fall strictly: a score that does not fall below its predecessor becomes
 * the next lower float. Throws INTERNAL for a score that is not finite.
 */
export function fallingScores(scores: Ranking['scores']): Float64Array {
  const falling = new Float64Array(scores.length);
  let previous = Infinity;
  for (let i = 0; i < scores.length; i++) {
    if (!Number.isFinite(scores[i]))
      throw new DocOptError('INTERNAL', `score ${scores[i]} at rank ${i + 1} of a ranking`);
    const rounded = Math.fround(scores[i]);
    falling[i] = rounded < previous ? scores[i] : nextBelow(previous);
    previous = Math.fround(falling[i]);
    // Beyond the range of floats only the order can be kept.
    if (!Number.isFinite(previous)) return Float64Array.from(scores, (_, rank) => scores.length - rank);
  }
  return falling;
}

const float = new Float32Array(1);
const bits = new Int32Array(float.buffer);

/** The largest 32-bit float below x (itself one). */
function nextBelow(x: number): number {
  if (x === 0) return -(2 ** -149);
  float[0] = x;
  bits[0] += x > 0 ? -1 : 1;
  return float[0];
}
