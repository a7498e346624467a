/**
 * Where a training keeps what it must not lose: rows that grow step by step, checkpoints that appear whole, files that
 * are replaced whole. One folder, one writer; whatever moment the process dies at, `keepRows` and the newest checkpoint
 * bring back a state that the run was in.
 */
import { appendFileSync, createReadStream, existsSync } from 'node:fs';
import { readdir, readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../data/make-folder.ts';
import { writeFileAtomic } from '../data/mod.ts';
import { writeFault } from '../data/write-fault.ts';
import { DocOptError } from '../errors.ts';
import type { ArtefactReader, ArtefactWriter } from '../ports.ts';
import type { Manifest } from '../types.ts';
import { createArtefact, MANIFEST, openArtefact } from './artefact.ts';
import { acquireLock } from './lock.ts';

export interface Experiment {
  /** Where it lies, for messages and reports; undefined in memory. */
  readonly folder?: string;
  /** Adds rows to a .jsonl file; each row has a `step`. */
  appendRows(name: string, rows: readonly { readonly step: number }[]): Promise<void>;
  /** Adds facts to the last row of a .jsonl file when it is that step's; in one step, so that no moment is without the row. */
  amendRow(name: string, step: number, facts: Readonly<Record<string, unknown>>): Promise<void>;
  /** Drops the rows after `step` and a last line that was cut off, so that a resumed run writes them again. */
  keepRows(name: string, step: number): Promise<void>;
  /** Steps that have a checkpoint, ascending. */
  checkpoints(): Promise<number[]>;
  /** Writes a checkpoint; it exists only once it is complete. */
  saveCheckpoint(
    step: number,
    write: (artefact: ArtefactWriter) => Promise<void>,
    facts: { parents?: Record<string, string>; info?: Record<string, unknown> },
  ): Promise<Manifest>;
  openCheckpoint(step: number): Promise<ArtefactReader>;
  removeCheckpoint(step: number): Promise<void>;
  /** Replaces a file in one step. */
  writeFile(name: string, content: string | Iterable<string>): Promise<void>;
  readFile(name: string): Promise<Uint8Array | undefined>;
  /** Gives the folder free for other processes. */
  close(): Promise<void>;
}

/** Opens or creates an experiment folder for writing. Throws ENVIRONMENT when another process writes to it. */
export async function openExperiment(folder: string): Promise<Experiment> {
  await makeFolder(join(folder, 'checkpoints'));
  const lock = await acquireLock(join(folder, 'lock'), `training in ${folder}`);
  const checkpoint = (step: number): string => join(folder, checkpointName(step));
  return {
    folder,
    // Twice a step: synchronously some 50 microseconds, asynchronously the round trips cost a hundred times that.
    async appendRows(name, rows) {
      const path = join(folder, name);
      try {
        appendFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      } catch (error) {
        throw writeFault(path, error);
      }
    },
    async amendRow(name, step, facts) {
      const path = join(folder, name);
      if (!existsSync(path)) return;
      const amended = withFacts(await readFile(path, 'utf8'), step, facts);
      if (amended !== undefined) await writeFileAtomic(path, [amended]);
    },
    async keepRows(name, step) {
      const path = join(folder, name);
      if (existsSync(path)) await truncate(path, await bytesUpTo(path, step));
    },
    async checkpoints() {
      const names = await readdir(join(folder, 'checkpoints'));
      return names
        .map((name) => /^step-(\d+)$/.exec(name))
        .filter((match) => match !== null)
        .map((match) => Number(match[1]))
        .filter((step) => existsSync(join(checkpoint(step), MANIFEST)))
        .sort((a, b) => a - b);
    },
    async saveCheckpoint(step, write, facts) {
      const draft = await createArtefact(checkpoint(step), 'checkpoint', { replace: true });
      try {
        await write(draft);
        return await draft.finish(facts);
      } catch (error) {
        await draft.discard();
        throw error;
      }
    },
    openCheckpoint: (step) => openArtefact(checkpoint(step), 'checkpoint', { verify: true }),
    removeCheckpoint: (step) => rm(checkpoint(step), { recursive: true, force: true }),
    writeFile: (name, content) =>
      writeFileAtomic(join(folder, name), typeof content === 'string' ? [content] : content),
    readFile: async (name) => (existsSync(join(folder, name)) ? await readFile(join(folder, name)) : undefined),
    close: () => lock.release(),
  };
}

/** Path of a checkpoint inside its experiment. */
export function checkpointName(step: number): string {
  return `checkpoints/step-${String(step).padStart(6, '0')}`;
}

/** The rows with more facts in the last one; undefined when that is another step's. */
export function withFacts(rows: string, step: number, facts: Readonly<Record<string, unknown>>): string | undefined {
  const start = rows.lastIndexOf('\n', rows.length - 2) + 1;
  const last = rows.slice(start);
  if (stepOf(Buffer.from(last)) !== step) return undefined;
  return `${rows.slice(0, start)}${JSON.stringify({ ...JSON.parse(last), ...facts })}\n`;
}

/** Length of the leading whole lines whose `step` is at most `step`. */
async function bytesUpTo(path: string, step: number): Promise<number> {
  let kept = 0;
  let pending: Buffer[] = [];
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const line = Buffer.concat([...pending, chunk.subarray(start, end)]);
      pending = [];
      if (!((stepOf(line) ?? Number.POSITIVE_INFINITY) <= step)) return kept;
      kept += line.length + 1;
      start = end + 1;
    }
    pending.push(chunk.subarray(start));
  }
  return kept;
}

function stepOf(line: Buffer): number | undefined {
  try {
    return (JSON.parse(line.toString('utf8')) as { step?: number }).step;
  } catch {
    return undefined;
  }
}

/** What a training folder says of itself, without taking its lock. Throws ARTEFACT when there is no finished training. */
export async function readExperiment<C, R>(folder: string): Promise<{ config: C; report: R }> {
  const [config, report] = await Promise.all([
    readJsonFile<C>(join(folder, 'config.json')),
    readJsonFile<R>(join(folder, 'report.json')),
  ]);
  if (config === undefined) {
    throw new DocOptError('ARTEFACT', `'${folder}' holds no training: there is no config.json`, {
      hint: 'Make one with: docopt train --data DATA --retriever RETRIEVER --out EXPERIMENT',
    });
  }
  if (report === undefined) {
    throw new DocOptError('ARTEFACT', `the training in '${folder}' is not finished: there is no report.json`, {
      hint: `Finish it with: docopt train --out ${folder} --resume`,
    });
  }
  return { config, report };
}

/** A JSON file of an experiment; undefined when it is not there. Throws ARTEFACT when it does not parse. */
export async function readJsonFile<T>(path: string): Promise<T | undefined> {
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T;
  } catch (error) {
    throw new DocOptError('ARTEFACT', `${path} does not parse: ${(error as Error).message}`, {
      hint: 'The file is damaged; train again with another --out.',
      cause: error,
    });
  }
}
