/** An experiment that leaves no trace: for training in process without a folder, and for tests. */
import { DocOptError } from '../errors.ts';
import type { ArtefactReader, ArtefactWriter } from '../ports.ts';
import type { Manifest } from '../types.ts';
import { type Experiment, withFacts } from './experiment.ts';

export interface MemoryExperiment extends Experiment {
  /** Content of the .jsonl and other files by name. */
  readonly files: ReadonlyMap<string, string>;
}

export function createMemoryExperiment(): MemoryExperiment {
  const files = new Map<string, string>();
  const saved = new Map<number, { content: Map<string, Uint8Array>; manifest: Manifest }>();
  return {
    files,
    async appendRows(name, rows) {
      files.set(name, (files.get(name) ?? '') + rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    },
    async amendRow(name, step, facts) {
      const amended = withFacts(files.get(name) ?? '', step, facts);
      if (amended !== undefined) files.set(name, amended);
    },
    async keepRows(name, step) {
      const lines = (files.get(name) ?? '').split('\n').slice(0, -1);
      const kept = lines.filter((line) => (JSON.parse(line) as { step: number }).step <= step);
      files.set(name, kept.map((line) => `${line}\n`).join(''));
    },
    checkpoints: async () => [...saved.keys()].sort((a, b) => a - b),
    async saveCheckpoint(step, write, { parents = {}, info = {} }) {
      const content = new Map<string, Uint8Array>();
      await write(memoryWriter(content));
      const manifest: Manifest = {
        kind: 'checkpoint',
        format: 1,
        createdBy: 'docopt-ir',
        createdAt: '',
        fingerprint: '',
        parents,
        files: Object.fromEntries([...content].map(([name, bytes]) => [name, { bytes: bytes.length, sha256: '' }])),
        info,
      };
      saved.set(step, { content, manifest });
      return manifest;
    },
    async openCheckpoint(step) {
      const checkpoint = saved.get(step);
      if (checkpoint === undefined) {
        throw new DocOptError('ARTEFACT', `there is no checkpoint at step ${step}`, { hint: 'Train again.' });
      }
      return memoryReader(checkpoint.content, checkpoint.manifest);
    },
    async removeCheckpoint(step) {
      saved.delete(step);
    },
    async writeFile(name, content) {
      files.set(name, typeof content === 'string' ? content : [...content].join(''));
    },
    async readFile(name) {
      const content = files.get(name);
      return content === undefined ? undefined : new TextEncoder().encode(content);
    },
    close: async () => {},
  };
}

function memoryWriter(content: Map<string, Uint8Array>): ArtefactWriter {
  const encoder = new TextEncoder();
  return {
    path: noPath,
    async write(name, value) {
      content.set(name, typeof value === 'string' ? encoder.encode(value) : value.slice());
    },
    async writeStream(name, chunks) {
      const parts: Uint8Array[] = [];
      for await (const chunk of chunks) parts.push(typeof chunk === 'string' ? encoder.encode(chunk) : chunk);
      const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
      let offset = 0;
      for (const part of parts) {
        whole.set(part, offset);
        offset += part.length;
      }
      content.set(name, whole);
    },
  };
}

function memoryReader(content: ReadonlyMap<string, Uint8Array>, manifest: Manifest): ArtefactReader {
  const decoder = new TextDecoder();
  const read = async (name: string): Promise<Uint8Array> => {
    const bytes = content.get(name);
    if (bytes === undefined) throw new DocOptError('ARTEFACT', `the checkpoint holds no ${name}`, { hint: '' });
    return bytes;
  };
  return {
    manifest,
    folder: 'memory:',
    has: (name) => content.has(name),
    path: (name) => `memory:${name}`,
    bytes: (name) => content.get(name)?.length ?? 0,
    read,
    stream: async function* (name) {
      yield await read(name);
    },
    readText: async (name) => decoder.decode(await read(name)),
    readJson: async <T>(name: string) => JSON.parse(decoder.decode(await read(name))) as T,
  };
}

function noPath(name: string): never {
  throw new DocOptError('USAGE', `${name} has no path: this training keeps its checkpoints in memory`, {
    hint: 'Give the training a folder.',
  });
}
