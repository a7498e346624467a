import { DocOptError } from '../../src/errors.ts';
import type { Reranker } from '../../src/ports.ts';
import type { Run } from '../../src/types.ts';

/** Scores of a run file, by query and document. DATA, naming the pair, where there is none or it is no probability. */
export function createRunReranker(run: Run, file: string): Reranker {
  const tables = new Map<string, ReadonlyMap<string, number>>();
  const tableOf = (queryId: string): ReadonlyMap<string, number> => {
    let table = tables.get(queryId);
    if (table === undefined) {
      const ranking = run.get(queryId);
      table = new Map(ranking?.ids.map((id, i) => [id, ranking.scores[i]]));
      tables.set(queryId, table);
    }
    return table;
  };
  return {
    id: 'recorded',
    async score(query, documents) {
      const table = tableOf(query.id);
      return Float64Array.from(documents, ({ id }) => {
        const score = table.get(id);
        if (score === undefined || !(score >= 0 && score <= 1)) {
          const found = score === undefined ? 'no score' : `the score ${score}`;
          throw new DocOptError('DATA', `${file}: ${found} for document '${id}' of query '${query.id}'`, {
            hint: 'A study needs a probability for every document of the pool; lower --pool, or record the rest.',
          });
        }
        return score;
      });
    },
  };
}
