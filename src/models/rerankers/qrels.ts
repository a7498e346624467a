import { createRng, deriveSeed } from '../../kernels/rng.ts';
import type { Reranker } from '../../ports.ts';
import type { Qrels } from '../../types.ts';

export interface QrelsRerankerOptions {
  readonly qrels: Qrels;
  /** Deviation of the noise; 0 = none. */
  readonly noise: number;
  readonly seed: number;
}

/** Mean scores of a document that is not relevant, and how much more a relevant one gets. */
const BASE = 0.12;
const LIFT = 0.7;

/**
 * An oracle for studies, never for a service: it knows the judgements and adds noise, clip(.12 + .7 rel + N(0, noise)).
 * rel is 1 for a grade above 0. The noise belongs to the pair: the same pair gets the same score however often and in
 * whatever company it is asked for.
 */
export function createQrelsReranker({ qrels, noise, seed }: QrelsRerankerOptions): Reranker {
  return {
    id: `qrels(noise=${noise},seed=${seed})`,
    async score(query, documents) {
      const judged = qrels.get(query.id);
      return Float64Array.from(documents, ({ id }) => {
        const relevant = (judged?.get(id) ?? 0) > 0;
        const error = noise * createRng(deriveSeed(seed, query.id, id)).normal();
        return Math.min(1, Math.max(0, BASE + (relevant ? LIFT : 0) + error));
      });
    },
  };
}
