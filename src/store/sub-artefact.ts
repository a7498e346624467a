/** A view of one folder inside an artefact, so that every driver can choose its own file names. */
import type { ArtefactReader, ArtefactWriter } from '../ports.ts';

export function subWriter(writer: ArtefactWriter, folder: string): ArtefactWriter {
  const at = (name: string): string => `${folder}/${name}`;
  return {
    path: (name) => writer.path(at(name)),
    write: (name, content) => writer.write(at(name), content),
    writeStream: (name, chunks) => writer.writeStream(at(name), chunks),
  };
}

export function subReader(reader: ArtefactReader, folder: string): ArtefactReader {
  const at = (name: string): string => `${folder}/${name}`;
  return {
    manifest: reader.manifest,
    folder: reader.path(folder),
    has: (name) => reader.has(at(name)),
    path: (name) => reader.path(at(name)),
    bytes: (name) => reader.bytes(at(name)),
    read: (name) => reader.read(at(name)),
    stream: (name) => reader.stream(at(name)),
    readText: (name) => reader.readText(at(name)),
    readJson: <T>(name: string) => reader.readJson<T>(at(name)),
  };
}
