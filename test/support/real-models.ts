/**
 * Real models, for the suites named *.models.test.ts: obtained by `npm run models`, read from the models folder. Where one is
 * missing its tests are skipped, and the title says so.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
import { modelsFolder } from '../../src/models/models-folder.ts';

export function realModel(name: string): string {
  return join(modelsFolder(), name);
}

/** A group of tests that need these models. */
export function describeWithModels(title: string, names: readonly string[], body: () => void): void {
  const missing = names.filter((name) => !existsSync(join(realModel(name), 'origin.json')));
  if (missing.length === 0) describe(title, body);
  else describe.skip(`${title} (skipped: ${missing.join(', ')} missing; npm run models fetches them)`, body);
}
