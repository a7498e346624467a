/** A small real collection: documented functions of this project's own sources, made by the real command. */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runJson } from './cli.ts';

const root = join(import.meta.dirname, '..', '..');

/** Makes it in a fresh folder inside `folder`. */
export async function makeCodeData(folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const out = join(folder, 'code-data');
  if (existsSync(out)) rmSync(out, { recursive: true });
  await runJson(['docopt', 'dataset', 'from-code', join(root, 'src'), '--out', out]);
  return out;
}
