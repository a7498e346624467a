/** An export to where it is wanted: whole or not at all, and never over anything that is no earlier export. */
import { type BeirContent, writeBeir, writeFileAtomic } from '../../src/data/mod.ts';
import { writeFolder } from '../../src/data/write-folder.ts';
import { writeParts } from '../../src/data/write-parts.ts';
import { type ExportFormat, isTextFormat, textChunks } from './formats.ts';
import { npyChunks } from './npy.ts';
import { parquetChunks } from './parquet.ts';
import type { Export } from './types.ts';

export interface WriteOptions {
  readonly replace: boolean;
  /** Of one file; what is longer goes into FILE.0001, FILE.0002, ... cut between records. */
  readonly partBytes?: number;
  /** For BEIR: what belongs to the documents, where it is known. */
  readonly topics?: Pick<BeirContent, 'queries' | 'qrels'>;
}

/** Returns the paths written. */
export async function writeExport(
  format: ExportFormat,
  what: Export,
  out: string,
  options: WriteOptions,
): Promise<string[]> {
  if (isTextFormat(format)) {
    if (options.partBytes !== undefined) return writeParts(out, textChunks(format, what), options.partBytes);
    await writeFileAtomic(out, textChunks(format, what));
    return [out];
  }
  switch (format) {
    case 'parquet':
      await writeFileAtomic(out, parquetChunks(what));
      return [out];
    case 'beir': {
      const deleted = what.isChange ? what.deletes : undefined;
      await writeBeir(out, { documents: beirDocuments(what), ...options.topics, deleted }, options);
      return [out];
    }
    case 'npy':
      await writeNpy(what, out, options);
      return [out];
    default:
      throw new Error(`unknown format ${format satisfies never}`);
  }
}

/** Rows whose text is the rewrite, as other tools index them; the original goes along in the metadata. */
async function* beirDocuments({ documents }: Export) {
  for await (const { id, title, text, searchText, metadata } of documents())
    yield { id, title: '', text: searchText, metadata: { ...metadata, docopt_original: { title, text } } };
}

async function writeNpy(what: Export, out: string, options: WriteOptions): Promise<void> {
  await writeFolder(
    out,
    async (write) => {
      const ids: string[] = [];
      await write(
        'vectors.npy',
        npyChunks(what, (id) => ids.push(id)),
      );
      await write('ids.txt', lines(ids));
      if (what.isChange) await write('deleted.txt', lines(what.deletes));
    },
    options,
  );
}

function lines(ids: readonly string[]): string[] {
  return ids.map((id) => `${id}\n`);
}
