/** `morph doctor`: does the reranker earn its calls? Its figures beside the retriever's, from judgements. */
import { type CommandContext, defineCommand } from '../../src/config/command.ts';
import { morphDoctorSchema } from '../../src/config/schemas/study.ts';
import { ascending, quantile } from '../kernels/quantile.ts';
import { trustTable } from '../study/compare-tables.ts';
import { type ScoreScale, scoreScale } from '../study/score-scale.ts';
import { explainTrust, judgeTrust, type Trust, trustOf } from '../study/trust.ts';
import type { StudyGroup, StudyQuery } from '../study/types.ts';
import { openStudyGroups } from './study-groups.ts';

interface Diagnosis {
  readonly collection: string;
  readonly retriever: string;
  readonly reranker: string;
  readonly queries: number;
  readonly pool: number;
  readonly trust: Trust;
  /** The verdict in a sentence. */
  readonly sentence: string;
  readonly scale: ScoreScale;
  /** Milliseconds of one pair, when asked for in calls of --batch-size pairs; null when looked up. */
  readonly latency: { readonly medianMs: number; readonly p95Ms: number; readonly batchSize: number } | null;
}

export const doctorCommand = defineCommand({
  name: 'doctor',
  summary: 'Whether a reranker earns its calls: its AUC and nDCG beside those of the retriever and of both fused.',
  details:
    'Scores the first candidates of judged queries and says plainly what came of it. Needs judgements; scores are kept and\n' +
    'shared with morph compare. Also: how the scores are spread, and how long a call takes.',
  schema: morphDoctorSchema,
  onStop: 'keeping the scores so far; run it again to go on',
  examples: [
    [
      'morph doctor --data DATA --retriever bm25 --reranker features',
      'the embedded scorer, fitted on the train queries',
    ],
    ['morph doctor --index INDEX', 'the one inside an index'],
    ['morph doctor --data DATA --retriever lsa --reranker recorded --scores scores.trec --json', 'recorded scores'],
  ],
  async run(options, context) {
    const found: Diagnosis[] = [];
    for await (const group of openStudyGroups(options, context)) {
      found.push(await diagnose(group, options.batchSize, context));
    }
    return { json: { diagnoses: found }, text: found.map(page).join('\n\n') };
  },
});

async function diagnose(group: StudyGroup, batchSize: number, { log }: CommandContext): Promise<Diagnosis> {
  const { collection, retriever, reranker, queries } = group;
  const progress = log.progress(`${collection}, ${retriever}, ${reranker}`, queries.length);
  const seen: Pick<StudyQuery, 'scores' | 'relevance' | 'relevant'>[] = [];
  try {
    for (const query of queries) {
      const { scores, relevance, relevant } = await group.load(query);
      seen.push({ scores, relevance, relevant });
      progress.tick();
    }
  } finally {
    progress.end();
  }
  const trust = judgeTrust(seen.map(trustOf));
  const times = ascending(group.callMilliseconds);
  return {
    ...{ collection, retriever, reranker, queries: queries.length },
    pool: Math.max(0, ...seen.map(({ scores }) => scores.length)),
    trust,
    sentence: explainTrust(trust),
    scale: scoreScale(seen),
    latency:
      times.length === 0
        ? null
        : { medianMs: rounded(quantile(times, 0.5)), p95Ms: rounded(quantile(times, 0.95)), batchSize },
  };
}

function page({ collection, retriever, reranker, queries, pool, trust, sentence, scale, latency }: Diagnosis): string {
  const [least, q1, middle, q3, most] = scale.quantiles.map((value) => (value === null ? '-' : value.toFixed(3)));
  const means = [scale.meanRelevant, scale.meanOther].map((value) => (value === null ? '-' : value.toFixed(3)));
  return [
    `${collection}, ${retriever}, ${reranker}: ${queries} queries, the first ${pool} candidates of each`,
    '',
    trustTable(trust),
    '',
    sentence,
    `scores: ${least} to ${most}, quartiles ${q1} ${middle} ${q3}; mean of relevant documents ${means[0]}, of others ${means[1]}`,
    ...(latency === null
      ? []
      : [`a call: ${latency.medianMs} ms a pair, 95 % within ${latency.p95Ms} ms (${latency.batchSize} pairs a call)`]),
    ...scale.warnings.map((warning) => `warning: ${warning}`),
  ].join('\n');
}

function rounded(ms: number): number {
  return Number(ms.toPrecision(3));
}
