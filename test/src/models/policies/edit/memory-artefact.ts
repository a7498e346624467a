import type { ArtefactReader, ArtefactWriter } from '../../../../../src/ports.ts';

/** An artefact folder in memory: what a policy writes, it can read back. */
export function memoryArtefact(): ArtefactWriter & ArtefactReader {
  const files = new Map<string, string>();
  const text = (name: string): string => {
    const content = files.get(name);
    if (content === undefined) throw new Error(`no file ${name}`);
    return content;
  };
  return {
    manifest: {
      kind: 'checkpoint',
      format: 1,
      createdBy: 'test',
      createdAt: '',
      fingerprint: '',
      parents: {},
      files: {},
      info: {},
    },
    folder: 'memory',
    has: (name) => files.has(name),
    path: (name) => `memory/${name}`,
    write: async (name, content) => {
      files.set(name, typeof content === 'string' ? content : new TextDecoder().decode(content));
    },
    writeStream: async (name, chunks) => {
      let all = '';
      for await (const chunk of chunks) all += typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk);
      files.set(name, all);
    },
    bytes: (name) => new TextEncoder().encode(text(name)).length,
    stream: async function* (name) {
      yield new TextEncoder().encode(text(name));
    },
    read: async (name) => new TextEncoder().encode(text(name)),
    readText: async (name) => text(name),
    readJson: async <T>(name: string) => JSON.parse(text(name)) as T,
  };
}
