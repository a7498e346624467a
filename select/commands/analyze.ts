/** `morph analyze`: the paper's figures on one's own data. */
import type { z } from 'zod';
import { type CommandContext, type CommandResult, defineCommand } from '../../src/config/command.ts';
import { analyzeSchema, FIGURES } from '../../src/config/schemas/study.ts';
import { analyze, type FigureName } from '../analyze.ts';
import { planOf, systemsOf } from './compare.ts';
import { openChat } from './open-chat.ts';
import { openStudyGroups } from './study-groups.ts';
import { writeReport } from './write-report.ts';

type Options = z.infer<typeof analyzeSchema>;

/** The paper's process and its two rivals; those that are compared in its figures. */
const USUAL = ['boundary-morph', 'bagel', 'single-stage'];

export const analyzeCommand = defineCommand({
  name: 'analyze',
  summary: "Why a selector wins or loses on your data: the paper's figures.",
  details:
    'coverage      relevant documents, how many of them the pools hold, lengths (C.1)\n' +
    'capacity      told k against judged at k (Figure 3a)\n' +
    'allocation    score from scored and from estimated documents (Figure 3b)\n' +
    'multimodality peaks of relevance, and the advantage of the first selector where there are several (5.3, E.1)\n' +
    'latency       time by component (Table 9)\n' +
    'frontier      cost and quality: the choices that no other beats (Figure 8)\n' +
    'kernels       other kernels (Table 3), other noise\n' +
    'robustness    lift over single-stage for every retriever and reranker (Figure 7)\n' +
    'audit         whether a chat model tells peaks apart (E.1, Table 10); needs --policy',
  schema: analyzeSchema,
  onStop: 'keeping the scores so far; run it again to go on',
  examples: [
    [
      'morph analyze --data DATA --retriever lsa --reranker qrels --min-relevant 20',
      'all figures that need no chat policy',
    ],
    ['morph analyze --index INDEX --figures coverage,multimodality --json', 'two of them over an index'],
    [
      'morph analyze --data DATA --retriever lsa --retriever bm25 --reranker features --figures robustness --out DIR',
      'across retrievers, into a folder',
    ],
  ],
  run: runAnalyze,
});

async function runAnalyze(options: Options, context: CommandContext): Promise<CommandResult> {
  const figures: readonly FigureName[] = options.figures ?? FIGURES;
  const systems = systemsOf({ ...options, selectors: options.selectors ?? USUAL });
  const groups = openStudyGroups(options, context);
  if (options.dryRun) {
    const planned = [];
    for await (const group of groups) planned.push(planOf(group, options));
    return { json: { planned }, text: planned.map((plan) => JSON.stringify(plan)).join('\n') };
  }
  const asked = options.figures?.includes('audit') === true ? 'the figure audit' : undefined;
  const chat =
    figures.includes('audit') || figures.includes('frontier')
      ? await openChat(options.policy, asked, options.seed, context)
      : undefined;
  const report = await analyze(groups, {
    figures,
    systems,
    budgets: options.budgets,
    capacities: options.capacities,
    sweep: options.sweep,
    seed: options.seed,
    chat,
    agentic: { depths: options.agenticDepths, hops: options.agenticHops },
    signal: context.signal,
    onStep: (what) => context.log.info(what),
  });
  await writeReport(options.out, report, context);
  return report;
}
