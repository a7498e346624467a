/** `morph select`: one selection over an index or over a pool file, with its trace. */
import type { z } from 'zod';
import { type CommandContext, defineCommand } from '../../src/config/command.ts';
import { selectSchema } from '../../src/config/schemas/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import { fitLsa } from '../../src/models/embedders/mod.ts';
import { createReranker } from '../../src/models/rerankers/mod.ts';
import type { Reranker } from '../../src/ports.ts';
import type { Corpus, Document, Pool } from '../../src/types.ts';
import type { Learned } from '../history.ts';
import {
  chooseSelector,
  createSelector,
  fittedOnPool,
  poolFromDocuments,
  poolFromIndex,
  type SelectAnswer,
  select,
} from '../mod.ts';
import { type ReturnedEntry, requireReturnable, withDocuments, withParents } from '../returned.ts';
import { withTokenCounts } from './count-tokens.ts';
import { findIndex, missingIndex } from './find-index.ts';
import { openServedIndex } from './open-served-index.ts';
import { learnFrom, readHistory } from './read-history.ts';
import { readPoolFile } from './read-pool-file.ts';

type Options = z.infer<typeof selectSchema>;

const DEFAULT_POOL_SIZE = 1000;

export const selectCommand = defineCommand({
  name: 'select',
  summary: 'Chooses k documents for one query with at most B reranker calls, and shows how.',
  details:
    'Over an index the reranker is the one fitted into it (features), unless another is named. A pool file brings its own\n' +
    'candidates in retriever order: {"query": {"text": "..."}, "documents": [{"id", "text", "embedding", "score"}]};\n' +
    'its scores are handed out only when asked for (--reranker recorded). The default selector is morph-hybrid where\n' +
    'the pool has lexical ranks, else dense-log.',
  schema: selectSchema,
  examples: [
    ['morph select "effects of light pollution" -B 25 -k 100', 'over the latest index'],
    ['morph select --index INDEX "deep copy" --selector single-stage --json', 'the baseline, for a script'],
    [
      'morph select --pool pool.json --reranker recorded -B 3 -k 2 --all',
      'a pool with recorded scores, its whole order',
    ],
  ],
  async run(options, context) {
    // A wrong name is said before any work.
    if (options.selector !== undefined) createSelector(options.selector, options.seed);
    const learned = await learn(options, context);
    const started = performance.now();
    const deadline = options.deadlineMs === undefined ? undefined : AbortSignal.timeout(options.deadlineMs);
    const candidates = await takeCandidates(options, context);
    const poolMs = Math.round((performance.now() - started) * 1000) / 1000;
    for (const warning of candidates.warnings) context.log.warn(warning);
    requireReturnable(options.return, candidates.corpus !== undefined, options.capacity);
    const { selector, reason } = chooseSelector(options.selector, candidates.pool, options.seed, learned);
    if (options.selector === undefined) context.log.info(`selector: ${selector.name} (${reason})`);
    const answer = await select({
      pool:
        typeof options.capacity === 'number'
          ? candidates.pool
          : await withTokenCounts(candidates.pool, candidates.documentAt),
      documentAt: candidates.documentAt,
      reranker: candidates.reranker,
      selector,
      budget: options.budget,
      capacity: options.capacity,
      all: options.all,
      signal: context.signal,
      deadline,
    });
    for (const warning of answer.warnings) context.log.warn(warning);
    const selected =
      options.return === 'parent'
        ? withParents(answer.selected, candidates.corpus!)
        : withDocuments(answer.selected, candidates.documentAt);
    const json = {
      ...answer,
      selectorReason: reason,
      ...(learned === undefined ? {} : { learned }),
      selected,
      embeddings: candidates.embeddings,
      pool: candidates.pool.ids.length,
      timings: { ...answer.timings, poolMs },
      warnings: [...candidates.warnings, ...answer.warnings],
    };
    return { json, text: table(answer, selected, candidates.pool.ids.length) };
  },
});

/** What --history teaches; nothing where it would change nothing. */
async function learn(options: Options, context: CommandContext): Promise<Learned | undefined> {
  const { selector, history } = options;
  const wantsNoise = selector !== undefined && 'noise' in selector && selector.noise === 'auto';
  if (history === undefined && !wantsNoise) return undefined;
  const embed = fittedOnPool((texts) => fitLsa(texts, { seed: options.seed }));
  const learned = learnFrom(history === undefined ? [] : await readHistory(history, embed), options, wantsNoise);
  for (const note of learned.notes) context.log.info(note);
  return learned;
}

interface Candidates {
  readonly pool: Pool;
  readonly documentAt: (position: number) => Document;
  /** Of the index; candidates of a file have none. */
  readonly corpus?: Corpus;
  readonly reranker: Reranker;
  /** Where the vectors come from, in words. */
  readonly embeddings: string;
  readonly warnings: readonly string[];
}

