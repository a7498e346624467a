/** AdamW (Loshchilov and Hutter 2019): Adam with weight decay apart from the gradient, in PyTorch's order of operations. */
export interface AdamWOptions {
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  readonly weightDecay: number;
}

export const ADAMW: AdamWOptions = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0.01 };

/** Moments of every parameter, by its name. */
export interface AdamWState {
  step: number;
  readonly mean: Map<string, Float32Array>;
  readonly square: Map<string, Float32Array>;
}

export function adamwStart(): AdamWState {
  return { step: 0, mean: new Map(), square: new Map() };
}

type Parameters = ReadonlyMap<string, Float32Array>;

/** One step down the gradients; changes `weights` and `state` in place. */
export function adamwStep(
  weights: Parameters,
  gradients: Parameters,
  state: AdamWState,
  learningRate: number,
  options: AdamWOptions = ADAMW,
): void {
  const { beta1, beta2, epsilon, weightDecay } = options;
  state.step++;
  const stepSize = learningRate / (1 - beta1 ** state.step);
  const squareScale = Math.sqrt(1 - beta2 ** state.step);
  const keep = 1 - learningRate * weightDecay;
  for (const [name, gradient] of gradients) {
    const values = weights.get(name)!;
    const mean = moments(state.mean, name, values.length);
    const square = moments(state.square, name, values.length);
    for (let i = 0; i < values.length; i++) {
      const g = gradient[i];
      mean[i] = beta1 * mean[i] + (1 - beta1) * g;
      square[i] = beta2 * square[i] + (1 - beta2) * g * g;
      values[i] = values[i] * keep - (stepSize * mean[i]) / (Math.sqrt(square[i]) / squareScale + epsilon);
    }
  }
}

function moments(map: Map<string, Float32Array>, name: string, size: number): Float32Array {
  let values = map.get(name);
  if (values === undefined) {
    values = new Float32Array(size);
    map.set(name, values);
  }
  return values;
}

/** Euclidean norm over all gradients together. */
export function globalNorm(gradients: Parameters): number {
  let sum = 0;
  for (const values of gradients.values()) for (let i = 0; i < values.length; i++) sum += values[i] * values[i];
  return Math.sqrt(sum);
}

/** Scales all gradients so that their norm is at most `maxNorm`; returns the norm they had. 0 = no limit. */
export function clipGradients(gradients: Parameters, maxNorm: number): number {
  const norm = globalNorm(gradients);
  if (maxNorm > 0 && norm > maxNorm) {
    const factor = maxNorm / norm;
    for (const values of gradients.values()) for (let i = 0; i < values.length; i++) values[i] *= factor;
  }
  return norm;
}
