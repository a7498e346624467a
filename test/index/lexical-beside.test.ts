/** The BM25 index that lies beside a retriever without words, in a real artefact. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildIndex, createRetriever, openIndex } from '../../index/mod.ts';
import { bm25Schema, retrieverSchema } from '../../src/config/specs.ts';
import { arrayCorpus } from '../../src/data/mod.ts';
import { silentLog } from '../../src/run/log.ts';
import { createArtefact } from '../../src/store/artefact.ts';
import { temporaryFolder } from '../support/temp-folder.ts';

const texts = ['night sky', 'street lamps at night', 'moths', 'a turtle on the beach', 'stars in the sky'];
const corpus = arrayCorpus(texts.map((text, i) => ({ id: `d${i}`, title: '', text })));

async function build(block: object, lexical: 'english' | undefined, info: object) {
  const folder = join(temporaryFolder(), 'idx');
  const artefact = await createArtefact(folder, 'index');
  const retriever = retrieverSchema.parse(block);
  await buildIndex({
    corpus,
    documentText: 'title+text',
    retriever: createRetriever(retriever),
    lexical,
    artefact,
    log: silentLog,
  });
  await artefact.finish({
    parents: {},
    info: {
      retriever,
      documentText: 'title+text',
      documents: corpus.size,
      vectors: 'retriever',
      reranker: '',
      chain: [],
      ...info,
    },
  });
  return openIndex(folder);
}

const lsa = { driver: 'dense', embedder: { driver: 'lsa', dimensions: 3 } };

it('gives a dense index its BM25 scores', async () => {
  const { lexical, index } = await build(lsa, 'english', { lexical: 'english' });
  expect(lexical!.analyzer).toBe('english');
  expect(lexical!.index).not.toBe(index);
  const plain = await createRetriever(bm25Schema.parse({ driver: 'bm25' })).build(corpus);
  const query = [{ id: 'q', text: 'night lamp' }];
  expect(await lexical!.index.similarities(query, [...corpus.ids])).toEqual(
    await plain.similarities(query, [...corpus.ids]),
  );
});

it('is not there in indexes that were built without it', async () => {
  expect((await build(lsa, undefined, {})).lexical).toBeUndefined();
});

it('of a lexical index is the index itself', async () => {
  const { lexical, index } = await build({ driver: 'bm25', analyzer: 'code' }, undefined, { vectors: 'none' });
  expect(lexical).toEqual({ index, analyzer: 'code' });
});
