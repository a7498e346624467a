/** Which queries moved, and which documents they were about. */
import type { Corpus, Qrels, Ranking, Run } from '../../src/types.ts';
import type { DiffPart, DocumentChange, MovedQuery, QueryDelta, System } from './types.ts';

/** The three runs over the test queries, and what each query got. */
export interface Evidence {
  readonly test: readonly string[];
  readonly texts: ReadonlyMap<string, string>;
  readonly qrels: Qrels;
  readonly runs: Readonly<Record<System, Run>>;
  readonly perQuery: Readonly<Record<System, Readonly<Record<string, number>>>>;
}

/** Worst first; ties by id. */
export function queryDeltas({ test, texts, perQuery }: Evidence): QueryDelta[] {
  return test
    .filter((id) => perQuery.trained[id] !== undefined)
    .map((id) => ({
      id,
      text: texts.get(id) ?? '',
      original: perQuery.original[id],
      zeroShot: perQuery.zeroShot[id],
      trained: perQuery.trained[id],
    }))
    .sort((a, b) => a.trained - a.original - (b.trained - b.original) || (a.id < b.id ? -1 : 1));
}

interface ChangeInput extends Evidence {
  readonly corpus: Corpus;
  readonly original: readonly string[];
  readonly trained: readonly string[];
  readonly most: number;
  readonly diff: (before: string, after: string) => readonly DiffPart[];
}

/** Rewritten documents that answer a test query whose figure or rank moved: those that lost most and those that won most. */
export function documentChanges(input: ChangeInput): { helped: DocumentChange[]; harmed: DocumentChange[] } {
  const { test, texts, qrels, runs, perQuery, corpus, original, trained, most, diff } = input;
  const moved = new Map<number, MovedQuery[]>();
  for (const id of test) {
    const delta = (perQuery.trained[id] ?? 0) - (perQuery.original[id] ?? 0);
    const before = ranksOf(runs.original.get(id));
    const after = ranksOf(runs.trained.get(id));
    for (const [document, grade] of qrels.get(id) ?? []) {
      const position = corpus.positionOf(document);
      if (grade <= 0 || position === undefined || original[position] === trained[position]) continue;
      const own = {
        id,
        text: texts.get(id) ?? '',
        before: before.get(document) ?? null,
        after: after.get(document) ?? null,
        delta,
      };
      if (delta === 0 && own.before === own.after) continue;
      const known = moved.get(position);
      if (known === undefined) moved.set(position, [own]);
      else known.push(own);
    }
  }
  const ranked = [...moved]
    .map(([position, queries]) => ({ position, queries, delta: queries.reduce((sum, { delta }) => sum + delta, 0) }))
    .sort((a, b) => a.delta - b.delta || (corpus.ids[a.position] < corpus.ids[b.position] ? -1 : 1));
  const shown = ({ position, queries, delta }: (typeof ranked)[number]): DocumentChange => ({
    id: corpus.ids[position],
    title: corpus.original(position).title,
    diff: diff(original[position], trained[position]),
    queries: [...queries].sort((a, b) => a.delta - b.delta || (a.id < b.id ? -1 : 1)),
    delta,
  });
  return {
    harmed: ranked
      .filter(({ delta }) => delta < 0)
      .slice(0, most)
      .map(shown),
    helped: ranked
      .filter(({ delta }) => delta > 0)
      .reverse()
      .slice(0, most)
      .map(shown),
  };
}

/** 1-based. */
function ranksOf(ranking: Ranking | undefined): Map<string, number> {
  return new Map(ranking?.ids.map((id, i) => [id, i + 1]));
}