function takeCandidates(options: Options, context: CommandContext): Promise<Candidates> {
  return typeof options.pool === 'string' ? fromFile(options, options.pool, context) : fromIndex(options, context);
}

async function fromFile(options: Options, path: string, context: CommandContext): Promise<Candidates> {
  if (options.text !== undefined) {
    throw new DocOptError('USAGE', 'a query was typed, and the pool file holds one too', {
      hint: 'Leave the text out: the query of a pool belongs to its candidates.',
    });
  }
  if (context.typed.some(({ name }) => name === 'index')) {
    throw new DocOptError('USAGE', '--index and --pool FILE are two sources of candidates', {
      hint: 'Leave one of them out. (A number is the size of a pool over the index: --index INDEX --pool 500.)',
    });
  }
  const given = await readPoolFile(path);
  const recorded = options.reranker === undefined || options.reranker.driver === 'recorded';
  if (recorded && given.scores.size === 0 && given.documents.length > 0) {
    throw new DocOptError('USAGE', `which reranker? ${path} has no recorded scores`, {
      hint: "Give the documents a 'score' each, or select over an index, which carries a reranker.",
    });
  }
  if (options.reranker === undefined) context.log.info('reranker: recorded (the scores of the pool)');
  const missing = given.documents.length - given.scores.size;
  if (recorded && missing > 0) {
    context.log.warn(
      `${missing} of ${given.documents.length} documents have no score in ${path}: asked for, they fail`,
    );
  }
  const reranker = createReranker(options.reranker ?? { driver: 'recorded' }, {
    scores: given.scores,
    services: context,
  });
  const { pool, documents, embeddings, warnings } = await poolFromDocuments(
    given,
    fittedOnPool((texts) => fitLsa(texts, { seed: options.seed })),
  );
  if (embeddings !== 'given') context.log.info(`vectors: ${embeddings}`);
  return { pool, documentAt: (position) => documents[position], reranker, embeddings, warnings };
}

async function fromIndex(options: Options, context: CommandContext): Promise<Candidates> {
  if (options.text === undefined || options.text.trim() === '') {
    throw new DocOptError('USAGE', 'the query text is missing', {
      hint: 'Example: morph select "effects of light pollution", or --pool FILE with a query inside.',
    });
  }
  const folder = await findIndex(options.index, context);
  if (folder === undefined) throw missingIndex();
  const index = await openServedIndex(folder, context);
  const reranker = createReranker(options.reranker ?? { driver: 'features' }, {
    embedded: index.embedded,
    services: context,
  });
  const size = typeof options.pool === 'number' ? options.pool : DEFAULT_POOL_SIZE;
  if (size < 1)
    throw new DocOptError('USAGE', `--pool ${size}: a pool has at least one document`, {
      hint: 'Example: --pool 1000',
    });
  const pool = await poolFromIndex(index, { text: options.text }, size);
  return {
    pool,
    documentAt: (position) => index.corpus.original(index.corpus.positionOf(pool.ids[position])!),
    corpus: index.corpus,
    reranker,
    embeddings: `${index.facts.vectors}`,
    warnings: [],
  };
}

function table(answer: SelectAnswer, selected: readonly ReturnedEntry[], candidates: number): string {
  const { calls, failed, budget, capacity } = answer;
  const head = `${answer.selector}: ${calls.length} of ${budget} calls to ${answer.reranker}, ${answer.selected.length} of ${candidates} candidates (${typeof capacity === 'number' ? `k = ${capacity}` : `${answer.tokens} of ${capacity.tokens} tokens`})`;
  const rows = selected.map((entry) => {
    const score = entry.relevanceScore === null ? '     -' : entry.relevanceScore.toFixed(4).padStart(6);
    const spread = entry.source === 'scored' || entry.std === null ? '        ' : ` ±${entry.std.toFixed(4)} `;
    const { title, text } = entry;
    return `${String(entry.rank).padStart(4)}  ${score}${spread} ${entry.source.padEnd(9)}  first stage ${String(entry.firstStageRank).padStart(4)}  ${visible(entry.id)}  ${excerpt(title, text)}`;
  });
  const trace = calls.length === 0 ? [] : ['', `asked, in order: ${calls.map(visible).join(' ')}`];
  const lost = failed.length === 0 ? [] : [`failed: ${failed.map(visible).join(' ')}`];
  return [head, ...rows, ...trace, ...lost].join('\n');
}

/** At most 80 characters of one line; control characters of documents never reach the terminal. */
function excerpt(title: string, text: string): string {
  const line = visible(`${title}${title === '' || text === '' ? '' : ': '}${text}`).trim();
  return line.length > 80 ? `${line.slice(0, 77)}...` : line;
}

function visible(text: string): string {
  return text.replace(/[\s\p{C}]+/gu, ' ');
}
