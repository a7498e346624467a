/** From flags to what a study works on: every collection with every retriever and every reranker, one after the other. */
import type { CommandContext } from '../../src/config/command.ts';
import { distinctNames } from '../../src/config/spec-names.ts';
import type { RerankerSpec } from '../../src/config/specs.ts';
import { loadRun, readQueryIds, resolveSplits } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import { createRng, deriveSeed, shuffle } from '../../src/kernels/rng.ts';
import { createQrelsReranker, createReranker } from '../../src/models/rerankers/mod.ts';
import type { Reranker } from '../../src/ports.ts';
import type { Query, Run } from '../../src/types.ts';
import type { StudyGroup } from '../study/types.ts';
import { createRunReranker } from './run-reranker.ts';
import { openScoreStore } from './score-store.ts';
import { createStudyGroup } from './study-group.ts';

import { openSubjects, type Subject } from './study-subjects.ts';
import type { SubjectOptions } from './subject-options.ts';

/** One group at a time: the pools and vectors of the last one are gone when the next begins. */
export async function* openStudyGroups(options: SubjectOptions, context: CommandContext): AsyncGenerator<StudyGroup> {
  const specs = rerankersOf(options, context);
  const names = distinctNames('reranker', specs);
  const recorded = await recordedRun(options, specs);
  for await (const subject of openSubjects(options, context)) {
    const queries = await studiedQueries(subject, options);
    for (const [i, spec] of specs.entries()) {
      const { reranker, scope, fittedOn } = await openReranker(spec, subject, recorded, options, context);
      const kept = queries.filter(({ id }) => !fittedOn.has(id));
      if (kept.length < queries.length) {
        const left = queries.length - kept.length;
        context.log.info(`${subject.collection}: ${left} queries left out that '${names[i]}' was fitted on`);
      }
      if (kept.length === 0) throw noQueries(subject, options, `after those that '${names[i]}' was fitted on`);
      const store = scope === undefined ? undefined : await openScoreStore(scope, reranker, options.cache, context);
      try {
        const timed = spec.driver !== 'qrels' && spec.driver !== 'recorded';
        yield createStudyGroup(
          subject,
          kept,
          { name: names[i], reranker: store?.reranker ?? reranker, timed },
          options,
          context,
        );
        if (store !== undefined) store.report();
      } finally {
        await store?.close();
      }
    }
  }
}

function rerankersOf({ reranker, index }: SubjectOptions, { log }: CommandContext): readonly RerankerSpec[] {
  if (reranker !== undefined && reranker.length > 0) return reranker;
  if (index === undefined) {
    throw new DocOptError('USAGE', 'which reranker? --reranker is missing', {
      hint: 'Example: --reranker qrels (an oracle with noise), --reranker features (fitted on train queries).',
    });
  }
  log.info('reranker: features (of the index)');
  return [{ driver: 'features' }];
}

async function recordedRun({ scores }: SubjectOptions, specs: readonly RerankerSpec[]): Promise<Run | undefined> {
  if (!specs.some(({ driver }) => driver === 'recorded')) return undefined;
  if (scores !== undefined) return loadRun(scores);
  throw new DocOptError('USAGE', "reranker 'recorded' needs --scores RUN", {
    hint: 'A TREC run with one probability per (query, document): `query Q0 document rank score name`.',
  });
}

/** Judged queries of the split with enough relevant documents; `--queries N` of them by seed. In file order. */
async function studiedQueries(subject: Subject, options: SubjectOptions): Promise<Query[]> {
  const { dataset } = subject;
  const { split, minRelevant, seed } = options;
  let allowed: ReadonlySet<string> | undefined;
  if (split === 'train' || split === 'dev' || split === 'test') {
    const { train, dev, splitSeed } = options;
    allowed = new Set((await resolveSplits(dataset, { train, dev, seed: splitSeed }, subject.experiment))[split]);
  } else if (split !== 'all') allowed = new Set(await readQueryIds(split, dataset.queries));
  const relevant = ({ id }: Query): number => {
    let count = 0;
    for (const grade of dataset.qrels.get(id)?.values() ?? []) if (grade > 0) count++;
    return count;
  };
  const kept = dataset.queries.filter(
    (query) => (allowed === undefined || allowed.has(query.id)) && relevant(query) >= minRelevant,
  );
  if (kept.length === 0) throw noQueries(subject, options, `of split '${split}'`);
  if (options.queries === undefined || options.queries >= kept.length) return kept;
  const drawn = shuffle([...kept], createRng(deriveSeed(seed, 'study queries'))).slice(0, options.queries);
  const chosen = new Set(drawn);
  return kept.filter((query) => chosen.has(query));
}

function noQueries({ collection }: Subject, { minRelevant }: SubjectOptions, which: string): DocOptError {
  return new DocOptError('DATA', `${collection}: no query ${which} has ${minRelevant} or more relevant documents`, {
    hint: 'Lower --min-relevant, or choose another --split.',
  });
}

interface OpenedReranker {
  readonly reranker: Reranker;
  /** What its answers depend on beside the pair; undefined = they cost nothing and are not kept. */
  readonly scope?: readonly string[];
  /** Query ids that must not be evaluated with it. */
  readonly fittedOn: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

async function openReranker(
  spec: RerankerSpec,
  subject: Subject,
  recorded: Run | undefined,
  options: SubjectOptions,
  context: CommandContext,
): Promise<OpenedReranker> {
  const { qrels } = subject.dataset;
  switch (spec.driver) {
    case 'qrels':
      return { reranker: createQrelsReranker({ ...spec, qrels }), fittedOn: NONE };
    case 'recorded':
      return { reranker: createRunReranker(recorded!, options.scores!), fittedOn: NONE };
    case 'features': {
      const { reranker, fittedOn } = await subject.features();
      return { reranker, fittedOn };
    }
    default: {
      const reranker = createReranker(spec, { qrels, services: context });
      return { reranker, scope: [JSON.stringify(spec), reranker.id], fittedOn: NONE };
    }
  }
}
