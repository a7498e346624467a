/**
 * Batch jobs that are under way at a vendor, one small file each under .docopt/batches: what survives days and kills. A file
 * is there before anything is sent, and goes when every answer of the job is on record.
 */
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '../data/atomic.ts';
import { makeFolder } from '../data/make-folder.ts';
import { DocOptError } from '../errors.ts';

export interface BatchState {
  readonly format: 1;
  /** Hash of the requests: the name of the job on both sides. */
  readonly part: string;
  readonly driver: 'openai' | 'anthropic';
  readonly url: string;
  /** The environment variable of the key, where it is not the service's own. */
  readonly authFrom?: string;
  readonly model: string;
  readonly route: string;
  /** Epoch milliseconds, before it was sent. */
  readonly at: number;
  /** sending: nobody knows yet whether the vendor has it. cancelled: by this project. */
  readonly status: 'sending' | 'open' | 'cancelled';
  /** The vendor's name of the job, and of its input file. */
  readonly batch?: string;
  readonly file?: string;
  /** Jobs that looked like it and were found to be another's. */
  readonly notThese?: readonly string[];
  /** US dollars that it can cost at most; 0 where no price is known. */
  readonly upToUsd: number;
  /** The keys under which the answers go on record, which are the custom ids of the requests too. */
  readonly requests: readonly string[];
}

export interface BatchStore {
  list(): Promise<BatchState[]>;
  get(part: string): Promise<BatchState | undefined>;
  save(state: BatchState): Promise<void>;
  remove(part: string): Promise<void>;
}

export function batchStore(projectFolder: string): BatchStore {
  const folder = join(projectFolder, '.docopt', 'batches');
  const pathOf = (part: string): string => join(folder, `${part}.json`);
  const read = async (part: string): Promise<BatchState | undefined> => {
    if (!existsSync(pathOf(part))) return undefined;
    try {
      const state = JSON.parse(await readFile(pathOf(part), 'utf8')) as BatchState;
      if (state.format === 1 && Array.isArray(state.requests)) return state;
    } catch {
      // Said below, as for a file of another version.
    }
    throw new DocOptError('ARTEFACT', `${pathOf(part)} is no batch job of this version`, {
      hint: "Look for the job on the vendor's page; without the file its requests are sent, and paid, again.",
    });
  };
  return {
    async list() {
      if (!existsSync(folder)) return [];
      const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
      const states = await Promise.all(names.map((name) => read(name.slice(0, -'.json'.length))));
      return states.filter((state) => state !== undefined).sort((a, b) => a.at - b.at || (a.part < b.part ? -1 : 1));
    },
    get: read,
    async save(state) {
      await makeFolder(folder);
      await writeFileAtomic(pathOf(state.part), `${JSON.stringify(state)}\n`);
    },
    remove: (part) => rm(pathOf(part), { force: true }),
  };
}
