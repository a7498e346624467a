/** The index that a command works on: the one that was named, else the latest, with its embedded reranker. */
import { openIndex } from '../../index/mod.ts';
import type { CommandContext } from '../../src/config/command.ts';
import { describeSpec } from '../../src/config/specs.ts';
import { DocOptError } from '../../src/errors.ts';
import { openEmbeddedReranker } from '../../src/models/rerankers/mod.ts';
import type { Reranker } from '../../src/ports.ts';
import { subReader } from '../../src/store/sub-artefact.ts';
import { latest } from '../../src/store/workspace.ts';
import type { ServedIndex } from '../serve/service.ts';

export interface OpenedIndex extends ServedIndex {
  readonly folder: string;
  readonly embedded: Reranker;
}

/** The folder of --index, else the latest one, said aloud; undefined when there is none. */
export function findIndex(given: string | undefined, context: CommandContext): string | undefined {
  if (given !== undefined) return given;
  const found = latest(context.projectFolder, 'index');
  if (found !== undefined) context.log.info(`index: ${found} (the latest)`);
  return found;
}

export function missingIndex(): DocOptError {
  return new DocOptError('USAGE', 'which index? --index is missing and there is none under .docopt/', {
    hint: 'Build one first: docopt index --data DATA --retriever bm25',
  });
}

export async function openServedIndex(folder: string): Promise<OpenedIndex> {
  const { index, corpus, vectors, info, manifest, artefact } = await openIndex(folder);
  const embedded = await openEmbeddedReranker(subReader(artefact, 'reranker'), vectors?.embedder);
  return {
    folder,
    index,
    corpus,
    vectors,
    embedded,
    chain: [
      { kind: manifest.kind, fingerprint: manifest.fingerprint },
      // Paths stay here: they are nobody's business beyond this machine.
      ...(info.chain ?? []).map(({ kind, fingerprint }) => ({ kind, fingerprint })),
    ],
    facts: { retriever: describeSpec(info.retriever), vectors: info.vectors, reranker: info.reranker },
  };
}
