/**
 * How far two rankings of one query agree, judgements aside. overlap@k looks at two sets; rank-biased overlap (Webber, Moffat,
 * Zobel 2010) at every depth, the top more than the rest: a reader who goes on from each rank to the next with
 * probability p sees the first d ranks of both, and RBO is the share of them that the two have in common, in expectation.
 */
import { DocOptError } from '../errors.ts';
import type { Ranking, Run } from '../types.ts';

export interface AgreementMeasure {
  /** As it is reported: overlap@10, rbo(p=0.9). */
  readonly name: string;
  /** In [0, 1]; 1 for equal rankings, undefined where neither has a document. */
  of(a: Ranking['ids'], b: Ranking['ids']): number | undefined;
}

export interface Agreement {
  readonly a: string;
  readonly b: string;
  readonly measure: string;
  readonly mean: number;
  /** How many queries the mean is over: those that at least one of the two answers. */
  readonly queries: number;
  readonly perQuery: Readonly<Record<string, number>>;
}

const FORMS = 'overlap@K, rbo, rbo(p=0.9)';
/** Of the paper's web experiments: the first ten ranks have 86 % of the weight. */
const DEFAULT_P = 0.9;

/** `overlap@10`, `rbo`, `rbo(p=0.95)`. Throws USAGE for anything else. */
export function parseAgreement(text: string): AgreementMeasure {
  const overlap = /^overlap@(\d+)$/i.exec(text);
  if (overlap !== null && Number(overlap[1]) >= 1 && Number.isSafeInteger(Number(overlap[1]))) {
    const k = Number(overlap[1]);
    return { name: `overlap@${k}`, of: (a, b) => overlapAt(a, b, k) };
  }
  const biased = /^rbo(?:\(p=([\d.]+)\))?$/i.exec(text);
  const p = biased?.[1] === undefined ? DEFAULT_P : Number(biased[1]);
  if (biased !== null && p > 0 && p < 1) return { name: `rbo(p=${p})`, of: (a, b) => rankBiasedOverlap(a, b, p) };
  throw new DocOptError('USAGE', `'${text}' is no measure of agreement`, {
    hint: `Known: ${FORMS}; K at least 1, p between 0 and 1.`,
  });
}

/**
 * Documents that both have in the first k, over the longer one's number of documents there: two engines that find the same
 * three documents and no more agree fully.
 */
export function overlapAt(a: Ranking['ids'], b: Ranking['ids'], k: number): number | undefined {
  const longer = Math.max(Math.min(a.length, k), Math.min(b.length, k));
  if (longer === 0) return undefined;
  const first = new Set(a.slice(0, k));
  return b.slice(0, k).filter((id) => first.has(id)).length / longer;
}

/**
 * RBO_ext, equation 32 of the paper: exact over the depths that are seen, and beyond them as if the rankings went on agreeing
 * as they do where they end. Of uneven rankings the shorter is continued like that up to the end of the longer one. 0 when one
 * is empty.
 */
export function rankBiasedOverlap(a: Ranking['ids'], b: Ranking['ids'], p: number): number | undefined {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  const [s, l] = [short.length, long.length];
  if (l === 0) return undefined;
  if (s === 0) return 0;
  const seenShort = new Set<string>();
  const seenLong = new Set<string>();
  let overlap = 0; // X_d: documents in the first d of both
  let overlapShort = 0; // X_s
  let sum = 0;
  let weight = 1; // p^(d - 1)
  for (let d = 1; d <= l; d++, weight *= p) {
    const [fromLong, fromShort] = [long[d - 1], short[d - 1]];
    if (d <= s && fromLong === fromShort) overlap++;
    else {
      if (seenShort.has(fromLong)) overlap++;
      if (d <= s && seenLong.has(fromShort)) overlap++;
    }
    seenLong.add(fromLong);
    if (d <= s) seenShort.add(fromShort);
    if (d === s) overlapShort = overlap;
    const assumed = d > s ? (overlapShort * (d - s)) / s : 0;
    sum += (weight * (overlap + assumed)) / d;
  }
  const beyond = (overlap - overlapShort) / l + overlapShort / s;
  // weight is p^l now: what is left of the reader's attention.
  return (1 - p) * sum + weight * beyond;
}

/** Two runs over the same queries, by each measure. Queries that neither answers say nothing and are left out. */
export function agreementOf(
  a: { readonly name: string; readonly run: Run },
  b: { readonly name: string; readonly run: Run },
  queries: readonly string[],
  measures: readonly AgreementMeasure[],
): Agreement[] {
  return measures.map(({ name: measure, of }) => {
    const perQuery: Record<string, number> = {};
    let sum = 0;
    let count = 0;
    for (const query of queries) {
      const value = of(a.run.get(query)?.ids ?? [], b.run.get(query)?.ids ?? []);
      if (value === undefined) continue;
      perQuery[query] = value;
      sum += value;
      count++;
    }
    return { a: a.name, b: b.name, measure, mean: count === 0 ? 0 : sum / count, queries: count, perQuery };
  });
}
