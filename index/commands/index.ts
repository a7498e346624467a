/** `docopt index`: an immutable index of a data set or a rewritten corpus, ready for search and morph. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { type CommandContext, type CommandResult, defineCommand } from '../../src/config/command.ts';
import { indexSchema } from '../../src/config/schemas/mod.ts';
import { describeSpec } from '../../src/config/spec-names.ts';
import type { RetrieverSpec } from '../../src/config/specs.ts';
import { cardOfCorpus } from '../../src/data/dataset-card.ts';
import { type Dataset, loadCorpus, loadDataset, resolveSplits } from '../../src/data/mod.ts';
import { judgedQueryIds } from '../../src/data/splits.ts';
import { DocOptError } from '../../src/errors.ts';
import { fitLsa } from '../../src/models/embedders/lsa.ts';
import { fitEmbeddedReranker } from '../../src/models/rerankers/mod.ts';
import { corpusManifest, createArtefact } from '../../src/store/artefact.ts';
import { subWriter } from '../../src/store/sub-artefact.ts';
import { defaultFolder, latest, rememberLatest } from '../../src/store/workspace.ts';
import type { AnalyzerName } from '../../src/text/mod.ts';
import type { Corpus, Manifest } from '../../src/types.ts';
import {
  type BuiltIndex,
  buildIndex,
  createRetriever,
  estimateLines,
  estimateRetrievers,
  indexTexts,
  isLexical,
  openIndex,
} from '../mod.ts';
import { type Reusable, reusableOf } from '../previous-index.ts';

type Options = z.infer<typeof indexSchema>;

export const indexCommand = defineCommand({
  name: 'index',
  summary: 'Builds an immutable index: documents, retriever, vectors for morph, and the embedded reranker.',
  details:
    'With --corpus it indexes a rewritten corpus (the originals stay what people get back). The embedded reranker is\nfitted on the training queries of --data; with fewer than about 20 it fuses ranks instead. Without flags it takes\nthe latest rewritten corpus.',
  schema: indexSchema,
  examples: [
    ['docopt index --data DATA --retriever bm25 --out indexes/plain', 'the documents as they are'],
    [
      'docopt index --corpus corpora/trained --out indexes/trained',
      'a rewritten corpus, for the retriever it was trained for',
    ],
    ['docopt index', 'the latest rewritten corpus'],
  ],
  run: (options, context) => indexCorpus(options, context),
});

/** The command's work, for commands that need an index on the way. */
export async function indexCorpus(
  options: Options,
  context: CommandContext,
): Promise<CommandResult & { folder: string }> {
  const { log, signal } = context;
  const source = await takeSource(options, context);
  const retrieverSpec = options.retriever ?? (source.manifest?.info.retriever as RetrieverSpec | undefined);
  if (retrieverSpec === undefined) {
    throw new DocOptError('USAGE', 'which retriever? --retriever is missing', {
      hint: 'Example: docopt index --data DATA --retriever bm25',
    });
  }
  const mode = context.given.has('documentText')
    ? options.documentText
    : ((source.manifest?.info.documentText as Options['documentText'] | undefined) ?? options.documentText);
  const corpus = await loadCorpus(source.path, {
    documentText: mode,
    onWarning: (problem) => log.warn(problem.message),
  });
  if (corpus.size === 0)
    throw new DocOptError('DATA', `${source.path} has no documents`, { hint: 'Expected at least one.' });
  const analyzer = analyzerOf(retrieverSpec);
  const lsa =
    options.embedder === 'none' ? undefined : { dimensions: options.lsaDimensions, seed: options.seed, analyzer };
  const reuse =
    options.previous === undefined
      ? undefined
      : reusableOf(await openIndex(options.previous, context), corpus, {
          retriever: retrieverSpec,
          documentText: mode,
          lsa,
        });

  // Before the work: broken judgements are better known now.
  const labels = await takeLabels(options, source, context);
  const folder = options.out ?? defaultFolder(context.projectFolder, 'index', new Date());
  if (options.dryRun) return { folder, ...(await estimate(retrieverSpec, corpus, labels, context)) };
  const artefact = await createArtefact(folder, 'index', { replace: options.force });
  try {
    const retriever = createRetriever(retrieverSpec, context);
    const built = await buildIndex({
      corpus,
      documentText: mode,
      retriever,
      fitEmbedder: lsa === undefined ? undefined : (texts) => fitLsa(texts, lsa),
      reuse,
      lexical: isLexical(retrieverSpec) ? undefined : analyzer,
      artefact,
      log,
      signal,
    });
    const reused = reuse === undefined ? undefined : reusedOf(reuse, built.vectors);
    if (reused !== undefined) {
      const { added, changed, removed, unchanged } = reuse!.changes;
      log.info(
        `--previous ${options.previous}: ${added} added, ${changed} changed, ${removed} removed, ${unchanged} unchanged; ${reusedText(reused, corpus.size)}`,
      );
    }
    const reranker = await fitEmbeddedReranker({
      corpus,
      documentText: mode,
      index: built.index,
      labels,
      analyzer,
      seed: options.seed,
      artefact: subWriter(artefact, 'reranker'),
      embedder: built.embedder,
    });
    log.info(`reranker: ${reranker.description}`);
    for (const warning of reranker.warnings) log.warn(warning);
    const parents: Record<string, string> =
      source.manifest === undefined ? {} : { corpus: source.manifest.fingerprint };
    const chain =
      source.manifest === undefined
        ? []
        : [
            { kind: 'corpus', fingerprint: source.manifest.fingerprint, path: source.path },
            ...((source.manifest.info.chain as unknown[]) ?? []),
          ];
    const manifest = await artefact.finish({
      parents,
      info: {
        documents: corpus.size,
        source: source.path,
        dataset: await cardOfCorpus(source.path, source.manifest),
        ...originOf(options, source, context),
        documentText: mode,
        retriever: retrieverSpec,
        vectors: built.vectors,
        ...(built.vectors === 'lsa' ? { lsa } : {}),
        ...(isLexical(retrieverSpec) ? {} : { lexical: analyzer }),
        ...(built.embedder === undefined ? {} : { embedder: built.embedder.id }),
        reranker: reranker.description,
        chain,
      },
    });
    await rememberLatest(context.projectFolder, 'index', folder, log.warn);
    return {
      folder,
      json: {
        index: folder,
        fingerprint: manifest.fingerprint,
        documents: corpus.size,
        retriever: retrieverSpec,
        vectors: built.vectors,
        reranker: reranker.description,
        ...(reused === undefined ? {} : { reused, changes: reuse!.changes }),
        warnings: reranker.warnings,
      },
      text: `${corpus.size} documents, ${describeSpec('retriever', retrieverSpec)}, vectors: ${built.vectors}, reranker: ${reranker.description}\nwrote ${folder}`,
    };
  } catch (error) {
    await artefact.discard();
    throw error;
  }
}

