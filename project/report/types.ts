/** What a report knows, as plain data: gathered by the command, drawn by html.ts, markdown.ts and latex.ts. Null = not known. */

export const SYSTEMS = ['original', 'zeroShot', 'trained'] as const;
export type System = (typeof SYSTEMS)[number];
export const SYSTEM_NAMES: Readonly<Record<System, string>> = {
  original: 'original texts',
  zeroShot: 'zero-shot rewrites',
  trained: 'trained rewrites',
};

export interface SystemRow {
  readonly name: string;
  readonly metrics: Readonly<Record<string, number | null>>;
  /** Sample deviations over seeds. */
  readonly deviations?: Readonly<Record<string, number | null>>;
  readonly note?: string;
}

/** Mean per-query difference with its bootstrap interval. */
export interface Difference {
  readonly baseline: string;
  readonly system: string;
  readonly metric: string;
  readonly n: number;
  readonly delta: number;
  readonly interval: readonly [number, number];
  readonly level: number;
  readonly adjustedP: number;
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
}

export interface Series {
  readonly name: string;
  /** Colour class of the page: s1..s4. */
  readonly style: 's1' | 's2' | 's3' | 's4';
  readonly points: readonly (readonly [x: number, y: number])[];
  /** Refreshes are few and marked; steps are many and not. */
  readonly marked?: boolean;
}

export interface Chart {
  readonly title: string;
  readonly series: readonly Series[];
  readonly xLabel: string;
}

export interface QueryDelta {
  readonly id: string;
  readonly text: string;
  readonly original: number;
  readonly zeroShot: number;
  readonly trained: number;
}

export interface DiffPart {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

export interface MovedQuery {
  readonly id: string;
  readonly text: string;
  /** 1-based; null = below the depth of the run. */
  readonly before: number | null;
  readonly after: number | null;
  readonly delta: number;
}

export interface DocumentChange {
  readonly id: string;
  readonly title: string;
  readonly diff: readonly DiffPart[];
  readonly queries: readonly MovedQuery[];
  /** Sum of its queries' differences: what the change of this page of the corpus coincides with. */
  readonly delta: number;
}

/** Lengths in words (DocOpt Fig. 3). */
export interface Lengths {
  readonly name: string;
  readonly mean: number;
  readonly quartiles: readonly [number, number, number];
  /** Documents per bin of `edges`. */
  readonly counts: readonly number[];
}

export interface LengthStatistics {
  /** Bin b holds edges[b] <= words < edges[b + 1]; the last holds all above. */
  readonly edges: readonly number[];
  readonly systems: readonly Lengths[];
  readonly changed: number;
  readonly documents: number;
}

export interface MapPoint {
  readonly kind: 'query' | 'original' | 'rewrite';
  readonly x: number;
  readonly y: number;
}

/** DocOpt Fig. 4; originals[i] and rewrites[i] are one document. */
export interface EmbeddingMap {
  readonly title: string;
  readonly points: readonly MapPoint[];
}

export interface ChainLink {
  readonly what: string;
  readonly fingerprint: string;
  readonly detail: string;
}

export interface ReportModel {
  readonly title: string;
  readonly finished: boolean;
  readonly verdict: { readonly tone: 'better' | 'worse' | 'open'; readonly text: string };
  /** Label and value, in order. */
  readonly facts: readonly (readonly [string, string])[];
  readonly notes: readonly string[];
  /** Parts that could not be drawn, each with its reason. */
  readonly missing: readonly string[];
  readonly metrics: readonly string[];
  readonly systems: readonly SystemRow[];
  readonly baselines: readonly SystemRow[];
  readonly differences: readonly Difference[];
  readonly charts: readonly Chart[];
  readonly queryMetric: string | null;
  /** Worst first. */
  readonly queries: readonly QueryDelta[];
  readonly helped: readonly DocumentChange[];
  readonly harmed: readonly DocumentChange[];
  readonly lengths: LengthStatistics | null;
  readonly maps: readonly EmbeddingMap[];
  readonly mapNote: string;
  readonly costs: readonly (readonly [string, string])[];
  readonly chain: readonly ChainLink[];
}
