/**
 * The bulk export in a real OpenSearch, through the real command: DOCOPT_SERVERS=1 npx vitest run test/servers. Java and Maven
 * are needed (50 MB to fetch, 0.7 GB of memory, about half a minute).
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bulkActions } from '../../index/export/bulk.ts';
import { exportOf, HOSTILE, joined } from '../support/export-documents.ts';
import { runHere } from '../support/in-process.ts';
import { folderWith, jsonl } from '../support/temp-folder.ts';
import { type OpenSearch, startOpenSearch, whyNoOpenSearch } from './start-opensearch.ts';

const why = whyNoOpenSearch();
/** As docs/export.md tells to make the index; this bare distribution lacks the `english` analyzer. */
const MAPPING = {
  mappings: {
    properties: {
      text: { type: 'text', index: false },
      search_text: { type: 'text', analyzer: 'standard' },
      metadata: { type: 'object', enabled: false },
    },
  },
};

const words = ['parse', 'date', 'sparse', 'vector', 'walk', 'tree', 'lock', 'queue', 'merge', 'hash'];
const documents = Array.from({ length: 200 }, (_, i) => ({
  _id: `d${i}`,
  title: `handle${i}`,
  text: `function handle${i}(${words[i % 10]}List) {\n  return ${words[(i * 3) % 10]}('it''s "token${i}"');\n}`,
  metadata: { line: i },
}));
/** d0..d9 are gone, d10 is another, n0 is new. */
const next = [
  { ...documents[10], text: 'export const quokkaCounter = (items) => items.length;' },
  ...documents.slice(11),
  { ...documents[11], _id: 'n0', text: 'function wombatParser(input) { return input; }' },
];
const data = (name: string, rows: readonly unknown[]) => ({ [`${name}/corpus.jsonl`]: jsonl(...rows) });

describe(why === undefined ? 'a real OpenSearch' : `a real OpenSearch (skipped: ${why})`, {
  skip: why !== undefined,
}, () => {
  let engine: OpenSearch | undefined;
  let cwd = '';

  beforeAll(async () => {
    cwd = folderWith({ ...data('one', documents), ...data('two', next) });
    for (const name of ['one', 'two'])
      await docopt('rewrite-corpus', '--data', name, '--policy', 'edit', '--out', `c-${name}`);
    engine = await startOpenSearch();
    console.log(`OpenSearch ${engine.version}`);
    await call('PUT', '/documents', MAPPING);
  }, 300_000);
  afterAll(() => engine?.stop());

  async function docopt(...argv: string[]): Promise<string> {
    const { status, stdout, stderr } = await runHere(['docopt', ...argv], { cwd });
    if (status !== 0) throw new Error(stderr);
    return stdout;
  }

  async function call<T>(method: string, path: string, body: unknown, type = 'application/json'): Promise<T> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await fetch(`${engine!.url}${path}`, { method, headers: { 'content-type': type }, body: text });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  async function bulk(body: string): Promise<Record<string, number>> {
    interface Answer {
      readonly errors: boolean;
      readonly items: readonly Record<string, { readonly result: string; readonly error?: unknown }>[];
    }
    const { errors, items } = await call<Answer>('POST', '/_bulk?refresh=true', body, 'application/x-ndjson');
    expect([errors, items.flatMap((item) => Object.values(item)).find(({ error }) => error)]).toEqual([
      false,
      undefined,
    ]);
    const counts: Record<string, number> = {};
    for (const { result } of items.flatMap((item) => Object.values(item))) counts[result] = (counts[result] ?? 0) + 1;
    return counts;
  }

  interface Hit {
    readonly _id: string;
    readonly _source: {
      readonly title: string;
      readonly text: string;
      readonly search_text: string;
      readonly metadata?: unknown;
    };
  }
  const search = async (query: unknown, size = 10): Promise<Hit[]> =>
    (await call<{ hits: { hits: Hit[] } }>('POST', '/documents/_search', { query, size })).hits.hits;
  const everything = async (): Promise<Map<string, Hit['_source']>> =>
    new Map((await search({ match_all: {} }, 1000)).map(({ _id, _source }) => [_id, _source]));
  const exported = async (corpus: string) =>
    new Map(
      (await docopt('export', '--corpus', corpus, '--to', 'jsonl'))
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
        .map(({ id, ...source }) => [id, source]),
    );

  it('takes the whole export, in parts, and gives every original back', async () => {
    const { files } = JSON.parse(
      await docopt(
        ...['export', '--corpus', 'c-one', '--to', 'opensearch-bulk', '--out', 'x', '--part-mb', '0.05', '--json'],
      ),
    );
    expect(files.length).toBeGreaterThan(1);
    let created = 0;
    for (const file of files) created += (await bulk(readFileSync(`${cwd}/${file}`, 'utf8'))).created;
    expect(created).toBe(200);
    const stored = await everything();
    expect(stored).toEqual(await exported('c-one'));
    for (const { _id, title, text, metadata } of documents)
      expect(stored.get(_id)).toMatchObject({ title, text, metadata });
  });

  it('searches the rewrite, and shows the original', async () => {
    const stored = await everything();
    // The analyzer leaves sparseList one word; only the rewrite has `sparse` on its own.
    const hits = await search({ match: { search_text: 'sparse' } }, 300);
    const hidden = hits.filter(({ _source }) => !/\bsparse\b/i.test(_source.text));
    expect(hidden.map(({ _id }) => _id)).toEqual(expect.arrayContaining(['d2', 'd12']));
    for (const { _id, _source } of hidden) expect(_source.text).toBe(documents[Number(_id.slice(1))].text);
    const rewritten = [...stored.values()].filter(({ search_text, title, text }) => search_text !== `${title} ${text}`);
    expect(rewritten.length).toBeGreaterThan(100);
    // The original is stored and shown, never searched.
    await expect(search({ match: { text: 'function' } })).rejects.toThrow(/not indexed/);
  });

  it('changes: adds, replaces and deletes, and then holds what a full export of the new corpus holds', async () => {
    const argv = ['export', '--corpus', 'c-two', '--changed-since', 'c-one', '--to', 'opensearch-bulk'];
    const counts = await bulk(await docopt(...argv));
    expect(counts).toMatchObject({ created: 1, deleted: 10 });
    const stored = await everything();
    expect(stored).toEqual(await exported('c-two'));
    expect([stored.size, stored.has('d0'), stored.has('n0')]).toEqual([191, false, true]);
    expect((await search({ match: { search_text: 'quokka' } })).map(({ _id }) => _id)).toEqual(['d10']);
    expect((await search({ match: { search_text: 'token3' } })).map(({ _id }) => _id)).toEqual([]);
  });

  it('documents that try to leave the format stay documents', async () => {
    await bulk(await joined(bulkActions(exportOf(HOSTILE))));
    const stored = await everything();
    for (const { id, title, text, searchText, metadata } of HOSTILE)
      expect(stored.get(id)).toEqual({ title, text, search_text: searchText, ...(metadata && { metadata }) });
  });
});
