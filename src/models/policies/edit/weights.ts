/** Weight vectors by feature name, and where training starts. */
import { FEATURE_NAMES, factIndex, featureIndex } from './features.ts';

/**
 * Start of every edit's logit under `zero`: below 0, so that the most likely rewrite is the original; not far below, so
 * that rollouts try one edit in five.
 */
export const ZERO_BIAS = -1.5;

export function zeroWeights(): Float64Array {
  const weights = new Float64Array(FEATURE_NAMES.length);
  weights[factIndex('any', 'bias')] = ZERO_BIAS;
  return weights;
}

/** Names that this version does not know are dropped: a template may be gone, and its weight says nothing without it. */
export function weightsFrom(named: Readonly<Record<string, number>>): Float64Array {
  const weights = new Float64Array(FEATURE_NAMES.length);
  for (const [name, value] of Object.entries(named)) {
    const index = featureIndex(name);
    if (index !== undefined) weights[index] = value;
  }
  return weights;
}

export function namedWeights(weights: Float64Array): Record<string, number> {
  const named: Record<string, number> = {};
  for (let i = 0; i < weights.length; i++) if (weights[i] !== 0) named[FEATURE_NAMES[i]] = weights[i];
  return named;
}
