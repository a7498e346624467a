import { loadDataset } from '../src/data/load-dataset.ts';
import {
  SPLIT_DEFAULTS,
  type Splits,
  seededSplit,
  splitOfQrels,
  writableSplitFolder,
} from '../src/data/resolve-splits.ts';
import { readSplit, saveSplit } from '../src/data/split-files.ts';
import type { SplitOptions } from '../src/data/splits.ts';
import { DocOptError } from '../src/errors.ts';

export interface SplitDatasetOptions extends SplitOptions {
  /** Folder of the files; default DATA/splits. */
  readonly out?: string;
  /** Replace a split that was made by hand. */
  readonly force?: boolean;
}

/**
 * Makes the seeded split of a data set and saves it as train.txt, dev.txt and test.txt, in place of an earlier seeded one.
 * Qrels files per split win: then nothing is made, and with `out` their division is written there.
 */
export async function splitDataset(path: string, options: SplitDatasetOptions = {}): Promise<Splits> {
  const { out, force = false, ...asked } = options;
  const dataset = await loadDataset(path, { judged: true });
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
  const earlier = await readSplit(folder, dataset.queries).catch((error) => {
    // Not a split of these queries; whose it is nobody knows.
    if (error instanceof DocOptError) return { settings: {} };
    throw error;
  });
  const warnings = [...split.warnings];
  if (earlier !== undefined) {
    const settings = Object.entries(earlier.settings);
    if (settings.length === 0 && !force) {
      const hint = 'Add --force to replace it, or choose another --out.';
      throw new DocOptError('ENVIRONMENT', `${folder} holds a split that was not made by this command`, { hint });
    }
    const text = settings.map(([key, value]) => `${key} ${value}`).join(', ');
    warnings.push(`replaced an earlier split (${text || 'made by hand'}); results on it compare no more`);
  }
  await saveSplit(folder, split, given === undefined ? { ...SPLIT_DEFAULTS, ...asked } : {}, true);
  return { ...split, folder, warnings };
}
