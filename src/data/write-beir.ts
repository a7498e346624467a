import { DocOptError } from '../errors.ts';
import type { Document, Qrels, Query } from '../types.ts';
import { IdIndex, idFault } from './id.ts';
import { strictReport } from './problem.ts';
import { formatDocumentRow } from './row.ts';
import { writeFolder } from './write-folder.ts';

export interface BeirContent {
  readonly documents: Iterable<Document> | AsyncIterable<Document>;
  /** Left out: the folder has none. */
  readonly queries?: Iterable<Query> | AsyncIterable<Query>;
  /** All judgements (written to qrels/test.tsv), or one set for each split. */
  readonly qrels?: BeirQrels | (() => BeirQrels);
  /** Ids of documents that an earlier version had, for who must take them out: deleted.txt, one a line. */
  readonly deleted?: Iterable<string>;
  /** Further files, by name; asked for last. */
  readonly json?: () => Readonly<Record<string, unknown>>;
}

export type BeirQrels = Qrels | { readonly train?: Qrels; readonly dev?: Qrels; readonly test?: Qrels };

/**
 * Writes a BEIR folder: corpus.jsonl, queries.jsonl, qrels/*.tsv. The folder appears whole or not at all; one that holds
 * anything already is refused, or with `replace` stays until the new one is complete. DATA for ids that the files could not
 * carry or that come twice. Documents are taken first, then queries, then judgements: what depends on the documents can be
 * made of them.
 */
export async function writeBeir(
  folder: string,
  { documents, queries, qrels, deleted, json }: BeirContent,
  options: { replace?: boolean } = {},
): Promise<void> {
  await writeFolder(
    folder,
    async (write) => {
      await write('corpus.jsonl', rows(documents, 'document', formatDocumentRow));
      if (queries !== undefined) {
        await write(
          'queries.jsonl',
          rows(queries, 'query', ({ id, text }) => JSON.stringify({ _id: id, text })),
        );
      }
      const judged = typeof qrels === 'function' ? qrels() : qrels;
      const bySplit = isQrels(judged) ? { test: judged } : (judged ?? {});
      for (const [split, judgements] of Object.entries(bySplit))
        if (judgements !== undefined) await write(`qrels/${split}.tsv`, judgementLines(judgements));
      if (deleted !== undefined)
        await write(
          'deleted.txt',
          Array.from(deleted, (id) => `${id}\n`),
        );
      for (const [name, value] of Object.entries(json?.() ?? {}))
        await write(name, [`${JSON.stringify(value, null, 2)}\n`]);
    },
    options,
  );
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

function isQrels(qrels: BeirQrels | undefined): qrels is Qrels {
  return qrels instanceof Map;
}
