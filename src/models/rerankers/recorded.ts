import { DocOptError } from '../../errors.ts';
import type { Reranker } from '../../ports.ts';

/**
 * Scores that were recorded beforehand, by document id, handed out only when asked for. null = that call had failed; a
 * document without a record answers as one whose call failed.
 */
export function createRecordedReranker(scores: ReadonlyMap<string, number | null>): Reranker {
  for (const [id, score] of scores) {
    if (score !== null && !(score >= 0 && score <= 1)) {
      throw new DocOptError(
        'DATA',
        `document '${id}' has the recorded score ${score}; scores are probabilities in [0, 1].`,
        {
          hint: 'Pass raw scores of a cross-encoder through a sigmoid before recording them.',
        },
      );
    }
  }
  return {
    id: 'recorded',
    async score(_query, documents) {
      return Float64Array.from(documents, ({ id }) => scores.get(id) ?? Number.NaN);
    },
  };
}
