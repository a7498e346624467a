/** Studies in memory for the tests: random pools with scores and judgements, no files and no models. */
import { createPool } from '../../select/mod.ts';
import type { StudyGroup, StudyQuery } from '../../select/study/types.ts';
import { createRng, type Rng, shuffle } from '../../src/kernels/rng.ts';
import { randomVectors, unit } from './pools.ts';

/** `queries` pools of `size` documents in clusters; scores lean towards the relevant ones. */
export function studyGroup(queries: number, size: number, seed: number): StudyGroup & { readonly loads: string[] } {
  const loads: string[] = [];
  return {
    loads,
    collection: 'random',
    retriever: 'order',
    reranker: 'table',
    documents: size * 2,
    lexical: true,
    queries: Array.from({ length: queries }, (_, i) => ({ id: `q${i}`, text: `query ${i}` })),
    callMilliseconds: [2, 1, 3],
    async load(query) {
      loads.push(query.id);
      return studyQuery(query.id, size, createRng(seed * 1000 + Number(query.id.slice(1))));
    },
  };
}

export function studyQuery(id: string, size: number, rng: Rng): StudyQuery {
  const data = Float64Array.from(randomVectors(rng, size, 5, 'clusters').flat());
  const relevance = Float64Array.from({ length: size }, () => (rng.next() < 0.3 ? 1 : 0));
  return {
    query: { id, text: id },
    pool: createPool({
      query: { id, text: id },
      ids: Array.from({ length: size }, (_, i) => `d${i}`),
      embeddings: { rows: size, columns: 5, data },
      queryEmbedding: Float64Array.from(unit([1, 1, 0, 0, 1])),
      lexicalRanks: Int32Array.from(shuffle([...relevance.keys()], rng)),
    }),
    scores: Float64Array.from(relevance, (r) => Math.min(1, Math.max(0, 0.12 + 0.7 * r + 0.12 * rng.normal()))),
    relevance,
    relevant: relevance.reduce((sum, r) => sum + r, 0) + 1,
    textAt: (position) => `text ${position}`,
    embed: async () => Float64Array.from(unit([0, 1, 0, 0, 1])),
  };
}
