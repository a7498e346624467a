/** One collection, retriever and reranker as a study sees them: pools, judgements and scores, query by query. */
import type { CommandContext } from '../../src/config/command.ts';
import { documentText } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import type { CachedReranker } from '../../src/models/rerankers/cached.ts';
import type { Reranker } from '../../src/ports.ts';
import type { Document, Pool, Query } from '../../src/types.ts';
import { poolFromIndex } from '../mod.ts';
import type { StudyGroup } from '../study/types.ts';
import type { Subject } from './study-subjects.ts';

export interface StudyReranker {
  readonly name: string;
  readonly reranker: Reranker | CachedReranker;
  /** false: looking its scores up takes no time worth telling. */
  readonly timed: boolean;
}

export interface StudyGroupSettings {
  readonly pool: number;
  readonly batchSize: number;
}

export function createStudyGroup(
  subject: Subject,
  queries: readonly Query[],
  { name, reranker, timed }: StudyReranker,
  settings: StudyGroupSettings,
  context: CommandContext,
): StudyGroup {
  const { corpus, dataset, source } = subject;
  const own: number[] = [];
  const documentsOf = (pool: Pool): Document[] => pool.ids.map((id) => corpus.original(corpus.positionOf(id)!));

  const scorePool = async (query: Query, documents: readonly Document[]): Promise<Float64Array> => {
    const scores = new Float64Array(documents.length);
    for (let from = 0; from < documents.length; from += settings.batchSize) {
      throwIfStopped(context.signal);
      const part = documents.slice(from, from + settings.batchSize);
      const started = performance.now();
      const answers = await reranker.score(query, part);
      const each = (performance.now() - started) / part.length;
      for (let i = 0; i < part.length; i++) own.push(each);
      requireProbabilities(reranker, query, part, answers);
      scores.set(answers, from);
    }
    return scores;
  };

  return {
    collection: subject.collection,
    retriever: subject.retriever,
    reranker: name,
    documents: corpus.size,
    lexical: source.lexical !== undefined,
    queries,
    get callMilliseconds() {
      if (!timed) return [];
      return 'milliseconds' in reranker ? reranker.milliseconds : own;
    },
    async load(query) {
      throwIfStopped(context.signal);
      const found = await poolFromIndex(source, query, settings.pool);
      const pool = reranker.scale === undefined ? found : { ...found, scoreScale: reranker.scale };
      const documents = documentsOf(pool);
      const judged = dataset.qrels.get(query.id) ?? new Map<string, number>();
      let relevant = 0;
      for (const grade of judged.values()) if (grade > 0) relevant++;
      return {
        query,
        pool,
        scores: await scorePool(query, documents),
        relevance: Float64Array.from(pool.ids, (id) => ((judged.get(id) ?? 0) > 0 ? 1 : 0)),
        relevant,
        textAt: (position) => documentText(documents[position], 'title+text'),
        async embed(text) {
          const { data } = await source.vectors!.queries([{ id: `${query.id} asked anew`, text }]);
          return data;
        },
      };
    },
  };
}

/** A study that is stopped goes on from the scores that it has. */
export function throwIfStopped(signal: AbortSignal): void {
  if (!signal.aborted) return;
  throw new DocOptError('INTERRUPTED', 'the study was interrupted', {
    hint: 'The scores so far are kept; run the same command again to go on.',
  });
}

function requireProbabilities(
  { id }: Reranker,
  query: Query,
  documents: readonly Document[],
  answers: Float64Array,
): void {
  if (answers.length !== documents.length) {
    throw new DocOptError('UPSTREAM', `${id} answered ${answers.length} scores for ${documents.length} documents.`);
  }
  answers.forEach((score, i) => {
    // A hair beyond [0, 1] is rounding; anything more is not a probability. NaN = that call failed.
    if (!(score < -1e-6 || score > 1 + 1e-6)) return;
    throw new DocOptError('UPSTREAM', `${id}: score ${score} for '${documents[i].id}' of query '${query.id}'`, {
      hint: 'Scores are probabilities in [0, 1]. Logits go through the logistic function 1 / (1 + exp(-x)) first.',
    });
  });
}
