/** `docopt rewrite-corpus`: which policy, which corpus, where to; the work itself is write-corpus.ts. */
import { resolve } from 'node:path';
import type { z } from 'zod';
import { type CommandContext, type CommandResult, defineCommand } from '../src/config/command.ts';
import { rewriteCorpusSchema } from '../src/config/schemas/mod.ts';
import { cardOfCorpus } from '../src/data/dataset-card.ts';
import { corpusWithOriginals, loadCorpus } from '../src/data/mod.ts';
import { DocOptError } from '../src/errors.ts';
import {
  type BatchPolicy,
  type ChatPolicy,
  createBatchPolicy,
  estimateChat,
  isChatPolicy,
} from '../src/models/policies/mod.ts';
import { wireOf } from '../src/models/services.ts';
import { corpusManifest } from '../src/store/artefact.ts';
import { batchStore } from '../src/store/batches.ts';
import { findUnfinished } from '../src/store/unfinished.ts';
import { defaultFolder, kindFolder, latest, rememberLatest } from '../src/store/workspace.ts';
import type { IndexText } from '../src/types.ts';
import { type OpenPolicy, openPolicy } from '../train/mod.ts';
import { costText, estimateText } from './cost-text.ts';
import { type Rewrite, type RewriteReport, rewriteKey, rewriteRows, settingsKey, writeCorpus } from './mod.ts';
import { openPreviousCorpus } from './previous-corpus.ts';
import type { RewriteCost } from './report.ts';
import { formatDiff, wordDiff } from './word-diff.ts';

type Options = z.infer<typeof rewriteCorpusSchema>;

export const rewriteCorpusCommand = defineCommand({
  name: 'rewrite-corpus',
  summary: 'Rewrites every document with a policy. Users still get the originals; the rewrite is what is indexed.',
  details:
    'Without flags it takes the latest experiment and the data it was trained on. A run that is interrupted goes on\nwhere it stopped when the same command is given again. --limit N without --out shows and writes nothing.',
  schema: rewriteCorpusSchema,
  examples: [
    ['docopt rewrite-corpus', 'the corpus of the latest training, by its trained policy'],
    ['docopt rewrite-corpus --limit 20 --diff', 'look at twenty rewrites first; nothing is written'],
    [
      'docopt rewrite-corpus --corpus new.jsonl --policy experiments/a --out corpora/new',
      'new documents, a given policy',
    ],
  ],
  run: (options, context) => rewriteCorpus(options, context),
});

/** The command's work, for commands that start from a training. */
export async function rewriteCorpus(options: Options, context: CommandContext): Promise<CommandResult> {
  const { log } = context;
  const policy = await takePolicy(options, context);
  const source = options.corpus ?? options.data ?? policy.data;
  if (source === undefined) {
    throw new DocOptError('USAGE', 'which corpus? --data and --corpus are missing', {
      hint: 'Example: docopt rewrite-corpus --data DATA',
    });
  }
  if (options.corpus === undefined && options.data === undefined) log.info(`corpus: ${source} (of the experiment)`);
  const mode = context.given.has('documentText') ? options.documentText : (policy.documentText ?? options.documentText);
  const manifestBefore = await corpusManifest(source); // Checks its files when it is an artefact, and refuses one of another kind.
  const loaded = await loadCorpus(source, { documentText: mode });
  const corpus = corpusWithOriginals(loaded, mode);
  if (corpus.size === 0)
    throw new DocOptError('DATA', `${source} has no documents`, { hint: 'Expected at least one.' });

  const { onEmpty, onOverlong, onDropped, onLinks, onLanguage, onRefused, maxGrowth, minKept } = options;
  const onTruncated = options.onTruncated ?? (isChatPolicy(policy.policy) ? 'retry' : 'allow');
  const work = {
    corpus,
    policy: policy.policy,
    policyFingerprint: policy.fingerprint,
    sampling: { ...policy.indexSampling, seed: options.seed },
    guards: { onEmpty, onOverlong, onDropped, onLinks, onLanguage, onTruncated, onRefused, maxGrowth, minKept },
    retries: options.retries,
    batchSize: options.batchSize,
    concurrency: options.concurrency,
    limit: options.limit,
    log,
    signal: context.signal,
  };
  if (options.batch) requireBatchApi(policy, options);
  if (options.dryRun) return estimate(work, policy, options, context);
  if (options.limit !== undefined && options.out === undefined) return preview(work, options);

  const chat = isChatPolicy(policy.policy) ? policy.policy : undefined;
  const byBatch = options.batch ? await takeBatches(policy, options, context) : undefined;
  const folder = options.out ?? (await takeFolder(work, context));
  const diffs: string[] = [];
  const { manifest, report } = await writeCorpus({
    ...work,
    // One call for all documents, so that each round of jobs has every request that is left.
    ...(byBatch && { policy: byBatch, batchSize: corpus.size, concurrency: 1 }),
    previous:
      options.previous === undefined
        ? undefined
        : await openPreviousCorpus(options.previous, policy.fingerprint, settingsKey(work)),
    folder,
    replace: options.force,
    parents: { ...policy.parents, policy: policy.fingerprint },
    info: {
      source,
      dataset: await cardOfCorpus(source, manifestBefore),
      documentText: mode,
      limited: options.limit !== undefined,
      ...origin(options, policy),
      ...(policy.retriever === undefined ? {} : { retriever: policy.retriever }),
      chain: policy.chain,
    },
    now: () => performance.now(),
    cost: chat && (async () => costSoFar(chat, byBatch, (await wireOf(context)).report().usd)),
    onRow: options.diff ? (row, original, before) => diffs.push(diffText(original.id, before, row.rewrite)) : undefined,
  });
  if (options.limit === undefined) await rememberLatest(context.projectFolder, 'corpus', folder, log.warn);
  return {
    json: { corpus: folder, fingerprint: manifest.fingerprint, policy: policy.name, ...report },
    text: `${diffs.join('\n')}${diffs.length > 0 ? '\n' : ''}${reportText(report)}\nwrote ${folder}`,
  };
}

