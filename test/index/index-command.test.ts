/** `docopt index` on files: what the artefact holds, how its texts are read, and what it says of its reranker. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { indexCorpus } from '../../index/commands/index.ts';
import { openIndex } from '../../index/mod.ts';
import type { CommandContext } from '../../src/config/command.ts';
import { indexSchema } from '../../src/config/schemas/mod.ts';
import { bm25Schema, denseSchema } from '../../src/config/specs.ts';
import { writeBeir } from '../../src/data/mod.ts';
import { openEmbeddedReranker } from '../../src/models/rerankers/mod.ts';
import { silentLog } from '../../src/run/log.ts';
import { subReader } from '../../src/store/sub-artefact.ts';
import type { Qrels } from '../../src/types.ts';
import { temporaryFolder } from '../support/temp-folder.ts';
import { topicCollection } from '../support/topic-collection.ts';

const { documents, queries, qrels } = topicCollection(40, 3);
const LSA = denseSchema.parse({ driver: 'dense', embedder: { driver: 'lsa', dimensions: 20 } });

async function indexOf(options: Record<string, unknown>, judged: Qrels = qrels) {
  const project = temporaryFolder();
  const data = join(project, 'data');
  const asked = queries.filter(({ id }) => judged.has(id));
  mkdirSync(data);
  await writeBeir(data, { documents, queries: asked, qrels: { test: judged } });
  const warned: string[] = [];
  const context: CommandContext = {
    program: 'docopt',
    log: { ...silentLog, warn: (message) => void warned.push(message) },
    json: true,
    cwd: project,
    projectFolder: project,
    env: {},
    signal: new AbortController().signal,
    typed: [{ name: 'data', value: data }],
    given: new Set(),
    print: () => {},
  };
  const { folder, json } = await indexCorpus(indexSchema.parse({ data, ...options }), context);
  const has = (name: string): boolean => existsSync(join(folder, name));
  const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
  return { folder, json: json as { reranker: string; warnings: string[] }, has, read, warned };
}

describe('docopt index', () => {
  it('an lsa retriever and the reranker share one model, kept once', async () => {
    const { folder, has, read } = await indexOf({ retriever: LSA, train: 0.9 });
    expect(['retriever/lsa.f32', 'lsa/lsa.f32', 'reranker/lsa.f32'].map(has)).toEqual([true, false, false]);
    const { index, corpus, vectors, artefact } = await openIndex(folder);
    expect(read('reranker/features.json').embedder).toBe(vectors!.embedder!.id);
    expect(vectors!.embedder).toBe(index.embedder);
    const reranker = await openEmbeddedReranker(subReader(artefact, 'reranker'), { index, corpus }, vectors!.embedder);
    const [score] = await reranker.score(queries[0], [documents[0]]);
    expect(score > 0 && score < 1).toBe(true);
  });

  it('reads the collection as its retriever does: vectors and reranker have the same analyzer', async () => {
    const code = await indexOf({ retriever: bm25Schema.parse({ driver: 'bm25', analyzer: 'code' }) });
    expect(['lsa/lsa.json', 'reranker/features.json'].map((name) => code.read(name).analyzer)).toEqual([
      'code',
      'code',
    ]);
    const embedder = { ...LSA.embedder, analyzer: 'standard' };
    const dense = await indexOf({ retriever: denseSchema.parse({ driver: 'dense', embedder }) });
    expect(['retriever/lsa.json', 'reranker/features.json'].map((name) => dense.read(name).analyzer)).toEqual([
      'standard',
      'standard',
    ]);
    const plain = await indexOf({ retriever: LSA });
    expect(plain.read('retriever/lsa.json').analyzer).toBe('english');
  });

  it('a scorer without an index of its own carries its model', async () => {
    const { has } = await indexOf({ retriever: bm25Schema.parse({ driver: 'bm25' }), embedder: 'none' });
    expect(['lsa/lsa.f32', 'reranker/lsa.f32'].map(has)).toEqual([false, true]);
  });

  it('warns when the reranker is worse than the first stage, in the log and in its answer', async () => {
    const retriever = bm25Schema.parse({ driver: 'bm25' });
    const good = await indexOf({ retriever, train: 0.9 });
    expect(good.warned.filter((message) => /reranker/.test(message))).toEqual([]);
    // Judged so that the first stage is always right: only its best document is relevant.
    const { index } = await openIndex(good.folder);
    const best = await index.search(queries.slice(0, 10), 1);
    const judged = new Map(best.map(({ ids }, i) => [queries[i].id, new Map([[ids[0], 1]])]));
    const { json, warned } = await indexOf({ retriever, train: 0.9 }, judged);
    expect(json.reranker).toMatch(/fusion.*held-out AUC 0\.\d+, first stage 1\.000/);
    expect(json.warnings).toEqual([expect.stringMatching(/does not earn its calls here.*--train/)]);
    expect(warned).toEqual(expect.arrayContaining(json.warnings));
  });
});
