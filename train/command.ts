/** `docopt train`: a data set, a retriever and a policy become an EXPERIMENT; the work itself is train.ts. */
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { arch, cpus, platform } from 'node:os';
import { join } from 'node:path';
import {
  createRetriever,
  estimateLines,
  estimateRetrievers,
  indexTexts,
  type RetrievalEstimate,
} from '../index/mod.ts';
import { type CommandContext, type CommandResult, defineCommand } from '../src/config/command.ts';
import { trainSchema } from '../src/config/schemas/mod.ts';
import { describeSpec, specName } from '../src/config/spec-names.ts';
import type { PolicySpec } from '../src/config/specs.ts';
import { cardOfCorpus } from '../src/data/dataset-card.ts';
import { corpusWithOriginals, type Dataset, loadDataset, resolveSplits, splitQueries } from '../src/data/mod.ts';
import { DocOptError } from '../src/errors.ts';
import { createChatPolicy, settleChatSpec } from '../src/models/policies/mod.ts';
import { version } from '../src/run/version.ts';
import { usdText } from '../src/run/wire/mod.ts';
import { corpusManifest } from '../src/store/artefact.ts';
import { type Experiment, openExperiment } from '../src/store/experiment.ts';
import { rememberLatest } from '../src/store/workspace.ts';
import { apiLearnerName, estimateTraining } from './commands/api-policy.ts';
import { choosePolicy, preparePolicy } from './commands/policy.ts';
import { reportText } from './commands/report-text.ts';
import { CONFIG_FILE, isApi, type TrainSettings, trainSettings } from './commands/settings.ts';
import type { ExperimentConfig } from './experiment-config.ts';
import { presetDefaults } from './options.ts';
import type { TrainOutcome, TrainReport } from './report.ts';
import { alreadyTrained, refuseExisting, train } from './train.ts';
import { type SeedsReport, seedFolder, trainSeeds } from './train-seeds.ts';

export const trainCommand = defineCommand({
  name: 'train',
  summary: 'Trains a rewriting policy against ranking rewards, and measures what it gained on held-out queries.',
  details:
    'The folder grows while it trains: config.json, metrics.jsonl, completions.jsonl, checkpoints/, runs/*.trec, and at the\nend report.json. Interrupt it at any moment (Ctrl-C, or worse) and go on with --resume. Dev queries choose the\ncheckpoint and nothing else; test queries are looked at once, at the end.',
  schema: trainSchema,
  defaults: withoutSchemaDefaults(),
  examples: [
    ['docopt train --data DATA --retriever bm25 --out experiments/a', 'a code collection, the embedded edit policy'],
    ['docopt train --resume', 'go on with the latest training that was interrupted'],
    [
      'docopt train --data DATA --retriever bm25 --set retriever.analyzer=code --seeds 1,2,3 --out experiments/b',
      'three seeds: mean and deviation',
    ],
    ['docopt train --data DATA --retriever bm25 --dry-run', 'what it would do and cost'],
  ],
  run: (options, context) => trainExperiment(options, context),
});

/** The presets' defaults, of the options that have none of their own. */
function withoutSchemaDefaults(): Record<string, string> {
  const plain = trainSchema.parse({});
  const byPreset = Object.entries(presetDefaults()).filter(([key]) => plain[key as keyof typeof plain] === undefined);
  return { ...Object.fromEntries(byPreset), checkpointEvery: 'every refresh' };
}

