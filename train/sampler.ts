/**
 * Which documents a step trains on: epochs over the eligible ones in shuffled order. A remainder smaller than a step is
 * dropped and shuffled into the next epoch, so no document comes twice in one step. Two numbers are its whole state.
 */
import { createRng, deriveSeed, shuffle } from '../src/kernels/rng.ts';

export interface SamplerState {
  readonly epoch: number;
  /** Documents of this epoch that have been handed out. */
  readonly taken: number;
}

export interface DocumentSampler {
  /** The next `count` documents, or all eligible ones when there are fewer. */
  draw(count: number): number[];
  state(): SamplerState;
}

export function createDocumentSampler(
  eligible: readonly number[],
  seed: number,
  start: SamplerState = { epoch: 0, taken: 0 },
): DocumentSampler {
  let { epoch, taken } = start;
  const orderOf = (epoch: number): number[] => shuffle([...eligible], createRng(deriveSeed(seed, 'epoch', epoch)));
  let order = orderOf(epoch);
  return {
    draw(count) {
      const wanted = Math.min(count, order.length);
      if (taken + wanted > order.length) {
        epoch++;
        taken = 0;
        order = orderOf(epoch);
      }
      taken += wanted;
      return order.slice(taken - wanted, taken);
    },
    state: () => ({ epoch, taken }),
  };
}
