import { readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DocOptError } from '../errors.ts';
import type { Document, Qrels, Query } from '../types.ts';
import { removeLeftovers, syncFolder, temporaryName, writeDurably } from './atomic.ts';
import { statOrUndefined } from './bytes.ts';
import { IdIndex, idFault } from './id.ts';
import { makeFolder } from './make-folder.ts';
import { strictReport } from './problem.ts';
import { formatDocumentRow } from './row.ts';

export interface BeirContent {
  readonly documents: Iterable<Document> | AsyncIterable<Document>;
  readonly queries: Iterable<Query> | AsyncIterable<Query>;
  /** All judgements (written to qrels/test.tsv), or one set for each split. */
  readonly qrels: Qrels | { readonly train?: Qrels; readonly dev?: Qrels; readonly test?: Qrels };
}

/**
 * Writes a BEIR folder: corpus.jsonl, queries.jsonl, qrels/*.tsv. The folder appears whole or not at all; one that holds
 * anything already is refused, or with `replace` stays until the new one is complete. DATA for ids that the files could not
 * carry or that come twice.
 */
export async function writeBeir(
  folder: string,
  { documents, queries, qrels }: BeirContent,
  { replace = false }: { replace?: boolean } = {},
): Promise<void> {
  if (!replace) await refuseContent(folder);
  await makeFolder(dirname(folder));
  await removeLeftovers(folder);
  const temporary = temporaryName(folder);
  try {
    await makeFolder(join(temporary, 'qrels'));
    await writeDurably(join(temporary, 'corpus.jsonl'), rows(documents, 'document', formatDocumentRow));
    await writeDurably(
      join(temporary, 'queries.jsonl'),
      rows(queries, 'query', ({ id, text }) => JSON.stringify({ _id: id, text })),
    );
    const bySplit = isQrels(qrels) ? { test: qrels } : qrels;
    for (const [split, judgements] of Object.entries(bySplit)) {
      if (judgements !== undefined)
        await writeDurably(join(temporary, 'qrels', `${split}.tsv`), judgementLines(judgements));
    }
    await syncFolder(join(temporary, 'qrels'));
    await syncFolder(temporary);
    if (replace) await putInPlace(temporary, folder);
    else {
      await refuseContent(folder);
      // Renaming over an empty folder is not possible everywhere.
      if (await statOrUndefined(folder)) await rmdir(folder);
      await rename(temporary, folder);
    }
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
  await syncFolder(dirname(folder));
}

async function putInPlace(temporary: string, folder: string): Promise<void> {
  const earlier = temporaryName(folder);
  const stood = (await statOrUndefined(folder)) !== undefined;
  if (stood) await rename(folder, earlier);
  await rename(temporary, folder);
  if (stood) await rm(earlier, { recursive: true, force: true });
}

async function refuseContent(folder: string): Promise<void> {
  const stats = await statOrUndefined(folder);
  if (stats === undefined || (stats.isDirectory() && (await readdir(folder)).length === 0)) return;
  const what = stats.isDirectory() ? 'the folder exists and is not empty' : 'is a file; expected a new folder';
  throw new DocOptError('USAGE', `${folder}: ${what}`, { hint: 'Choose another --out, or remove it first.' });
}

async function* rows<T extends { readonly id: string }>(
  items: Iterable<T> | AsyncIterable<T>,
  what: string,
  format: (item: T) => string,
): AsyncGenerator<string> {
  const index = new IdIndex(what);
  for await (const item of items) {
    index.add(item.id, `${what} ${index.ids.length + 1}`, null, strictReport());
    yield `${format(item)}\n`;
  }
}

function* judgementLines(qrels: Qrels): Generator<string> {
  yield 'query-id\tcorpus-id\tscore\n';
  for (const [queryId, judged] of qrels) {
    for (const [documentId, grade] of judged) {
      const fault =
        idFault(queryId) ??
        idFault(documentId) ??
        (Number.isSafeInteger(grade) ? undefined : `grade ${grade} is not an integer`);
      if (fault !== undefined)
        throw new DocOptError('DATA', `cannot write the judgements of '${queryId}': ${fault}`, {
          hint: 'Ids have no white space; grades are integers.',
        });
      yield `${queryId}\t${documentId}\t${grade}\n`;
    }
  }
}

function isQrels(qrels: BeirContent['qrels']): qrels is Qrels {
  return qrels instanceof Map;
}