/** What an earlier index spared this one. */
interface Reused {
  /** Document vectors that were not embedded again. */
  readonly vectors: number;
  /** The LSA for morph, model and vectors. */
  readonly lsa: boolean;
}

function reusedOf(reuse: Reusable, vectors: BuiltIndex['vectors']): Reused {
  return { vectors: reuse.taken(), lsa: vectors === 'lsa' && reuse.lsa !== undefined };
}

function reusedText({ vectors, lsa }: Reused, documents: number): string {
  if (lsa)
    return 'the vectors for morph are taken over; the inverted index is built anew, as it depends on all documents';
  if (vectors > 0) return `${vectors} of ${documents} vectors are taken over`;
  return 'nothing of it holds for these documents and settings; everything was built anew';
}

/** How the retriever cuts texts into words, which is how the collection is to be read. */
function analyzerOf(spec: RetrieverSpec): AnalyzerName {
  const words = spec.driver === 'dense' ? spec.embedder : spec;
  return 'analyzer' in words ? words.analyzer : 'english';
}

/** What it would send, and to which price. Nothing is written and nothing asked. */
async function estimate(
  spec: RetrieverSpec,
  corpus: Corpus,
  labels: { readonly dataset: Dataset; readonly train: readonly string[] } | undefined,
  context: CommandContext,
): Promise<CommandResult> {
  const train = new Set(labels?.train);
  // The embedded reranker is fitted on what the first stage finds for these.
  const queries = labels?.dataset.queries.filter(({ id }) => train.has(id)) ?? [];
  const texts = () => [
    { role: 'document', texts: indexTexts(corpus) } as const,
    { role: 'query', texts: queries.map(({ text }) => text) } as const,
  ];
  const found = await estimateRetrievers([spec], texts, context);
  return {
    json: { dryRun: true, documents: corpus.size, queries: queries.length, retriever: spec, ...found },
    text: [
      `${corpus.size} documents, ${queries.length} training queries`,
      ...estimateLines(found),
      'nothing was written',
    ].join('\n'),
  };
}

