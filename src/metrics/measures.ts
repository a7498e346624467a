/** The table of measures: what each may be told, and how it scores one query. parse-measure.ts reads texts against it. */
import {
  averagePrecision,
  binaryPreference,
  inferredAveragePrecision,
  interpolatedPrecision,
  rankBiasedPrecision,
  reciprocalRank,
} from './average-precision.ts';
import { countRelevant, type JudgedRanking, judgedOnly } from './judged-ranking.ts';
import { exponentialGain, ndcg } from './ndcg.ts';
import {
  judgedShare,
  normalizedGain,
  precision,
  recall,
  rPrecision,
  setAveragePrecision,
  setF,
  setPrecision,
  setRecall,
  success,
} from './precision.ts';

export type ParameterValue = number | string | boolean | ReadonlyMap<number, number>;

/** A measure as parsed: `nDCG(dcg='exp-log2')@10` is {kind: 'nDCG', cutoff: 10, params: {dcg: 'exp-log2'}}. */
export interface Measure {
  /** Canonical text: the key under which results are reported. */
  readonly name: string;
  readonly kind: MeasureKind;
  /** What stands after `@`: ranks, or for IPrec a share of the relevant documents. */
  readonly cutoff?: number;
  /** Only what differs from the default. */
  readonly params: Readonly<Record<string, ParameterValue>>;
}

export interface ParameterRule {
  readonly type: 'integer' | 'number' | 'boolean' | 'gains' | readonly string[];
  readonly default?: ParameterValue;
  readonly minimum?: number;
  /** Exclusive. */
  readonly below?: number;
}

interface MeasureRule {
  readonly cutoff: 'required' | 'optional' | 'none' | 'recall';
  readonly parameters: Readonly<Record<string, ParameterRule>>;
  /** Counts are summed over queries, not averaged, and not tested for significance. */
  readonly total?: boolean;
  score(ranking: JudgedRanking, settings: Settings): number;
}

/** A measure's numbers with the defaults filled in. */
interface Settings {
  /** Infinity when there is no cutoff. */
  readonly k: number;
  readonly rel: number;
  readonly get: (parameter: string) => ParameterValue | undefined;
}

const rel: ParameterRule = { type: 'integer', default: 1, minimum: 0 };
const judged_only: ParameterRule = { type: 'boolean', default: false };
const ranked = { rel, judged_only };

const RULES = {
  nDCG: {
    cutoff: 'optional',
    parameters: { dcg: { type: ['log2', 'exp-log2'], default: 'log2' }, gains: { type: 'gains' }, judged_only },
    score: (ranking, { k, get }) => {
      const gain = gainOf(get('dcg'), get('gains'));
      if (gain === undefined) return ndcg(ranking.gradesByRank, ranking.grades, k);
      return ndcg(ranking.gradesByRank.map(gain), ranking.grades.map(gain), k);
    },
  },
  AP: { cutoff: 'optional', parameters: ranked, score: (ranking, s) => averagePrecision(ranking, s.rel, s.k) },
  RR: { cutoff: 'optional', parameters: ranked, score: (ranking, s) => reciprocalRank(ranking, s.rel, s.k) },
  P: { cutoff: 'required', parameters: ranked, score: (ranking, s) => precision(ranking, s.k, s.rel) },
  R: { cutoff: 'required', parameters: ranked, score: (ranking, s) => recall(ranking, s.k, s.rel) },
  Success: { cutoff: 'required', parameters: ranked, score: (ranking, s) => success(ranking, s.k, s.rel) },
  nCG: { cutoff: 'required', parameters: ranked, score: (ranking, s) => normalizedGain(ranking, s.k, s.rel) },
  Rprec: { cutoff: 'none', parameters: ranked, score: (ranking, s) => rPrecision(ranking, s.rel) },
  Judged: { cutoff: 'optional', parameters: {}, score: (ranking, s) => judgedShare(ranking, s.k) },
  Bpref: { cutoff: 'none', parameters: { rel }, score: (ranking, s) => binaryPreference(ranking, s.rel) },
  infAP: { cutoff: 'none', parameters: { rel }, score: (ranking, s) => inferredAveragePrecision(ranking, s.rel) },
  IPrec: { cutoff: 'recall', parameters: ranked, score: (ranking, s) => interpolatedPrecision(ranking, s.rel, s.k) },
  RBP: {
    cutoff: 'optional',
    parameters: { rel, p: { type: 'number', default: 0.8, minimum: 0, below: 1 } },
    score: (ranking, s) => rankBiasedPrecision(ranking, s.rel, s.get('p') as number, s.k),
  },
  SetP: {
    cutoff: 'none',
    parameters: { rel, relative: { type: 'boolean', default: false }, judged_only },
    score: (ranking, s) => setPrecision(ranking, s.rel, s.get('relative') === true),
  },
  SetR: { cutoff: 'none', parameters: { rel }, score: (ranking, s) => setRecall(ranking, s.rel) },
  SetF: {
    cutoff: 'none',
    parameters: { rel, beta: { type: 'number', default: 1, minimum: 0 }, judged_only },
    score: (ranking, s) => setF(ranking, s.rel, s.get('beta') as number),
  },
  SetAP: { cutoff: 'none', parameters: ranked, score: (ranking, s) => setAveragePrecision(ranking, s.rel) },
  NumQ: { cutoff: 'none', parameters: {}, total: true, score: () => 1 },
  NumRel: {
    cutoff: 'none',
    parameters: { rel },
    total: true,
    score: (ranking, s) => countRelevant(ranking.grades, s.rel),
  },
  NumRet: {
    cutoff: 'none',
    parameters: { rel: { type: 'integer', minimum: 0 } },
    total: true,
    score: (ranking, s) =>
      s.get('rel') === undefined ? ranking.gradesByRank.length : countRelevant(ranking.gradesByRank, s.rel),
  },
} as const satisfies Record<string, MeasureRule>;

export type MeasureKind = keyof typeof RULES;

export const MEASURE_KINDS = Object.keys(RULES) as readonly MeasureKind[];

export function measureRule(kind: MeasureKind): MeasureRule {
  return RULES[kind];
}

/** True for the counts (NumQ, NumRel, NumRet): their "mean" is a sum. */
export function isTotal(measure: Measure): boolean {
  return measureRule(measure.kind).total === true;
}

/** The measure as a function of one query's judged ranking. */
export function scorer(measure: Measure): (ranking: JudgedRanking) => number {
  const rule = measureRule(measure.kind);
  const get = (parameter: string) => measure.params[parameter] ?? rule.parameters[parameter]?.default;
  const settings: Settings = { k: measure.cutoff ?? Number.POSITIVE_INFINITY, rel: Number(get('rel') ?? 1), get };
  if (get('judged_only') === true) return (ranking) => rule.score(judgedOnly(ranking), settings);
  return (ranking) => rule.score(ranking, settings);
}

/** What a grade gains, or undefined for the plain rule (the grade itself). `gains` maps grades first, as ir_measures does. */
function gainOf(dcg: unknown, gains: unknown): ((grade: number) => number) | undefined {
  const map = gains instanceof Map ? (gains as ReadonlyMap<number, number>) : undefined;
  if (dcg !== 'exp-log2' && map === undefined) return undefined;
  return (grade) => {
    const mapped = map?.get(grade) ?? grade;
    return dcg === 'exp-log2' ? exponentialGain(mapped) : mapped;
  };
}