/**
 * The data set whose judgements are about these documents, and the training whose split of them is to be followed. A corpus
 * file of its own has neither.
 */
function origin(options: Options, policy: OpenPolicy): { data?: string; experiment?: string } {
  const data = options.corpus === undefined ? (options.data ?? policy.data) : undefined;
  if (data === undefined) return {};
  const trainedOnIt =
    policy.data !== undefined && policy.experiment !== undefined && resolve(data) === resolve(policy.data);
  return { data: resolve(data), ...(trainedOnIt ? { experiment: resolve(policy.experiment!) } : {}) };
}

async function takePolicy(options: Options, context: CommandContext): Promise<OpenPolicy> {
  let named = options.policy;
  if (named === undefined) {
    named = latest(context.projectFolder, 'experiment');
    if (named === undefined) {
      throw new DocOptError('USAGE', 'which policy? --policy is missing and there is no experiment under .docopt/', {
        hint: 'Train one first: docopt train --data DATA --retriever bm25',
      });
    }
    context.log.info(`policy: ${named} (the latest experiment)`);
  }
  return openPolicy(named, { log: context.log, corpusPath: options.corpus ?? options.data, services: context });
}

/** Throws USAGE for a policy that has no batch API, and for settings that go badly with one. */
function requireBatchApi(policy: OpenPolicy, options: Options): ChatPolicy {
  if (!isChatPolicy(policy.policy) || policy.policy.spec.driver === 'chat') {
    throw new DocOptError('USAGE', `--batch: policy ${policy.name} has no batch API`, {
      hint: 'Leave --batch out. openai:MODEL and anthropic:MODEL have one.',
    });
  }
  if (options.limit !== undefined && options.out === undefined) {
    throw new DocOptError('USAGE', '--batch with --limit and without --out: a look at once is no work for a day', {
      hint: 'Leave --batch out to look, or give --out.',
    });
  }
  if (options.wire?.cache === false) {
    throw new DocOptError('USAGE', '--batch needs the record of answers, and wire.cache=false turns it off', {
      hint: 'Leave that setting out.',
    });
  }
  return policy.policy;
}

async function takeBatches(policy: OpenPolicy, options: Options, context: CommandContext): Promise<BatchPolicy> {
  return createBatchPolicy(requireBatchApi(policy, options), {
    store: batchStore(context.projectFolder),
    wire: await wireOf(context),
    log: context.log,
    signal: context.signal,
    pollMs: 1000 * options.batchPoll,
    most: options.batchPart,
  });
}

/** Answers that jobs brought are read from the record, but are not from before. */
function costSoFar(chat: ChatPolicy, byBatch: BatchPolicy | undefined, usd: number): RewriteCost {
  const usage = chat.usage();
  if (byBatch === undefined) return { ...usage, usd };
  return { ...usage, recorded: Math.max(0, usage.recorded - byBatch.answers()), byBatch: byBatch.answers(), usd };
}

