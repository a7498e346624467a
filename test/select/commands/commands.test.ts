/** `morph select` and `morph serve` as commands: on a real index artefact, on pool files, and what they refuse. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildIndex, createRetriever } from '../../../index/mod.ts';
import { selectCommand } from '../../../select/commands/select.ts';
import { serveCommand } from '../../../select/commands/serve.ts';
import type { SelectAnswer } from '../../../select/select.ts';
import type { CommandContext } from '../../../src/config/command.ts';
import { selectSchema, serveSchema } from '../../../src/config/schemas/mod.ts';
import { bm25Schema } from '../../../src/config/specs.ts';
import { arrayCorpus, corpusWithTexts } from '../../../src/data/mod.ts';
import { fitLsa } from '../../../src/models/embedders/mod.ts';
import { fitEmbeddedReranker } from '../../../src/models/rerankers/mod.ts';
import { silentLog } from '../../../src/run/log.ts';
import { createArtefact } from '../../../src/store/artefact.ts';
import { subWriter } from '../../../src/store/sub-artefact.ts';
import { rememberLatest } from '../../../src/store/workspace.ts';
import { EXAMPLE_SCORES, exampleVectors } from '../../support/pools.ts';
import { DOCUMENTS } from '../../support/served-index.ts';
import { folderWith, temporaryFolder } from '../../support/temp-folder.ts';

let project = '';
let fingerprint = '';
beforeAll(async () => {
  project = temporaryFolder();
  const folder = join(project, 'idx');
  const artefact = await createArtefact(folder, 'index');
  const spec = bm25Schema.parse({ driver: 'bm25' });
  const corpus = corpusWithTexts(
    arrayCorpus(DOCUMENTS),
    DOCUMENTS.map(({ text }) => `${text} pollution`),
  );
  const built = await buildIndex({
    corpus,
    documentText: 'title+text',
    retriever: createRetriever(spec),
    fitEmbedder: (texts) => fitLsa(texts, { dimensions: 8 }),
    artefact,
    log: silentLog,
  });
  const reranker = await fitEmbeddedReranker({
    corpus,
    index: built.index,
    seed: 1,
    artefact: subWriter(artefact, 'reranker'),
    embedder: built.embedder,
  });
  const manifest = await artefact.finish({
    parents: { corpus: 'parent' },
    info: {
      documents: corpus.size,
      documentText: 'title+text',
      retriever: spec,
      vectors: 'lsa',
      reranker: reranker.description,
      chain: [{ kind: 'corpus', fingerprint: 'parent', path: '/home/me/secret-project' }],
    },
  });
  fingerprint = manifest.fingerprint;
  await rememberLatest(project, 'index', folder);
});

function contextOf(changes: Partial<CommandContext> = {}): { context: CommandContext; lines: string[] } {
  const lines: string[] = [];
  const log = (level: string) => (message: string) => void lines.push(`${level}: ${message}`);
  const context: CommandContext = {
    program: 'morph',
    log: { ...silentLog, info: log('info'), warn: log('warn'), debug: log('debug') },
    json: false,
    cwd: project,
    projectFolder: project,
    env: {},
    signal: new AbortController().signal,
    typed: [],
    given: new Set(),
    print: (line) => void lines.push(line),
    ...changes,
  };
  return { context, lines };
}

type Json = SelectAnswer & { embeddings: string; pool: number; selected: { text: string; title: string }[] };

async function runSelect(options: Record<string, unknown>, changes: Partial<CommandContext> = {}) {
  const { context, lines } = contextOf(changes);
  const result = await selectCommand.run(selectSchema.parse(options), context);
  return { json: result.json as Json, text: result.text!, lines };
}

const poolFile = (value: unknown): string => {
  const folder = folderWith({ 'pool.json': typeof value === 'string' ? value : JSON.stringify(value) });
  return join(folder, 'pool.json');
};

const example = () => ({
  query: { text: 'q', embedding: [1, 0] },
  documents: exampleVectors().map((embedding, d) => ({
    id: `d${d}`,
    text: `text ${d}`,
    embedding,
    score: EXAMPLE_SCORES[d],
  })),
});

describe('morph select', () => {
  it('gives the worked example from a pool file', async () => {
    const { json, text } = await runSelect({
      pool: poolFile(example()),
      budget: 3,
      capacity: 2,
      all: true,
      selector: { driver: 'boundary-morph' },
      reranker: { driver: 'recorded' },
    });
    expect(json.calls).toEqual(['d2', 'd1', 'd5']);
    expect(json.selected.map(({ id }) => id)).toEqual(['d3', 'd4', 'd2', 'd0', 'd1', 'd5']);
    expect(Math.abs(json.selected[0].relevanceScore! - 1.2790397889)).toBeLessThan(1e-8);
    expect(json).toMatchObject({
      budget: 3,
      capacity: 2,
      selector: 'boundary-morph',
      reranker: 'recorded',
      embeddings: 'given',
      failed: [],
    });
    expect(text).toMatch(/asked, in order: d2 d1 d5/);
    expect(text).toMatch(/1 {2}1\.2790 ±0\.0773 {2}estimated {2}first stage {4}4 {2}d3 {2}text 3/);
  });

  it('takes the recorded scores when no reranker is named, and says so', async () => {
    const { json, lines } = await runSelect({ pool: poolFile(example()), budget: 3, capacity: 2 });
    expect(json.reranker).toBe('recorded');
    expect(lines).toContain('info: reranker: recorded (the scores of the pool)');
    expect(json.selected).toHaveLength(2);
  });

  it('embeds a pool that has no embeddings, and says so', async () => {
    const documents = DOCUMENTS.slice(0, 9).map(({ id, text }, i) => ({ id, text, score: i % 3 === 0 ? null : 0.4 }));
    const { json, lines } = await runSelect({ pool: poolFile({ query: 'moth', documents }), budget: 9, capacity: 3 });
    expect(json.embeddings).toMatch(/fitted on the pool/);
    expect(lines.some((line) => line.startsWith('info: vectors: lsa'))).toBe(true);
    expect(json.failed.toSorted()).toEqual(['doc-0', 'doc-3', 'doc-6']);
    expect(lines.some((line) => line.startsWith('warn: 3 of 9 reranker calls failed'))).toBe(true);
  });

  it('selects over the latest index with the reranker inside it; originals come back', async () => {
    const { json, lines } = await runSelect({ text: 'light pollution', budget: 6, capacity: 4 });
    expect(lines).toContain(`info: index: ${join(project, 'idx')} (the latest)`);
    expect(json.calls).toHaveLength(6);
    expect(json).toMatchObject({ embeddings: 'lsa', pool: 40 });
    for (const { text } of json.selected) expect(text).not.toMatch(/pollution/);
    expect(
      (await runSelect({ text: 'light', pool: 7, budget: 2, capacity: 3, selector: { driver: 'single-stage' } })).json,
    ).toMatchObject({
      pool: 7,
      selector: 'single-stage',
    });
  });

  it('answers an empty list when nothing matches', async () => {
    const { json } = await runSelect({ text: 'zebra' });
    expect(json).toMatchObject({ selected: [], calls: [], pool: 0 });
  });

  it('keeps control characters of documents off the terminal', async () => {
    const pool = {
      query: 'x',
      documents: [{ id: 'a', text: 'red \u001b[31malert\u0007', embedding: [1], score: 0.5 }],
    };
    const { text } = await runSelect({ pool: poolFile(pool), budget: 1 });
    expect(text).toContain('red [31malert');
    expect(text.includes('\u001b') || text.includes('\u0007')).toBe(false);
  });

  const refusals: [string, () => Record<string, unknown>, string, RegExp][] = [
    ['a pool that is not there', () => ({ pool: 'nowhere.json' }), 'USAGE', /does not exist/],
    ['a folder for a pool', () => ({ pool: project }), 'USAGE', /is a folder/],
    ['what is no JSON', () => ({ pool: poolFile('{"query": NaN}') }), 'DATA', /pool\.json: not JSON/],
    [
      'a duplicate id',
      () => ({
        pool: poolFile({
          query: 'x',
          documents: [
            { id: 'a', text: 'b' },
            { id: 'a', text: 'b' },
          ],
        }),
      }),
      'DATA',
      /documents\[1\]\) has the id of documents\[0\]/,
    ],
    [
      'a pool without scores or reranker',
      () => ({ pool: poolFile({ query: 'x', documents: [{ id: 'a', text: 'b' }] }) }),
      'USAGE',
      /no recorded scores/,
    ],
    [
      'recorded scores that there are none of',
      () => ({
        pool: poolFile({ query: 'x', documents: [{ id: 'a', text: 'b' }] }),
        reranker: { driver: 'recorded' },
      }),
      'USAGE',
      /no recorded scores/,
    ],
    ['judgements as a reranker', () => ({ text: 'x', reranker: { driver: 'qrels' } }), 'USAGE', /needs judgements/],
    ['a text beside a pool', () => ({ pool: poolFile(example()), text: 'x' }), 'USAGE', /holds one too/],
    ['no query', () => ({}), 'USAGE', /query text is missing/],
    ['recorded scores of an index', () => ({ text: 'x', reranker: { driver: 'recorded' } }), 'USAGE', /recorded/],
    ['an index that is not there', () => ({ text: 'x', index: 'nowhere' }), 'ARTEFACT', /does not exist/],
    ['an empty pool size', () => ({ text: 'x', pool: 0 }), 'USAGE', /at least one document/],
  ];
  it.each(refusals)('refuses %s', async (_what, options, code, message) => {
    await expect(runSelect(options())).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
      hint: expect.stringMatching(/./),
    });
  });

  it('a score that was not recorded is a call that failed, and the selection goes on', async () => {
    const documents = [
      { id: 'a', text: 'boat', score: 0.9 },
      { id: 'b', text: 'boats' },
      { id: 'c', text: 'ship', score: 0.2 },
    ];
    const { json, lines } = await runSelect({ pool: poolFile({ query: 'x', documents }), capacity: 2 });
    expect(json).toMatchObject({ failed: ['b'], calls: expect.arrayContaining(['a', 'b', 'c']) });
    expect(json.selected).toHaveLength(2);
    expect(lines.join('\n')).toMatch(/warn: 1 of 3 documents have no score in .*asked for, they fail/);
  });

  it('refuses an index beside a pool file, and takes one beside a pool size', async () => {
    const typed = [{ name: 'index', value: 'idx' }];
    const pool = poolFile(example());
    await expect(runSelect({ pool, index: 'idx' }, { typed })).rejects.toThrow(/--index and --pool FILE are two/);
    const index = join(project, 'idx');
    expect((await runSelect({ text: 'boat', pool: 3, index }, { typed })).json.pool).toBeLessThanOrEqual(3);
    // One of a configuration is not in the way.
    expect((await runSelect({ pool, index: 'idx' })).json.selected.length).toBeGreaterThan(0);
  });

  it('says what to build first when there is no index at all', async () => {
    await expect(runSelect({ text: 'x' }, { projectFolder: temporaryFolder() })).rejects.toThrow(/which index\?/);
  });
});

describe('morph serve', () => {
  it('serves the latest index until it is told to stop', async () => {
    const controller = new AbortController();
    let url = '';
    let ready: () => void;
    const listening = new Promise<void>((resolve) => {
      ready = resolve;
    });
    const { context, lines } = contextOf({
      signal: controller.signal,
      print: (line) => {
        expect(line).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+$/);
        url = line.replace('listening on ', '');
        ready();
      },
    });
    const serving = serveCommand.run(
      serveSchema.parse({ port: 0, apiKey: 'correct-horse', budget: 5, capacity: 3 }),
      context,
    );
    await Promise.race([listening, serving]);
    const chain = [
      { kind: 'index', fingerprint },
      { kind: 'corpus', fingerprint: 'parent' },
    ];
    const health = await (await fetch(`${url}/readyz`)).text();
    expect(JSON.parse(health)).toEqual({ ready: true, chain });
    expect(health).not.toContain('secret-project');
    const ask = (headers: Record<string, string>) =>
      fetch(`${url}/v1/select`, { method: 'POST', headers, body: JSON.stringify({ query: 'light pollution' }) });
    expect((await ask({})).status).toBe(401);
    const answer = (await (await ask({ authorization: 'Bearer correct-horse' })).json()) as Json;
    expect(answer).toMatchObject({ budget: 5, capacity: 3 });
    expect(answer.selected).toHaveLength(3);
    controller.abort();
    expect(await serving).toEqual({});
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
    expect(lines.join('\n')).not.toContain('correct-horse');
  });

  it('serves documents of the request with recorded scores, without an index', async () => {
    const controller = new AbortController();
    let url = '';
    const { context } = contextOf({
      projectFolder: temporaryFolder(),
      signal: controller.signal,
      print: (line) => {
        url = line.replace('listening on ', '');
      },
    });
    const serving = serveCommand.run(serveSchema.parse({ port: 0, reranker: { driver: 'recorded' } }), context);
    while (url === '') await new Promise((resolve) => setTimeout(resolve, 5));
    const body = JSON.stringify({ ...example(), budget: 3, capacity: 2, selector: 'boundary-morph' });
    const answer = (await (await fetch(`${url}/v1/select`, { method: 'POST', body })).json()) as Json;
    expect(answer.calls).toEqual(['d2', 'd1', 'd5']);
    controller.abort();
    await serving;
  });

  it('does not start without an index, and warns of an open door', async () => {
    const { context } = contextOf({ projectFolder: temporaryFolder() });
    await expect(serveCommand.run(serveSchema.parse({ port: 0 }), context)).rejects.toThrow(/which index\?/);
    const broken = contextOf();
    await expect(
      serveCommand.run(serveSchema.parse({ port: 0, host: '0.0.0.0', index: 'nowhere' }), broken.context),
    ).rejects.toMatchObject({ code: 'ARTEFACT' });
    expect(broken.lines[0]).toMatch(/warn: anyone who reaches 0\.0\.0\.0 may ask/);
  });

  it('leaves no listener behind when the index cannot be opened', async () => {
    const corrupt = temporaryFolder();
    writeFileSync(join(corrupt, 'manifest.json'), '{');
    const { context } = contextOf();
    await expect(serveCommand.run(serveSchema.parse({ port: 0, index: corrupt }), context)).rejects.toMatchObject({
      code: 'ARTEFACT',
    });
  });
});

describe('what is learned, and tokens', () => {
  const line = (seed: number): string =>
    JSON.stringify({
      query: 'night light',
      documents: DOCUMENTS.slice(seed, seed + 14).map(({ id, text }, i) => ({
        id,
        text,
        ...(i % 2 === 0 ? { score: /light/.test(text) && /night|moth/.test(text) ? 0.9 : 0.2 } : {}),
        relevant: i % 3 === 0,
      })),
    });
  const historyOf = (count: number): string =>
    join(
      folderWith({ 'history.jsonl': Array.from({ length: count }, (_, i) => line(i % 20)).join('\n') }),
      'history.jsonl',
    );

  it('takes the weights from a history and says from what', async () => {
    const { json, lines } = await runSelect({
      text: 'night light',
      pool: 20,
      budget: 3,
      capacity: 4,
      history: historyOf(9),
    });
    expect(json).toMatchObject({ selector: 'morph-hybrid', learned: { notes: [expect.stringMatching(/^weights: /)] } });
    expect(lines.some((text) => /weights: /.test(text))).toBe(true);
  });

  it('noise: auto falls back without labels, and says so', async () => {
    const selector = { driver: 'morph-hybrid', noise: 'auto' };
    const { json } = await runSelect({ text: 'night light', pool: 20, budget: 3, capacity: 4, selector });
    expect(json).toMatchObject({
      learned: { notes: [expect.any(String), 'noise: auto took 0.1, 0 labelled queries are fewer than 20'] },
    });
  });

  it('noise: auto takes a noise from labelled queries', async () => {
    const selector = { driver: 'morph-hybrid', noise: 'auto' };
    const { json } = await runSelect({
      text: 'light',
      pool: 20,
      budget: 3,
      capacity: 4,
      selector,
      history: historyOf(24),
    });
    expect(json).toMatchObject({ learned: { noise: expect.any(Number) } });
  });

  it('names the line of a history that is broken', async () => {
    const path = join(folderWith({ 'h.jsonl': `${line(0)}\n\n{"query": 1` }), 'h.jsonl');
    await expect(runSelect({ text: 'x', history: path })).rejects.toMatchObject({
      code: 'DATA',
      message: expect.stringMatching(/line 3: not JSON/),
    });
    await expect(runSelect({ text: 'x', history: 'nowhere' })).rejects.toMatchObject({ code: 'USAGE' });
  });

  it('fills a capacity in tokens', async () => {
    const { json, text } = await runSelect({ text: 'light', pool: 20, budget: 3, capacity: { tokens: 50 } });
    const answer = json as unknown as { tokens: number; selected: unknown[]; capacity: unknown };
    expect(answer.capacity).toEqual({ tokens: 50 });
    expect(answer.tokens).toBeLessThanOrEqual(50);
    expect(answer.selected.length).toBeGreaterThan(1);
    expect(text).toMatch(/of 50 tokens/);
  });
});
