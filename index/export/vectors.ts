/** Document vectors of an index artefact, for the corpus that it was made of and no other. */
import { DocOptError } from '../../src/errors.ts';
import type { ModelServices } from '../../src/models/services.ts';
import type { Corpus } from '../../src/types.ts';
import { openIndex } from '../open-index.ts';
import type { CorpusChanges } from './changes.ts';
import type { ExportVectors } from './plan.ts';

export interface OpenedVectors extends ExportVectors {
  /** Which face of the documents they were made of. */
  readonly of: 'rewrites' | 'originals';
  /** What whoever uses them should know. */
  readonly note?: string;
}

/**
 * Throws ARTEFACT when the index was made of another corpus, or has no vectors; USAGE when `changes` are wanted of vectors
 * that were fitted on the whole collection, which changed: then every vector is another one.
 */
export async function openExportVectors(
  indexFolder: string,
  { folder, corpus, fingerprint }: { readonly folder: string; readonly corpus: Corpus; readonly fingerprint: string },
  changes: CorpusChanges | undefined,
  services: ModelServices,
): Promise<OpenedVectors> {
  const opened = await openIndex(indexFolder, services);
  const { manifest, vectors } = opened;
  const rebuild = `Build one of it with: docopt index --corpus ${folder} --retriever RETRIEVER --out INDEX`;
  if (manifest.parents.corpus !== fingerprint) {
    const found = manifest.parents.corpus;
    const of = found === undefined ? 'plain data, not of a rewritten corpus' : `corpus ${found.slice(0, 12)}`;
    throw new DocOptError(
      'ARTEFACT',
      `index '${indexFolder}' was made of ${of}; ${folder} is ${fingerprint.slice(0, 12)}`,
      { hint: rebuild },
    );
  }
  const missing = corpus.ids.find((id) => opened.corpus.positionOf(id) === undefined);
  if (missing !== undefined) {
    throw new DocOptError('ARTEFACT', `index '${indexFolder}' has no document '${missing}', which ${folder} has`, {
      hint: `The index is damaged. ${rebuild}`,
    });
  }
  if (vectors === undefined) {
    throw new DocOptError('ARTEFACT', `index '${indexFolder}' has no vectors`, {
      hint: 'Build it with a dense retriever, or without --embedder none.',
    });
  }
  if (changes !== undefined && vectors.embedder !== undefined && !changes.sameOriginals) {
    throw new DocOptError(
      'USAGE',
      `the vectors of '${indexFolder}' (${vectors.embedder.id}) were fitted on all documents; as some are others now, all vectors are`,
      { hint: 'Export everything (without --changed-since), or use an embedder that is not fitted on the collection.' },
    );
  }
  const { columns } = await vectors.documents(corpus.ids.slice(0, 1));
  return {
    dimensions: columns,
    documents: (ids) => vectors.documents(ids),
    ...(vectors.source === 'retriever'
      ? { of: 'rewrites' }
      : {
          of: 'originals',
          note: 'these vectors are those of the original documents (made for morph); a dense retriever has vectors of the rewrites',
        }),
  };
}