/** The command's work, for commands that train on the way. */
export async function trainExperiment(
  options: Parameters<typeof trainSettings>[0],
  context: CommandContext,
): Promise<CommandResult & { folder: string; report?: TrainReport | SeedsReport }> {
  const { log } = context;
  const settings = await trainSettings(options, context);
  const { folder } = settings;
  const loaded = await loadDataset(settings.data, {
    documentText: settings.documentText,
    judged: true,
    onWarning: ({ file, line, message }) => log.warn(`${file}${line === null ? '' : `:${line}`}: ${message}`),
  });
  // Rewrites always start from the originals, whatever rewrites the data carries already.
  const dataset: Dataset = { ...loaded, corpus: corpusWithOriginals(loaded.corpus, settings.documentText) };
  const policy = await choosePolicy(settings, dataset, log);
  if (options.dryRun) return { folder, ...(await estimate(settings, dataset, policy, context)) };

  await refuseForeignFolder(folder);
  const card = await cardOfCorpus(settings.data, await corpusManifest(settings.data));
  const config: ExperimentConfig = { ...configOf(settings, policy), dataset: card };
  const splits = await resolveSplits(dataset, settings.split, folder);
  for (const warning of splits.warnings) log.warn(warning);
  log.info(
    `splits: ${splits.train.length} train, ${splits.dev.length} dev, ${splits.test.length} test (${splits.source})`,
  );

  const trainInto = async (place: string, seed: number): Promise<TrainOutcome> => {
    const experiment = await openExperiment(place);
    try {
      if (!options.resume) await refuseExisting(experiment);
      const own = { ...config, options: { ...config.options, seed }, seeds: undefined };
      // The configuration of a run that goes on stands: what was asked for now may yet be refused.
      if (!options.resume || (await experiment.readFile(CONFIG_FILE)) === undefined) await writeConfig(experiment, own);
      const retriever = createRetriever(settings.retriever, context);
      const prepared = await preparePolicy({ spec: policy, settings, dataset, splits, seed, log, services: context });
      return await train({
        corpus: dataset.corpus,
        queries: dataset.queries,
        qrels: dataset.qrels,
        splits,
        retriever,
        names: { retriever: specName('retriever', settings.retriever), policy: specName('policy', policy) },
        policy: prepared.policy,
        learner: prepared.learner,
        rewriteAll: prepared.rewriteAll,
        cost: prepared.cost,
        baselines: settings.baselines ? prepared.baselines : [],
        notes: prepared.notes,
        options: own.options,
        experiment,
        resume: options.resume,
        log,
        signal: context.signal,
        environment: environment(),
        dataset: card,
      });
    } finally {
      await experiment.close();
    }
  };

  const report =
    settings.seeds === undefined
      ? (await trainInto(folder, settings.options.seed)).report
      : await trainAllSeeds(folder, settings.seeds, config, options.resume, trainInto);
  await rememberLatest(context.projectFolder, 'experiment', folder, log.warn);
  return { folder, report, json: { experiment: folder, ...report }, text: reportText(report, folder) };
}

async function trainAllSeeds(
  folder: string,
  seeds: readonly number[],
  config: ExperimentConfig,
  resume: boolean,
  trainInto: (place: string, seed: number) => Promise<TrainOutcome>,
): Promise<SeedsReport> {
  const root = await openExperiment(folder);
  try {
    const begun = (await root.readFile(CONFIG_FILE)) !== undefined;
    if (begun && !resume) throw alreadyTrained(folder);
    if (!begun) await writeConfig(root, config);
    const report = await trainSeeds(seeds, (seed) => trainInto(join(folder, seedFolder(seed)), seed));
    await root.writeFile('report.json', `${JSON.stringify(report, null, 2)}\n`);
    return report;
  } finally {
    await root.close();
  }
}

async function writeConfig(experiment: Experiment, config: ExperimentConfig): Promise<void> {
  await experiment.writeFile(CONFIG_FILE, `${JSON.stringify(config, null, 2)}\n`);
}

function configOf(
  { folder: _folder, policy: _policy, init: _init, ...rest }: TrainSettings,
  policy: PolicySpec,
): ExperimentConfig {
  return { ...rest, policy };
}

/** Names that an experiment may hold before its first checkpoint. */
const OWN = new Set(['checkpoints', 'lock', 'splits', CONFIG_FILE]);

/** A wrong --out must not fill somebody's folder. */
async function refuseForeignFolder(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  if (!(await stat(folder)).isDirectory()) {
    throw new DocOptError('USAGE', `${folder} is a file, a folder is wanted there`, { hint: 'Choose another --out.' });
  }
  const names = await readdir(folder);
  if (names.includes(CONFIG_FILE) || names.every((name) => OWN.has(name))) return;
  throw new DocOptError('USAGE', `${folder} is not empty and holds no training`, { hint: 'Choose another --out.' });
}

