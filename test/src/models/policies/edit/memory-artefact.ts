import type { ArtefactReader, ArtefactWriter } from '../../../../../src/ports.ts';

/** An artefact folder in memory: what a policy writes, it can read back. */
export function memoryArtefact(): ArtefactWriter & ArtefactReader {
  const files = new Map<string, Uint8Array>();
  const bytes = (content: string | Uint8Array): Uint8Array =>
    typeof content === 'string' ? Buffer.from(content) : content;
  const file = (name: string): Uint8Array => {
    const content = files.get(name);
    if (content === undefined) throw new Error(`no file ${name}`);
    return content;
  };
  const text = (name: string): string => new TextDecoder().decode(file(name));
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
      files.set(name, bytes(content).slice());
    },
    writeStream: async (name, chunks) => {
      const all: Uint8Array[] = [];
      for await (const chunk of chunks) all.push(bytes(chunk));
      files.set(name, new Uint8Array(Buffer.concat(all)));
    },
    bytes: (name) => file(name).length,
    stream: async function* (name) {
      yield file(name);
    },
    read: async (name) => file(name),
    readText: async (name) => text(name),
    readJson: async <T>(name: string) => JSON.parse(text(name)) as T,
  };
}
