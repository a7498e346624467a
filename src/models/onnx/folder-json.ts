import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DocOptError } from '../../errors.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** A JSON file of a model folder; undefined when it is not there. DATA when it is no JSON, or not of the kind wanted. */
export function readFolderJson(folder: string, name: string): JsonObject | undefined;
export function readFolderJson(folder: string, name: string, kind: 'list'): readonly JsonObject[] | undefined;
export function readFolderJson(folder: string, name: string, kind: 'object' | 'list' = 'object'): unknown {
  const path = join(folder, name);
  if (!existsSync(path)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    const pointer = cause instanceof SyntaxError && readFileSync(path, 'latin1').startsWith('version https://git-lfs');
    throw new DocOptError('DATA', `${path} is no JSON${pointer ? ', it is a Git LFS pointer' : ''}`, {
      hint: 'The model folder is incomplete or damaged; fetch it again.',
      cause,
    });
  }
  const fits =
    kind === 'list' ? Array.isArray(value) : typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!fits) throw new DocOptError('DATA', `${path} holds no JSON ${kind}`, { hint: 'Fetch the model folder again.' });
  return value;
}

/** A whole number >= 1 under one of the keys; undefined when none is there. `model_max_length` can be 1e30, for "none". */
export function countIn(json: JsonObject | undefined, ...keys: readonly string[]): number | undefined {
  for (const key of keys) {
    const value = json?.[key];
    if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value < 1e9) return value;
  }
  return undefined;
}
