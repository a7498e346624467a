import type { Rng } from '../../../src/kernels/rng.ts';
import type { Document, Qrels, Query, Run } from '../../../src/types.ts';

const PIECES = [
  'a',
  'B',
  'é',
  '漢',
  '😀',
  ' ',
  '\t',
  '\n',
  '\r\n',
  '\r',
  '"',
  "'",
  '\\',
  ',',
  '\u0000',
  '\u2028',
  '\ud800',
  '\ufeff',
  '<',
  '0',
];
const ID_PIECES = ['a', 'B', 'é', '漢', '😀', '"', '\\', ',', '-', '/', '#', '0', '9', ':'];

/** Text of hard characters; `without` = those the format cannot carry. */
export function randomText(rng: Rng, longest: number, without = ''): string {
  const pieces = PIECES.filter((piece) => !without.includes(piece));
  return Array.from({ length: rng.int(longest + 1) }, () => pieces[rng.int(pieces.length)]).join('');
}

export function randomDocuments(rng: Rng, count: number, without = ''): Document[] {
  return randomIds(rng, count, 'd').map((id) => {
    const title = rng.int(2) === 0 ? '' : randomText(rng, 5, without);
    const document = { id, title, text: randomText(rng, rng.int(10) === 0 ? 3000 : 20, without) };
    return rng.int(3) === 0
      ? { ...document, metadata: { [randomText(rng, 3, without)]: [randomText(rng, 3, without), null, 1.5] } }
      : document;
  });
}

export function randomQueries(rng: Rng, count: number): Query[] {
  return randomIds(rng, count, 'q').map((id) => ({ id, text: randomText(rng, 12) }));
}

export function randomQrels(rng: Rng, queries: readonly Query[], documents: readonly Document[]): Qrels {
  const qrels = new Map<string, Map<string, number>>();
  for (const { id } of queries) {
    const judged = new Map<string, number>();
    for (let i = rng.int(4); i > 0; i--) judged.set(documents[rng.int(documents.length)].id, rng.int(6) - 2);
    if (judged.size > 0) qrels.set(id, judged);
  }
  return qrels;
}

/** Rankings with many ties, huge and tiny scores, of either sign. */
export function randomRun(rng: Rng, queries: number, depth: number): Run {
  const scales = [1, 1e-40, 1e30, 1e-6, 0];
  return new Map(
    randomIds(rng, queries, 'q').map((id) => {
      const scale = scales[rng.int(scales.length)];
      const scores = Array.from(
        { length: 1 + rng.int(depth) },
        () => (rng.int(4) === 0 ? rng.int(3) : rng.normal()) * scale,
      );
      scores.sort((a, b) => b - a);
      return [id, { ids: randomIds(rng, scores.length, 'd'), scores: Float64Array.from(scores) }];
    }),
  );
}

/** Distinct ids, in no particular order. */
export function randomIds(rng: Rng, count: number, prefix: string): string[] {
  const ids = Array.from({ length: count }, (_, i) => {
    const tail = Array.from({ length: rng.int(4) }, () => ID_PIECES[rng.int(ID_PIECES.length)]).join('');
    return `${prefix}${(i * 7919) % 100003}${tail}`;
  });
  return [...new Set(ids)];
}
