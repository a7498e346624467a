/** Adam (Kingma and Ba 2015) over one weight vector. */
export interface AdamState {
  readonly step: number;
  readonly mean: Float64Array;
  readonly square: Float64Array;
}

const BETA1 = 0.9;
const BETA2 = 0.999;
const EPSILON = 1e-8;

export function adamStart(size: number): AdamState {
  return { step: 0, mean: new Float64Array(size), square: new Float64Array(size) };
}

/** One step down the gradient; changes `weights` in place and returns the next state. */
export function adamStep(
  weights: Float64Array,
  gradient: Float64Array,
  learningRate: number,
  state: AdamState,
): AdamState {
  const step = state.step + 1;
  const mean = new Float64Array(weights.length);
  const square = new Float64Array(weights.length);
  const meanScale = 1 - BETA1 ** step;
  const squareScale = 1 - BETA2 ** step;
  for (let i = 0; i < weights.length; i++) {
    mean[i] = BETA1 * state.mean[i] + (1 - BETA1) * gradient[i];
    square[i] = BETA2 * state.square[i] + (1 - BETA2) * gradient[i] * gradient[i];
    weights[i] -= (learningRate * (mean[i] / meanScale)) / (Math.sqrt(square[i] / squareScale) + EPSILON);
  }
  return { step, mean, square };
}
