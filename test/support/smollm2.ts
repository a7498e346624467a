/** SmolLM2-135M-Instruct, if it is there, and the golden numbers of it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { modelsFolder } from '../../src/models/models-folder.ts';

export const SMOLLM2 = join(modelsFolder(), 'smollm2-135m-instruct');
export const hasSmollm2 = existsSync(SMOLLM2);
/** For the names of suites: why they were skipped. */
export const NEEDS_SMOLLM2 = hasSmollm2 ? '' : ' (skipped: run `npm run models` first)';

const folder = fileURLToPath(new URL('../golden/smollm2/', import.meta.url));
export const goldenPath = (name: string): string => join(folder, name);
export const golden = <T>(name: string): T => JSON.parse(readFileSync(goldenPath(name), 'utf8')) as T;
