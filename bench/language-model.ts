/** What the benches of the local language model share: SmolLM2-135M-Instruct, and random tokens. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DocOptError } from '../src/errors.ts';
import { createRng } from '../src/kernels/rng.ts';
import { type LoadedModel, loadModel } from '../src/models/lm/load-model.ts';
import { modelsFolder } from '../src/models/models-folder.ts';

export async function benchModel(): Promise<LoadedModel> {
  const folder = join(modelsFolder(), 'smollm2-135m-instruct');
  if (existsSync(folder)) return loadModel(folder);
  throw new DocOptError('MISSING', `there is no ${folder}`, { hint: 'npm run models' });
}

export function randomTokens(count: number, vocabulary: number, seed: number): Int32Array {
  const rng = createRng(seed);
  return Int32Array.from({ length: count }, () => rng.int(vocabulary));
}

/** Seconds by the clock, and of the processor over all threads: on a busy machine only the second says much. */
export interface Spent {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

export async function timed<T>(work: () => Promise<T>): Promise<{ result: T; spent: Spent }> {
  const before = process.cpuUsage();
  const from = performance.now();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { result, spent: { seconds: (performance.now() - from) / 1000, cpuSeconds: (user + system) / 1e6 } };
}
