import { describe, expect, it } from 'vitest';
import { parsePool } from '../../select/pool-file.ts';

const base = () => ({
  query: { text: 'light pollution', embedding: [1, 0] },
  documents: [
    { id: 'a', text: 'one', embedding: [1, 0], score: 0.5, firstStageScore: 3 },
    { id: 'b', text: 'two', embedding: [0, 1], score: null, firstStageScore: 2 },
  ] as Record<string, unknown>[],
});

describe('parsePool', () => {
  it('takes over everything, in order', () => {
    const pool = parsePool(base(), 'pool.json');
    expect(pool.query).toEqual({ id: undefined, text: 'light pollution' });
    expect(pool.queryEmbedding).toEqual(Float64Array.of(1, 0));
    expect(pool.documents).toEqual([
      { id: 'a', title: '', text: 'one' },
      { id: 'b', title: '', text: 'two' },
    ]);
    expect(pool.embeddings).toEqual({ rows: 2, columns: 2, data: Float64Array.of(1, 0, 0, 1) });
    expect([...pool.scores]).toEqual([
      ['a', 0.5],
      ['b', null],
    ]);
    expect(pool.firstStageScores).toEqual(Float64Array.of(3, 2));
    expect(pool.warnings).toEqual([]);
  });

  it('takes a string for the query, an empty list of documents, and titles and metadata', () => {
    const pool = parsePool({ query: 'words', documents: [] }, 'p');
    expect(pool.query.text).toBe('words');
    expect(pool.embeddings).toBeUndefined();
    const rich = parsePool({ query: 'w', documents: [{ id: 'x', title: 't', metadata: { a: 1 } }] }, 'p');
    expect(rich.documents).toEqual([{ id: 'x', title: 't', text: '', metadata: { a: 1 } }]);
    expect(rich.scores.size).toBe(0);
  });

  const wrong: [string, (pool: ReturnType<typeof base>) => unknown, string][] = [
    ['no object', () => [], 'pool.json: expected an object, found an empty list'],
    ['no query', (p) => ({ documents: p.documents }), "pool.json: 'query' is missing"],
    ['an empty query', (p) => ({ ...p, query: { text: '  ' } }), 'pool.json: the query has neither text nor embedding'],
    ['no documents', (p) => ({ query: p.query }), "pool.json: 'documents' is missing, expected a list"],
    [
      'a number for an id',
      (p) => setRow(p, { id: 7 }),
      'pool.json: documents[1].id is a number, expected a non-empty string',
    ],
    [
      'an empty id',
      (p) => setRow(p, { id: '' }),
      'pool.json: documents[1].id is an empty string, expected a non-empty string',
    ],
    [
      'a duplicate id',
      (p) => setRow(p, { id: 'a' }),
      "pool.json: document 'a' (documents[1]) has the id of documents[0]",
    ],
    [
      'NaN as null',
      (p) => setRow(p, { embedding: [null, 1] }),
      "pool.json: document 'b' (documents[1]): embedding[0] is null, expected a finite number",
    ],
    [
      'infinity',
      (p) => setRow(p, { embedding: [1, Number.POSITIVE_INFINITY] }),
      "pool.json: document 'b' (documents[1]): embedding[1] is Infinity, expected a finite number",
    ],
    [
      'another width',
      (p) => setRow(p, { embedding: [1, 2, 3] }),
      "pool.json: document 'b' (documents[1]): the embedding has 3 numbers, those before have 2",
    ],
    [
      'a missing embedding',
      (p) => setRow(p, { embedding: undefined }),
      "pool.json: document 'b' (documents[1]) has no embedding, documents[0] has one",
    ],
    [
      'a query of another width',
      (p) => ({ ...p, query: { text: 'x', embedding: [1] } }),
      "pool.json: query.embedding has 1 numbers, the documents' have 2",
    ],
    [
      'a logit',
      (p) => setRow(p, { score: 4.1 }),
      "pool.json: document 'b' (documents[1]): score is 4.1, expected a probability in [0, 1]",
    ],
    [
      'a text score',
      (p) => setRow(p, { score: 'high' }),
      "pool.json: document 'b' (documents[1]): score is a string, expected a finite number",
    ],
    [
      'half of the first-stage scores',
      (p) => setRow(p, { firstStageScore: undefined }),
      "pool.json: document 'b' (documents[1]): some documents have a firstStageScore and some have none",
    ],
    [
      'text that is none',
      (p) => setRow(p, { text: 5 }),
      "pool.json: document 'b' (documents[1]): text is a number, expected a string",
    ],
  ];
  it.each(wrong)('refuses %s', (_what, change, message) => {
    expect(() => parsePool(change(base()), 'pool.json')).toThrow(
      expect.objectContaining({ code: 'DATA', message, hint: expect.stringMatching(/./) }),
    );
  });

  it('warns of unknown keys in files, refuses them in requests', () => {
    const value = setRow(base(), { embeding: [1] });
    expect(parsePool(value, 'pool.json').warnings).toEqual([
      "pool.json: the key 'documents[].embeding' is not known and was ignored. Did you mean 'embedding'?",
    ]);
    expect(() => parsePool(value, 'the request', true)).toThrow(
      "the request: unknown key 'documents[].embeding'. Did you mean 'embedding'?",
    );
  });
});

function setRow(pool: ReturnType<typeof base>, change: Record<string, unknown>): ReturnType<typeof base> {
  return { ...pool, documents: [pool.documents[0], { ...pool.documents[1], ...change }] };
}
