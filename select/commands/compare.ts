/** `morph compare`: selectors side by side at equal budgets, over collections, retrievers and rerankers. */
import type { z } from 'zod';
import { type CommandContext, type CommandResult, defineCommand } from '../../src/config/command.ts';
import { compareSchema } from '../../src/config/schemas/study.ts';
import { splitShortForms } from '../../src/config/short-form.ts';
import { DocOptError } from '../../src/errors.ts';
import { compareReport } from '../compare.ts';
import { SELECTORS } from '../mod.ts';
import type { Chat } from '../study/chat.ts';
import { compareTables } from '../study/compare-tables.ts';
import { type Cell, type GroupReport, measureGroup } from '../study/measure.ts';
import { measureAgentic } from '../study/measure-agentic.ts';
import { NEEDS_WORDS, parseSystem, type StudySystem } from '../study/systems.ts';
import type { StudyGroup } from '../study/types.ts';
import { openChat } from './open-chat.ts';
import { openStudyGroups } from './study-groups.ts';
import { writeReport } from './write-report.ts';

type Options = z.infer<typeof compareSchema>;

/** A system of its own beside the selectors. */
const AGENTIC = 'agentic';

export const compareCommand = defineCommand({
  name: 'compare',
  summary: "Selectors side by side on your data: the paper's tables, per query and with significance.",
  details:
    'Every selector works on the same pools with the same scores. Each (query, document) pair is scored once, kept on disk\n' +
    'and never paid for again, so a stopped study goes on where it was. nCG@k counts relevant documents among the k against\n' +
    'the most that any k of the pool could hold; CE-nCG@k does the same with the scores. Swept baselines get the settings\n' +
    'that do best on the evaluated queries, as in the paper; --no-sweep takes their defaults. With a --policy that speaks\n' +
    'chat the agentic search loop runs beside them, over a grid of depths and hops.',
  schema: compareSchema,
  onStop: 'keeping the scores so far; run it again to go on',
  examples: [
    [
      'morph compare --data DATA --retriever lsa --reranker qrels',
      'all selectors, an oracle with noise as the reranker',
    ],
    [
      'morph compare --data A --data B --retriever lsa --retriever bm25 --reranker features --selectors boundary-morph,single-stage --budgets 25,50 --capacities 50,100 --min-relevant 20 --out DIR',
      'two collections by two retrievers, diffuse queries, tables in a folder',
    ],
    [
      'morph compare --data DATA --retriever bm25 --reranker recorded --scores scores.trec --json',
      'with scores that were computed elsewhere',
    ],
  ],
  run: runCompare,
});

async function runCompare(options: Options, context: CommandContext): Promise<CommandResult> {
  const asked = options.selectors?.includes(AGENTIC) === true;
  const systems = systemsOf({ ...options, selectors: options.selectors?.filter((name) => name !== AGENTIC) });
  const chat = await openChat(options.policy, asked ? AGENTIC : undefined, options.seed, context);
  if (options.focus !== undefined && !systems.some(({ name }) => name === options.focus)) {
    throw new DocOptError('USAGE', `--focus ${options.focus} is not among the selectors`, {
      hint: `One of: ${systems.map(({ name }) => name).join(', ')}.`,
    });
  }
  const groups: GroupReport[] = [];
  const planned: Plan[] = [];
  for await (const group of openStudyGroups(options, context)) {
    if (options.dryRun) {
      planned.push(planOf(group, options));
      continue;
    }
    const able = systemsFor(group, systems, options.selectors !== undefined, context);
    const report = await measure(group, able, options, context);
    groups.push(
      chat === undefined || !(asked || options.selectors === undefined)
        ? report
        : { ...report, cells: [...report.cells, ...(await measureLoop(group, chat, options, context))] },
    );
  }
  if (options.dryRun) return { json: { planned }, text: planned.map(planLine).join('\n') };
  const report = compareReport(groups, { focus: options.focus, seed: options.seed });
  const text = compareTables(report);
  await writeReport(options.out, { json: report, text }, context);
  return { json: report, text };
}

/** The selectors asked for, else all there are. USAGE for a name that comes twice. */
export function systemsOf(options: Pick<Options, 'selectors' | 'seed' | 'sweep'>): StudySystem[] {
  // Lists are cut at commas wherever they come from; settings hold commas too, so the pieces are joined and cut again.
  const names: readonly string[] =
    options.selectors === undefined ? SELECTORS : splitShortForms(options.selectors.join(','));
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) {
    throw new DocOptError('USAGE', `the selector '${twice}' is named twice`, { hint: 'Name each once.' });
  }
  return names.map((name) => parseSystem(name, options));
}

/** What can run on a group. Selectors that were asked for by name say themselves what they miss. */
export function systemsFor(
  group: StudyGroup,
  systems: readonly StudySystem[],
  asked: boolean,
  { log }: CommandContext,
): readonly StudySystem[] {
  if (group.lexical || asked) return systems;
  const kept = systems.filter(({ driver }) => !NEEDS_WORDS.includes(driver));
  log.warn(`${group.collection}, ${group.retriever}: no lexical ranks, so without ${NEEDS_WORDS.join(', ')}`);
  return kept;
}

export async function measure(
  group: StudyGroup,
  systems: readonly StudySystem[],
  { budgets, capacities }: Pick<Options, 'budgets' | 'capacities'>,
  { log, signal }: CommandContext,
): Promise<GroupReport> {
  const progress = log.progress(`${group.collection}, ${group.retriever}, ${group.reranker}`, group.queries.length);
  try {
    return await measureGroup(group, {
      systems,
      budgets: unique(budgets),
      capacities: unique(capacities),
      signal,
      onQuery: () => progress.tick(),
    });
  } finally {
    progress.end();
  }
}

async function measureLoop(
  group: StudyGroup,
  chat: Chat,
  { agenticDepths, agenticHops, capacities, seed }: Options,
  { log }: CommandContext,
): Promise<Cell[]> {
  const progress = log.progress(`${group.collection}, ${AGENTIC}`, group.queries.length);
  try {
    return await measureAgentic(group, chat, {
      depths: unique(agenticDepths),
      hops: unique(agenticHops),
      capacities: unique(capacities),
      seed,
      onQuery: () => progress.tick(),
    });
  } finally {
    progress.end();
  }
}

function unique(values: readonly number[]): number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}

export interface Plan {
  readonly collection: string;
  readonly retriever: string;
  readonly reranker: string;
  readonly queries: number;
  /** At most: scores that are there already are not asked for. */
  readonly calls: number;
}

export function planOf(group: StudyGroup, { pool }: Pick<Options, 'pool'>): Plan {
  const { collection, retriever, reranker, queries, documents } = group;
  const calls = queries.length * Math.min(pool, documents);
  return { collection, retriever, reranker, queries: queries.length, calls };
}

function planLine({ collection, retriever, reranker, queries, calls }: Plan): string {
  return `${collection}, ${retriever}, ${reranker}: ${queries} queries, at most ${calls} reranker calls`;
}
