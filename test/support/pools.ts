/** Small pools for the selection tests. */
import { ranksOf } from '../../select/kernels/ranks.ts';
import { tfidfRows } from '../../select/kernels/tfidf-cosine.ts';
import type { Rng } from '../../src/kernels/rng.ts';
import type { Pool } from '../../src/types.ts';

export function unit(vector: readonly number[]): number[] {
  const norm = Math.hypot(...vector);
  return norm === 0 ? [...vector] : vector.map((x) => x / norm);
}

export function poolOf(vectors: readonly (readonly number[])[], query?: readonly number[]): Pool {
  const columns = vectors[0]?.length ?? query?.length ?? 1;
  return {
    query: { id: 'q', text: 'query' },
    ids: vectors.map((_, position) => `d${position}`),
    embeddings: { rows: vectors.length, columns, data: Float64Array.from(vectors.flat()) },
    queryEmbedding: query === undefined ? undefined : Float64Array.from(query),
  };
}

/**
 * The same pool as a lexical index sees it: BM25 ranks and words that follow from the vectors (the sign and the order of
 * their parts), so that a pool of identical vectors has identical texts.
 */
export function withWords(pool: Pool): Pool {
  const { rows, columns, data } = pool.embeddings;
  const wordsOf = (vector: ArrayLike<number>): string[] =>
    Array.from(vector, (x, i) => (Math.abs(x) < 0.2 ? [] : [`${i}${x > 0 ? 'p' : 'n'}`])).flat();
  const documents = Array.from({ length: rows }, (_, d) => wordsOf(data.subarray(d * columns, (d + 1) * columns)));
  const query = wordsOf(pool.queryEmbedding ?? []);
  const overlap = documents.map((words) => words.filter((word) => query.includes(word)).length / (1 + words.length));
  return { ...pool, lexicalRanks: ranksOf(overlap), terms: tfidfRows(documents, query) };
}

/** The worked example: six unit vectors in the plane, the query at 0 degrees, k = 2. */
export const ANGLES = [10, 20, 40, 60, 80, 100];
export const EXAMPLE_SCORES = [0.9, 0.2, 0.7, 0.6, 0.1, 0.05];

export function exampleVectors(): number[][] {
  return ANGLES.map((degrees) => [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)]);
}

export const SHAPES = ['gaussian', 'clusters', 'duplicates', 'identical', 'zeros', 'plane'] as const;
export type Shape = (typeof SHAPES)[number];

/** Random unit vectors, from well spread to wholly degenerate. */
export function randomVectors(rng: Rng, count: number, width: number, shape: Shape): number[][] {
  const gaussian = () => unit(Array.from({ length: width }, () => rng.normal()));
  switch (shape) {
    case 'gaussian':
      return Array.from({ length: count }, gaussian);
    case 'plane':
      return Array.from({ length: count }, () => {
        const angle = rng.next() * Math.PI;
        return [Math.cos(angle), Math.sin(angle), ...new Array<number>(width - 2).fill(0)];
      });
    case 'clusters': {
      const centres = Array.from({ length: 3 }, gaussian);
      return Array.from({ length: count }, () => unit(centres[rng.int(3)].map((x) => x + 0.2 * rng.normal())));
    }
    case 'duplicates': {
      const few = Array.from({ length: Math.max(1, count >> 2) }, gaussian);
      return Array.from({ length: count }, () => few[rng.int(few.length)]);
    }
    case 'identical': {
      const one = gaussian();
      return Array.from({ length: count }, () => one);
    }
    case 'zeros':
      return Array.from({ length: count }, () => (rng.next() < 0.5 ? new Array<number>(width).fill(0) : gaussian()));
    default:
      return shape satisfies never;
  }
}
