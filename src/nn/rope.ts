/** Rotary position embedding: the angles, as tables that graphs are fed. */
import type { ModelConfig } from './model-config.ts';

/** Radians a position, one per pair of dimensions; scaled as the family has it. */
export function ropeFrequencies(config: ModelConfig): Float64Array {
  const { headSize, ropeTheta, ropeScaling } = config;
  const frequencies = Float64Array.from({ length: headSize / 2 }, (_, i) => ropeTheta ** ((-2 * i) / headSize));
  if (ropeScaling === undefined) return frequencies;
  if (ropeScaling.type === 'linear') return frequencies.map((frequency) => frequency / ropeScaling.factor);
  if (ropeScaling.type === 'factors') return frequencies.map((frequency, i) => frequency / ropeScaling.factors[i]);
  // Llama 3: long waves are stretched, short ones kept, those between are blended.
  const { factor, lowFrequencyFactor, highFrequencyFactor, originalMaxPositions } = ropeScaling;
  return frequencies.map((frequency) => {
    const turns = (originalMaxPositions * frequency) / (2 * Math.PI);
    if (turns < lowFrequencyFactor) return frequency / factor;
    if (turns > highFrequencyFactor) return frequency;
    const smooth = (turns - lowFrequencyFactor) / (highFrequencyFactor - lowFrequencyFactor);
    return ((1 - smooth) * frequency) / factor + smooth * frequency;
  });
}

export interface RopeTables {
  readonly cos: Float32Array;
  readonly sin: Float32Array;
}

/** cos and sin of position * frequency, [positions, headSize / 2]. */
export function ropeTables(frequencies: Float64Array, positions: ArrayLike<number>): RopeTables {
  const half = frequencies.length;
  const cos = new Float32Array(positions.length * half);
  const sin = new Float32Array(positions.length * half);
  for (let row = 0; row < positions.length; row++) {
    for (let i = 0; i < half; i++) {
      // The angle is rounded to single precision first, as the reference implementations do.
      const angle = Math.fround(positions[row] * Math.fround(frequencies[i]));
      cos[row * half + i] = Math.cos(angle);
      sin[row * half + i] = Math.sin(angle);
    }
  }
  return { cos, sin };
}
