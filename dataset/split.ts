import { loadTopics } from '../src/data/load-dataset.ts';
import {
  SPLIT_DEFAULTS,
  type Splits,
  seededSplit,
  splitOfQrels,
  writableSplitFolder,
} from '../src/data/resolve-splits.ts';
import { readSplit, type SavedSplit, saveSplit } from '../src/data/split-files.ts';
import type { QuerySplit, SplitOptions } from '../src/data/splits.ts';
import { DocOptError } from '../src/errors.ts';

export interface SplitDatasetOptions extends SplitOptions {
  /** Folder of the files; default DATA/splits. */
  readonly out?: string;
  /** Replace an earlier split. */
  readonly force?: boolean;
}

/**
 * Makes the seeded split of a data set and saves it as train.txt, dev.txt and test.txt. An earlier split that is another one
 * is replaced with `force` only: results that stand on it would compare no more. USAGE without.
 * Qrels files per split win: then nothing is made, and with `out` their division is written there.
 */
export async function splitDataset(path: string, options: SplitDatasetOptions = {}): Promise<Splits> {
  const { out, force = false, ...asked } = options;
  const dataset = await loadTopics(path, { judged: true });
  const given = splitOfQrels(dataset, asked);
  if (given !== undefined && out === undefined) return given;
  const split = given ?? seededSplit(dataset, asked);
  const folder = out ?? (await writableSplitFolder(dataset));
  if (folder === undefined) {
    const hint = 'Give a folder for the files: --out DIR';
    throw new DocOptError('ENVIRONMENT', `${path} is read-only, so the split cannot be saved beside the data`, {
      hint,
    });
  }
  const earlier = await readSplit(folder, dataset.queries).catch(
    (error): Partial<SavedSplit> & { settings: object } => {
      // Not a split of these queries; whose it is nobody knows.
      if (error instanceof DocOptError) return { settings: {} };
      throw error;
    },
  );
  const warnings = [...split.warnings];
  if (earlier !== undefined && isSame(earlier, split)) return { ...split, folder };
  if (earlier !== undefined) {
    const settings = Object.entries(earlier.settings).map(([key, value]) => `${key} ${value}`);
    const text = settings.join(', ') || 'made by hand';
    if (!force) {
      throw new DocOptError('USAGE', `${folder} holds another split (${text})`, {
        hint: 'Add --force to replace it (results on it compare no more), or choose another --out.',
      });
    }
    warnings.push(`replaced an earlier split (${text}); results on it compare no more`);
  }
  await saveSplit(folder, split, given === undefined ? { ...SPLIT_DEFAULTS, ...asked } : {}, true);
  return { ...split, folder, warnings };
}

/** The same queries in each part, whatever their order. */
function isSame(
  earlier: { readonly [part in keyof QuerySplit]?: readonly string[] },
  { train, dev, test }: QuerySplit,
): boolean {
  const key = (ids: readonly string[] = []): string => [...ids].sort().join('\n');
  return key(earlier.train) === key(train) && key(earlier.dev) === key(dev) && key(earlier.test) === key(test);
}
