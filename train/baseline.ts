import type { Policy, Retriever } from '../src/ports.ts';
import type { Corpus } from '../src/types.ts';

/** A way to rewrite the collection without reinforcement learning, or another retriever: what the gain is to be seen beside. */
export interface Baseline {
  readonly name: string;
  /** false: only measured, not tested against the trained policy (ablations). Default true. */
  readonly compared?: boolean;
  prepare(context: BaselineContext): Promise<BaselineTexts>;
}

export interface BaselineContext {
  readonly corpus: Corpus;
  /** The chosen policy. */
  readonly policy: Policy;
  /** Mean nDCG@k of the training queries when these texts are indexed: for baselines that choose on train. */
  trainNdcg(texts: readonly string[]): Promise<number>;
  readonly signal?: AbortSignal;
}

export interface BaselineTexts {
  /** Index texts by position; default: the originals. */
  readonly texts?: readonly string[];
  /** Default: the training's own. */
  readonly retriever?: Retriever;
  /** What it is, or what it chose, for the report. */
  readonly note?: string;
}
