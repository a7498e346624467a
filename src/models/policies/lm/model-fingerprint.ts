import { createHash } from 'node:crypto';
import { type ModelConfig, modelParameters } from '../../../nn/model-config.ts';
import type { Weights } from '../../lm/model-parts.ts';

/** Values of each tensor that are looked at: enough to tell models apart, and the same time for every size. */
const LOOKED_AT = 1024;

/** sha256 over the configuration and the beginning of every tensor, hex. */
export function modelFingerprint(config: ModelConfig, weights: Weights): string {
  const hash = createHash('sha256').update(JSON.stringify(config));
  for (const { name } of modelParameters(config)) {
    const values = weights.get(name)!;
    hash.update(name).update(new Uint8Array(values.buffer, values.byteOffset, 4 * Math.min(LOOKED_AT, values.length)));
  }
  return hash.digest('hex');
}