/** What a run would do. Nothing is written, not even splits. */
async function estimate(
  settings: TrainSettings,
  dataset: Dataset,
  policy: PolicySpec,
  context: CommandContext,
): Promise<CommandResult> {
  const { options, seeds } = settings;
  const parts = splitQueries(dataset.queries, dataset.qrels, settings.split);
  const runs = seeds?.length ?? 1;
  const rewrites = 1 + Math.ceil(options.steps / options.indexRefreshRate);
  const known = await estimateRetrievers(
    [settings.retriever],
    () => [
      { role: 'document', texts: indexTexts(dataset.corpus) },
      { role: 'query', texts: dataset.queries.map(({ text }) => text) },
    ],
    context,
  );
  const rollouts = runs * options.steps * options.documentsPerStep * options.groupSize;
  const rewrittenDocuments = runs * rewrites * dataset.corpus.size;
  const upTo = rewrittenCost(known, rollouts + rewrittenDocuments);
  const json = {
    dryRun: true,
    documents: dataset.corpus.size,
    queries: { train: parts.train.length, dev: parts.dev.length, test: parts.test.length },
    policy: describeSpec('policy', policy),
    retriever: describeSpec('retriever', settings.retriever),
    runs,
    steps: options.steps,
    rollouts,
    collectionRewrites: runs * rewrites,
    rewrittenDocuments,
    /** Of the original texts and the queries, counted. */
    embeddings: known.embeddings,
    /** With rewrites that are all new and as long as their originals: most of them are neither. */
    costUsd: upTo,
  };
  if (isApi(policy)) {
    const chat = createChatPolicy(settleChatSpec(policy, dataset.corpus), context);
    const learner = apiLearnerName(settings.learner);
    const reflections = learner === 'experience' ? runs * options.steps * 5 : 0;
    const estimated = await estimateTraining(chat, dataset, settings, { ...json, reflections }, context);
    const money =
      estimated.usd === undefined
        ? 'no price is known for this model: give it with --price IN,OUT'
        : `about ${usdText(estimated.usd)}, where nothing is on record yet`;
    return {
      json: { ...json, learner, ...estimated, costUsd: estimated.usd ?? null },
      text: [
        `${json.documents} documents, ${json.queries.train} train, ${json.queries.dev} dev and ${json.queries.test} test queries`,
        `policy ${json.policy}, learner ${learner}, retriever ${json.retriever}`,
        `up to ${estimated.requests} requests, ${estimated.inputTokens} input and ${estimated.outputTokens} output tokens (estimated): ${money}`,
        'nothing was sent, nothing was written',
      ].join('\n'),
    };
  }
  return {
    json,
    text: [
      `${json.documents} documents, ${json.queries.train} train, ${json.queries.dev} dev and ${json.queries.test} test queries`,
      `policy ${json.policy}, retriever ${json.retriever}`,
      `${runs === 1 ? '' : `${runs} runs of `}${json.steps} steps: up to ${json.rollouts} rewrites to reward, ` +
        `${json.collectionRewrites} rewrites of the whole collection (${json.rewrittenDocuments} documents)`,
      ...estimateLines(known),
      ...(known.embeddings.length === 0 || upTo === null
        ? []
        : [`with rewrites that are all different and as long as the originals: up to ${usdText(upTo)}`]),
      'nothing was written',
    ].join('\n'),
  };
}

/** What is counted, and as much again for every rewrite as for a document on average. */
function rewrittenCost({ embeddings, costUsd }: RetrievalEstimate, texts: number): number | null {
  if (costUsd === null || embeddings.length === 0) return costUsd;
  const perText = embeddings.reduce((sum, { usd, sent }) => sum + (sent === 0 ? 0 : (usd ?? 0) / sent), 0);
  return costUsd + perText * texts;
}

function environment(): Record<string, unknown> {
  const processors = cpus();
  return {
    version,
    node: process.version,
    platform: `${platform()} ${arch()}`,
    cpu: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
  };
}
