import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { statOrUndefined } from './bytes.ts';
import { dataError } from './problem.ts';

/** What a data set says of itself, in its `dataset.json`. Carried into every manifest made from it. */
export interface DatasetCard {
  readonly name: string;
  /** As its owner names it; 'unknown' until somebody says it. */
  readonly license: string;
  readonly source: string | null;
  /** BCP 47 names where known: 'en', 'de', 'ja'. */
  readonly languages: readonly string[];
  /** How it wants to be cited. */
  readonly citation: string | null;
}

export const CARD_FILE = 'dataset.json';

/** The card beside the data, its gaps filled: the folder's name, an unknown licence. DATA when the file is no card. */
export async function readDatasetCard(path: string): Promise<DatasetCard> {
  const stats = await statOrUndefined(path);
  const folder = stats?.isDirectory() === false ? dirname(path) : path;
  const given = await readGiven(join(folder, CARD_FILE));
  return completeCard(given ?? {}, basename(resolve(path)).replace(/\.(jsonl|ndjson|csv|tsv)(\.gz)?$/i, ''));
}

/** Gaps of a card filled; nothing is guessed. */
export function completeCard(given: Partial<DatasetCard>, name: string): DatasetCard {
  const { license = 'unknown', source = null, languages = [], citation = null } = given;
  return { name: given.name ?? name, license, source, languages, citation };
}

/** The card of a folder as it stands there, undefined without one. */
export async function readGiven(file: string): Promise<Partial<DatasetCard> | undefined> {
  if ((await statOrUndefined(file)) === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch (cause) {
    throw dataError(file, `is not JSON (${(cause as Error).message})`, EXPECTED, cause);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw dataError(file, 'is no JSON object', EXPECTED);
  const { name, license, source, languages, citation } = value as Record<string, unknown>;
  for (const [key, text] of Object.entries({ name, license, source, citation }))
    if (text !== undefined && text !== null && typeof text !== 'string')
      throw dataError(file, `'${key}' must be text`, EXPECTED);
  const list = typeof languages === 'string' ? [languages] : (languages ?? undefined);
  if (list !== undefined && !(Array.isArray(list) && list.every((one) => typeof one === 'string')))
    throw dataError(file, "'languages' must be a list of names", EXPECTED);
  const text = (one: unknown): string | undefined => (typeof one === 'string' && one !== '' ? one : undefined);
  return {
    name: text(name),
    license: text(license),
    source: text(source),
    languages: list as string[] | undefined,
    citation: text(citation),
  };
}

const EXPECTED =
  'Expected {"name": "...", "license": "CC-BY-4.0", "source": "https://...", "languages": ["en"], "citation": "..."}.';

/** The card of a corpus: what the manifest of a rewritten one carries, else that beside the data. */
export async function cardOfCorpus(
  path: string,
  manifest?: { readonly info: Readonly<Record<string, unknown>> },
): Promise<DatasetCard> {
  const carried = manifest?.info.dataset;
  const isCard = typeof carried === 'object' && carried !== null && !Array.isArray(carried);
  return isCard ? completeCard(carried as Partial<DatasetCard>, basename(resolve(path))) : readDatasetCard(path);
}
