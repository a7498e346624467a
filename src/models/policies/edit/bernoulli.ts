/** A two-valued action with logit z: kept with probability sigmoid(z). Stable for any finite z. */

export function sigmoid(z: number): number {
  return z >= 0 ? 1 / (1 + Math.exp(-z)) : Math.exp(z) / (1 + Math.exp(z));
}

/** log p(action): action 1 = keep, 0 = leave. */
export function logProbability(z: number, action: number): number {
  const signed = action === 1 ? z : -z;
  return signed >= 0 ? -Math.log1p(Math.exp(-signed)) : signed - Math.log1p(Math.exp(signed));
}

/** d log p(action) / d z. */
export function logProbabilitySlope(z: number, action: number): number {
  return action - sigmoid(z);
}

/** In nats, at most log 2. */
export function entropy(z: number): number {
  const p = sigmoid(z);
  return -(p * logProbability(z, 1) + (1 - p) * logProbability(z, 0));
}
