/** Collections with their retrievers, opened: built in memory from a data set, or read from an index artefact. */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { createRetriever, isLexical, LEXICAL_DEFAULTS } from '../../index/mod.ts';
import type { CommandContext } from '../../src/config/command.ts';
import { describeSpec, distinctNames } from '../../src/config/spec-names.ts';
import type { RetrieverSpec } from '../../src/config/specs.ts';
import { type Dataset, loadDataset, resolveSplits } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import { fitLsa } from '../../src/models/embedders/mod.ts';
import { createFeaturesReranker, fitFeatures } from '../../src/models/rerankers/mod.ts';
import type { Reranker, RetrievalIndex } from '../../src/ports.ts';
import { openArtefact } from '../../src/store/artefact.ts';
import { type AnalyzerName, createAnalyzer } from '../../src/text/mod.ts';
import type { Corpus } from '../../src/types.ts';
import type { PoolSource } from '../mod.ts';
import { type OpenedIndex, openServedIndex } from './open-served-index.ts';
import type { SubjectOptions } from './subject-options.ts';

export interface Subject {
  /** Unique within a study. */
  readonly collection: string;
  readonly retriever: string;
  readonly dataset: Dataset;
  readonly corpus: Corpus;
  readonly source: PoolSource;
  /** The training behind an index, whose split is followed. */
  readonly experiment?: string;
  /** The embedded reranker of this first stage, and the queries whose labels it has seen. Fitted on the first call. */
  features(): Promise<{ readonly reranker: Reranker; readonly fittedOn: ReadonlySet<string> }>;
}

export async function* openSubjects(options: SubjectOptions, context: CommandContext): AsyncGenerator<Subject> {
  const data = listOf(options.data);
  const indexes = listOf(options.index);
  if (indexes.length > 0) {
    yield* fromIndexes(indexes, data, options, context);
    return;
  }
  if (data.length === 0) {
    throw new DocOptError('USAGE', 'what is to be studied? --data (or --index) is missing', {
      hint: 'Example: --data DATA --retriever lsa --reranker qrels',
    });
  }
  const specs = options.retriever ?? [];
  if (specs.length === 0) {
    throw new DocOptError('USAGE', 'which retriever? --retriever is missing', { hint: 'Example: --retriever lsa' });
  }
  const collections = distinct(data);
  const retrievers = distinctNames('retriever', specs);
  for (const [d, path] of data.entries()) {
    const dataset = await loadJudged(path, options, context);
    for (const [r, spec] of specs.entries()) {
      context.log.info(
        `${collections[d]}: indexing ${dataset.corpus.size} documents, ${describeSpec('retriever', spec)}`,
      );
      yield await buildSubject(
        dataset,
        spec,
        { collection: collections[d], retriever: retrievers[r] },
        options,
        context,
      );
    }
  }
}

function listOf(value: string | readonly string[] | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value;
}

/** Last parts of paths; whole ones where two end alike. */
function distinct(paths: readonly string[]): string[] {
  const names = paths.map((path) => basename(path.replace(/[/\\]+$/, '')) || path);
  return names.map((name, i) => (names.indexOf(name) === names.lastIndexOf(name) ? name : paths[i]));
}

function loadJudged(path: string, { documentText }: SubjectOptions, { log }: CommandContext): Promise<Dataset> {
  return loadDataset(path, {
    documentText,
    judged: true,
    onWarning: ({ file, line, message }) => log.warn(`${file}${line === null ? '' : `:${line}`}: ${message}`),
  });
}

async function buildSubject(
  dataset: Dataset,
  spec: RetrieverSpec,
  names: { readonly collection: string; readonly retriever: string },
  options: SubjectOptions,
  context: CommandContext,
): Promise<Subject> {
  const { corpus } = dataset;
  const index = await createRetriever(spec, context).build(corpus);
  const analyzer = analyzerOf(spec);
  const dense = index.embeddings === undefined ? await lsaOver(corpus, analyzer, options.seed) : index;
  return {
    ...names,
    dataset,
    corpus,
    source: {
      index,
      lexical: {
        index:
          isLexical(spec) && options.lexical === undefined
            ? undefined
            : await wordsOver(corpus, analyzer, options.lexical),
        firstStage: isLexical(spec) ? 'lexical' : 'dense',
        analyze: createAnalyzer(analyzer).analyze,
        textOf: (id) => corpus.indexText(corpus.positionOf(id)!),
      },
      vectors: { documents: (ids) => dense.embeddings!(ids), queries: (queries) => dense.embedQueries!(queries) },
    },
    features: once(() => fitOn(dataset, index, analyzer, options, context.log)),
  };
}