/** Data set and training behind a corpus: later commands follow their judgements and their split. */
function originOf(
  options: Options,
  { path, manifest }: CorpusSource,
  context: CommandContext,
): { data?: string; experiment?: string } {
  // A corpus knows its own data set better than a configuration that was written for another.
  const own = isTyped(context, 'data') && options.data !== path ? undefined : manifest?.info.data;
  const data = own ?? (options.data === undefined ? undefined : resolve(options.data));
  const experiment = manifest?.info.experiment;
  return {
    ...(typeof data === 'string' ? { data } : {}),
    ...(typeof experiment === 'string' && existsSync(experiment) ? { experiment } : {}),
  };
}

interface CorpusSource {
  readonly path: string;
  /** Of a corpus artefact; undefined for plain data. */
  readonly manifest?: Manifest;
}

async function takeSource(options: Options, context: CommandContext): Promise<CorpusSource> {
  let path = options.corpus;
  if (path === undefined && options.data !== undefined && !(context.given.has('corpus') || isFromConfigOnly(context)))
    return { path: options.data, manifest: await corpusManifest(options.data) };
  if (path === undefined) {
    path = latest(context.projectFolder, 'corpus');
    if (path !== undefined) context.log.info(`corpus: ${path} (the latest)`);
    else if (options.data !== undefined) path = options.data;
    else {
      throw new DocOptError('USAGE', 'which corpus? --data and --corpus are missing and there is none under .docopt/', {
        hint: 'Example: docopt index --data DATA --retriever bm25',
      });
    }
  }
  return { path, manifest: await corpusManifest(path) };
}

/** `data` of a configuration file names the labels; a bare `docopt index` still means the latest rewritten corpus. */
function isFromConfigOnly(context: CommandContext): boolean {
  return !isTyped(context, 'data') && !isTyped(context, 'corpus');
}

function isTyped({ typed }: CommandContext, flag: string): boolean {
  return typed.some(({ name }) => name === flag);
}

/** Training queries for the embedded reranker: of --data, or of the data set that the corpus was made from. */
async function takeLabels(
  options: Options,
  source: CorpusSource,
  context: CommandContext,
): Promise<{ dataset: Dataset; train: readonly string[] } | undefined> {
  const path = originOf(options, source, context).data;
  if (path === undefined || (!isTyped(context, 'data') && !existsSync(path))) return undefined;
  const dataset = await loadDataset(path, { documentText: options.documentText });
  if (dataset.queries.length === 0 || dataset.qrels.size === 0) return undefined;
  if (judgedQueryIds(dataset.queries, dataset.qrels).length === 0) {
    context.log.warn(`no query of ${path} has a positive judgement, so the reranker has nothing to learn from`);
    return undefined;
  }
  const splits = await resolveSplits(
    dataset,
    { train: options.train, dev: options.dev, seed: options.splitSeed },
    originOf(options, source, context).experiment,
  );
  context.log.debug(`labels: ${splits.train.length} training queries of ${path} (${splits.source})`);
  return { dataset, train: splits.train };
}
