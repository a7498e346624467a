/** `--previous`: what an earlier index spares, and that it changes nothing in what comes out. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { indexCorpus } from '../../index/commands/index.ts';
import { openIndex } from '../../index/mod.ts';
import { reusableOf } from '../../index/previous-index.ts';
import { createDenseRetriever } from '../../index/retrievers/dense.ts';
import type { CommandContext } from '../../src/config/command.ts';
import { indexSchema } from '../../src/config/schemas/mod.ts';
import { retrieverSchema } from '../../src/config/specs.ts';
import { arrayCorpus, writeBeir } from '../../src/data/mod.ts';
import type { Embedder } from '../../src/ports.ts';
import { silentLog } from '../../src/run/log.ts';
import type { Document } from '../../src/types.ts';
import { temporaryFolder } from '../support/temp-folder.ts';
import { topicCollection } from '../support/topic-collection.ts';

const { documents, queries, qrels } = topicCollection(40, 3);
const changed = documents.map((document, i) => (i === 3 ? { ...document, text: `${document.text} again` } : document));
const BM25 = retrieverSchema.parse({ driver: 'bm25' });
const LSA = retrieverSchema.parse({ driver: 'dense', embedder: { driver: 'lsa', dimensions: 20 } });

interface Built {
  readonly folder: string;
  readonly fingerprint: string;
  readonly reused?: { vectors: number; lsa: boolean };
}

async function build(contents: readonly Document[], options: Record<string, unknown>): Promise<Built> {
  const project = temporaryFolder();
  const data = join(project, 'data');
  mkdirSync(data);
  await writeBeir(data, { documents: contents, queries, qrels: { test: qrels } });
  const context = {
    program: 'docopt',
    log: silentLog,
    cwd: project,
    projectFolder: project,
    env: {},
    signal: new AbortController().signal,
    typed: [{ name: 'data', value: data }],
    given: new Set(),
  } as unknown as CommandContext;
  const { folder, json } = await indexCorpus(indexSchema.parse({ data, ...options }), context);
  return { folder, ...(json as { fingerprint: string; reused?: Built['reused'] }) };
}

describe('docopt index --previous', () => {
  it.each([
    ['bm25: the vectors for morph', BM25, { vectors: 0, lsa: true }],
    ['lsa: every vector', LSA, { vectors: documents.length, lsa: false }],
  ])(
    '%s of the same documents are taken over, and the artefact is the same bit for bit',
    async (_, retriever, reused) => {
      const before = await build(documents, { retriever });
      const after = await build(documents, { retriever, previous: before.folder });
      expect([before.reused, after.reused]).toEqual([undefined, reused]);
      expect(after.fingerprint).toBe(before.fingerprint);
    },
  );

  it.each([
    ['bm25', BM25],
    ['lsa', LSA],
  ])(
    '%s: other documents, other settings, another retriever take nothing over, and nothing wrong',
    async (_, retriever) => {
      const before = await build(documents, { retriever });
      const fresh = await build(changed, { retriever });
      const after = await build(changed, { retriever, previous: before.folder });
      expect(after.reused).toEqual({ vectors: 0, lsa: false });
      expect(after.fingerprint).toBe(fresh.fingerprint);
      expect(after.fingerprint).not.toBe(before.fingerprint);
      const other = retriever === BM25 ? LSA : BM25;
      const crossed = await build(documents, { retriever: other, previous: before.folder });
      expect(crossed.reused).toEqual({ vectors: 0, lsa: false });
      expect(crossed.fingerprint).toBe((await build(documents, { retriever: other })).fingerprint);
      if (retriever !== BM25) return;
      const wider = await build(documents, { retriever, previous: before.folder, lsaDimensions: 7 });
      expect(wider.reused).toEqual({ vectors: 0, lsa: false });
    },
  );

  it('an embedder is asked for new texts only', async () => {
    const asked: string[][] = [];
    const embedder: Embedder = {
      id: 'letters',
      dimensions: 2,
      async embed(texts) {
        asked.push([...texts]);
        const data = Float32Array.from(texts.flatMap((text) => [Math.cos(text.length), Math.sin(text.length)]));
        return { rows: texts.length, columns: 2, data };
      },
    };
    const retriever = createDenseRetriever({ embedder });
    const text = (id: string, words: string): Document => ({ id, title: '', text: words });
    const first = arrayCorpus([text('a', 'one'), text('b', 'three'), text('c', ' ')]);
    const previous = {
      ...(await openIndex((await build(documents, { retriever: LSA })).folder)),
      corpus: first,
      index: await retriever.build(first),
    };
    asked.length = 0;
    // Another order, an id that has moved on, a new text, a blank one.
    const next = arrayCorpus([text('b', 'seven'), text('x', 'three'), text('a', 'one'), text('e', '')]);
    const reusable = reusableOf(previous, next, { retriever: LSA, documentText: 'title+text' });
    const reused = await retriever.build(next, reusable.known);
    expect([asked, reusable.taken()]).toEqual([[['seven']], 2]);
    const fresh = await retriever.build(next);
    expect(await reused.embeddings!(next.ids)).toEqual(await fresh.embeddings!(next.ids));
  });
});