function wordsOver(
  corpus: Corpus,
  analyzer: AnalyzerName,
  settings: SubjectOptions['lexical'],
): Promise<RetrievalIndex> {
  return createRetriever({ driver: 'bm25', ...LEXICAL_DEFAULTS, ...settings, analyzer }).build(corpus);
}

/** An open index, its lexical ranks by BM25 with these settings in place of its own. */
async function withWordsOf(opened: OpenedIndex, settings: SubjectOptions['lexical']): Promise<PoolSource> {
  const { lexical, corpus, analyzer } = opened;
  if (settings === undefined || lexical === undefined || analyzer === undefined) return opened;
  const firstStage = lexical.index === undefined ? 'lexical' : 'dense';
  return { ...opened, lexical: { ...lexical, index: await wordsOver(corpus, analyzer, settings), firstStage } };
}

/** Vectors for a retriever that has none, as `docopt index` makes them. */
function lsaOver(corpus: Corpus, analyzer: AnalyzerName, seed: number): Promise<RetrievalIndex> {
  return createRetriever({ driver: 'dense', embedder: { driver: 'lsa', dimensions: 200, seed, analyzer } }).build(
    corpus,
  );
}

function analyzerOf(spec: RetrieverSpec): AnalyzerName {
  const block = spec.driver === 'dense' ? spec.embedder : spec;
  return 'analyzer' in block ? block.analyzer : 'english';
}

async function fitOn(
  dataset: Dataset,
  index: RetrievalIndex,
  analyzer: AnalyzerName,
  { train, dev, splitSeed, seed, documentText: mode }: SubjectOptions,
  log: CommandContext['log'],
): Promise<{ reranker: Reranker; fittedOn: ReadonlySet<string> }> {
  const { corpus, queries, qrels } = dataset;
  const split = await resolveSplits(dataset, { train, dev, seed: splitSeed });
  const fittedOn = new Set(split.train);
  const texts = { length: corpus.size, at: (position: number) => corpus.indexText(position) };
  const model = await fitFeatures({
    corpus,
    documentText: mode,
    queries: queries.filter(({ id }) => fittedOn.has(id)),
    qrels,
    index,
    lsa: fitLsa(texts, { seed, analyzer }),
    analyzer,
    seed,
  });
  const reranker = createFeaturesReranker(model, { index, corpus });
  log.info(`reranker: ${reranker.id}`);
  for (const warning of reranker.warnings ?? []) log.warn(warning);
  return { reranker, fittedOn };
}

async function* fromIndexes(
  folders: readonly string[],
  data: readonly string[],
  options: SubjectOptions,
  context: CommandContext,
): AsyncGenerator<Subject> {
  const names = distinct(folders);
  for (const [i, folder] of folders.entries()) {
    const { info } = (await openArtefact(folder, 'index')).manifest;
    const own = typeof info.data === 'string' && existsSync(info.data) ? info.data : undefined;
    // One data set serves all indexes; several are told apart by what the indexes say of themselves.
    const path = data.length === 1 ? data[0] : own;
    if (path === undefined) {
      throw new DocOptError('USAGE', `index '${folder}': its judged data set is not known or not there any more`, {
        hint: 'Name it: --data DATA',
      });
    }
    const dataset = await loadJudged(path, options, context);
    const opened = await openServedIndex(folder, context);
    const experiment = typeof info.experiment === 'string' && existsSync(info.experiment) ? info.experiment : undefined;
    const { train, dev, splitSeed: seed } = options;
    yield {
      collection: dataset.name,
      retriever: names[i],
      dataset,
      corpus: opened.corpus,
      source: await withWordsOf(opened, options.lexical),
      experiment,
      features: async () => ({
        reranker: opened.embedded,
        fittedOn: new Set((await resolveSplits(dataset, { train, dev, seed }, experiment)).train),
      }),
    };
  }
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= work();
    return result;
  };
}