/** Where an interrupted run of the same work stopped, else a new folder. */
async function takeFolder(work: Parameters<typeof rewriteRows>[0], { projectFolder, log }: CommandContext) {
  // The first batches are the first to be finished.
  const looked = Math.min(work.corpus.size, work.batchSize * (work.concurrency + 1));
  const settings = settingsKey(work);
  const keys = new Set<string>();
  for (let i = 0; i < looked; i++) keys.add(rewriteKey(work.policyFingerprint, settings, work.corpus.indexText(i)));
  const unfinished = await findUnfinished(kindFolder(projectFolder, 'corpus'), keys);
  if (unfinished !== undefined) log.info(`going on with the interrupted run in ${unfinished}`);
  return unfinished ?? defaultFolder(projectFolder, 'corpus', new Date());
}

async function preview(work: Parameters<typeof rewriteRows>[0], options: Options): Promise<CommandResult> {
  const documents: { id: string; status: string; reason: string; before: string; after: string }[] = [];
  for await (const { position, rewrite } of rewriteRows(work)) {
    const { corpus } = work;
    documents.push({
      id: corpus.ids[position],
      status: rewrite.status,
      reason: rewrite.reason,
      before: corpus.indexText(position),
      after: rewrite.text,
    });
  }
  const shown = documents.map(({ id, status, reason, before, after }) =>
    diffText(id, before, { text: after, status: status as Rewrite['status'], reason }),
  );
  return {
    json: { preview: true, documents },
    text: `${shown.join('\n')}\nnothing was written (--limit ${options.limit} without --out)`,
  };
}

async function estimate(
  { corpus, sampling }: Parameters<typeof rewriteRows>[0],
  policy: OpenPolicy,
  options: Options,
  context: CommandContext,
): Promise<CommandResult> {
  const documents = Math.min(corpus.size, options.limit ?? corpus.size);
  let characters = 0;
  for (let i = 0; i < documents; i++) characters += corpus.indexText(i).length;
  const facts = { dryRun: true, documents, characters, policy: policy.name };
  const head = `${documents} documents, ${characters} characters, policy ${policy.name}`;
  if (!isChatPolicy(policy.policy)) {
    return { json: { ...facts, costUsd: 0 }, text: `${head}: runs on this machine, costs nothing` };
  }
  function* texts(): Generator<IndexText> {
    for (let i = 0; i < documents; i++) yield { id: corpus.ids[i], text: corpus.indexText(i) };
  }
  const price = policy.policy.price(await wireOf(context));
  const estimated = await estimateChat(policy.policy, texts(), { ...sampling, samples: 1 }, price);
  return {
    json: { ...facts, ...estimated, costUsd: estimated.usd ?? null },
    text: `${head}\n${estimateText(estimated)}`,
  };
}

function diffText(id: string, before: string, rewrite: Rewrite): string {
  const head = `${id}  ${rewrite.status}${rewrite.reason === '' ? '' : `: ${rewrite.reason}`}`;
  return before === rewrite.text ? `${head}, unchanged` : `${head}\n${formatDiff(wordDiff(before, rewrite.text))}\n`;
}

function reportText(report: RewriteReport): string {
  const { characters } = report;
  const reasons = Object.entries(report.reasons).map(([reason, count]) => `  ${count} x ${reason}`);
  return [
    `${report.documents} documents: ${report.rewritten} rewritten (${report.unchanged} of them unchanged), ${report.kept} kept, ${report.failed} failed`,
    ...reasons,
    ...(report.truncatedPrompts
      ? [`  ${report.truncatedPrompts} x longer than the policy reads: it saw the beginning`]
      : []),
    `characters, median: ${characters.original.median} before, ${characters.indexed.median} after`,
    `from the policy ${report.from.policy}, from the journal ${report.from.journal}, from the previous corpus ${report.from.previous}; ${report.seconds.toFixed(1)} s`,
    ...(report.changes === undefined ? [] : [changesText(report.changes)]),
    ...(report.cost === undefined ? [] : [costText(report.cost)]),
  ].join('\n');
}

function changesText({ added, changed, removed, unchanged }: NonNullable<RewriteReport['changes']>): string {
  return `since the previous corpus: ${added} added, ${changed} changed, ${removed} removed, ${unchanged} unchanged`;
}
