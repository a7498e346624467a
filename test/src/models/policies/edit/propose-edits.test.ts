import { describe, expect, test } from 'vitest';
import { arrayCorpus } from '../../../../../src/data/mod.ts';
import { createEditPolicy, type EditPolicy } from '../../../../../src/models/policies/edit/edit-policy.ts';
import { OPERATIONS, type Operation } from '../../../../../src/models/policies/edit/operations.ts';
import { scanCode } from '../../../../../src/models/policies/edit/scan.ts';
import { TEMPLATES, triggeredTemplates } from '../../../../../src/models/policies/edit/templates.ts';
import { type AnalyzerName, createAnalyzer } from '../../../../../src/text/mod.ts';

function policyFor(
  texts: readonly string[],
  analyzer: AnalyzerName = 'standard',
  queries: readonly string[] = [],
  operations?: readonly Operation[],
): EditPolicy {
  return createEditPolicy({
    corpus: arrayCorpus(texts.map((text, i) => ({ id: `d${i}`, title: '', text }))),
    analyzer: createAnalyzer(analyzer),
    trainingPairs: queries.map((queryText, i) => ({ documentId: `d${i}`, queryText })),
    operations,
    init: 'zero',
    seed: 1,
  });
}

const added = (policy: EditPolicy, text: string, operation: Operation, id = 'new'): string[] =>
  policy
    .candidates({ id, text })
    .edits.filter((edit) => edit.operation === operation)
    .map((edit) => edit.text);

describe('candidate edits', () => {
  const plain = policyFor(['x']);

  test('title: the words of what is defined, in the languages that people use', () => {
    const cases: [string, string[]][] = [
      ['def remove_odd_numbers(lst): pass', ['remove', 'odd', 'numbers']],
      ['async function fetchUserIDs(url) {}', ['fetch', 'user', 'ids']],
      ['export const isEmptyObject = (value) => true;', ['is', 'empty', 'object']],
      ['class HttpServer2 {\n  handleRequest(req) { }\n}', ['http', 'server', 'handle', 'request']],
      ['fn parse_header(input: &str) -> Result<Header> { }', ['parse', 'header']],
      ['func (s *Store) GetItem(key string) int { return 1 }', ['get', 'item']],
      ['public static int countWords(String text) {\n}', ['count', 'words']],
      ['CREATE TABLE order_lines (id int)', ['order', 'lines']],
      ['Foo.prototype.toJSON = function () {}', ['to', 'json']],
    ];
    for (const [text, words] of cases) expect(added(plain, text, 'title')).toEqual(expect.arrayContaining(words));
  });

  test('a snippet that defines nothing is named by what it calls and assigns', () => {
    expect(scanCode('rows = csv.reader(open(path))').names.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      'assigned rows',
      'call reader',
      'call open',
    ]);
  });

  test('abbr: expansions, also of numbered names', () => {
    expect(added(plain, 'idx2 = maxLen(arr)', 'abbr')).toEqual(
      expect.arrayContaining(['index', 'maximum', 'length', 'array']),
    );
  });

  test('split: words inside identifiers, only where the analyzer leaves them whole', () => {
    expect(added(plain, 'call(other.parseHTTPResponse)', 'split')).toEqual(['parse', 'http', 'response']);
    expect(added(policyFor(['x'], 'code'), 'call(other.parseHTTPResponse)', 'split')).toEqual([]);
  });

  test('verb: words for constructs', () => {
    expect(added(plain, 'return n % 2 == 0', 'verb')).toEqual(
      expect.arrayContaining(['even', 'remainder', 'divisible', 'whether']),
    );
    expect(added(plain, 'const unique = [...new Set(list)].sort((a, b) => b - a);', 'verb')).toEqual(
      expect.arrayContaining(['distinct', 'duplicates', 'order']),
    );
    expect(added(plain, 'with open(path) as handle: data = json.load(handle)', 'verb')).toEqual(
      expect.arrayContaining(['file', 'parse']),
    );
  });

  test('trans: words of the training queries of other documents', () => {
    const texts = Array.from(
      { length: 12 },
      (_, i) => `def f${i}(q): return q.${i < 6 ? 'frobnicate' : 'measure'}(${i})`,
    );
    const policy = policyFor(
      texts,
      'standard',
      texts.map((_, i) => (i < 6 ? 'twiddle the knobs' : 'how long it is')),
    );
    expect(added(policy, 'def other(q): return q.frobnicate(1)', 'trans')).toEqual(
      expect.arrayContaining(['twiddle', 'knobs']),
    );
    expect(added(policyFor(texts), 'def other(q): return q.frobnicate(1)', 'trans')).toEqual([]);
  });

  test('self: words of the names of documents with like bodies, without any query', () => {
    const texts = Array.from({ length: 12 }, (_, i) =>
      i < 6
        ? `def shuffle_cards_${i}(q):\n  return q.frobnicate(${i})`
        : `def length_${i}(q):\n  return q.measure(${i})`,
    );
    expect(added(policyFor(texts), 'def other(q):\n  return q.frobnicate(1)', 'self')).toEqual(
      expect.arrayContaining(['shuffle', 'cards']),
    );
  });

  test('morph: other forms of a name, where the analyzer does not stem', () => {
    const texts = ['def sorting(values): pass', 'def sorted_values(values): pass', 'x'];
    expect(added(policyFor(texts, 'standard', [], ['morph']), 'def sort(rows): pass', 'morph')).toEqual(
      expect.arrayContaining(['sorting', 'sorted']),
    );
    expect(added(policyFor(texts, 'english', [], ['morph']), 'def sort(rows): pass', 'morph')).toEqual([]);
  });

  test('rep: the words of other edits once more, and those of a short snippet', () => {
    const again = added(plain, 'def merge(lst): pass', 'rep');
    expect(again).toEqual(expect.arrayContaining(['merge', 'list', 'pass']));
    const long = Array.from({ length: 100 }, (_, i) => `word${i}`).join(' ');
    expect(added(plain, long, 'rep')).not.toContain('word5');
  });

  test('a term is added by one operation and repeated at most once', () => {
    const { edits } = policyFor(['def max_num(arr): return max(arr)'], 'english', ['the largest number']).candidates({
      id: 'new',
      text: 'def max_num(arr): return max(arr)',
    });
    const seen = new Map<string, Operation[]>();
    for (const { text, operation } of edits) seen.set(text, [...(seen.get(text) ?? []), operation]);
    for (const operations of seen.values()) {
      expect(operations.filter((name) => name !== 'rep').length).toBeLessThanOrEqual(1);
      expect(operations.length).toBeLessThanOrEqual(2);
    }
  });

  test('no template speaks the filler that requests begin with', () => {
    const filler = [
      'write',
      'function',
      'python',
      'javascript',
      'program',
      'find',
      'given',
      'method',
      'code',
      'script',
      'the',
      'a',
      'to',
      'how',
    ];
    for (const { id, words } of TEMPLATES) {
      expect(
        words.filter((word) => filler.includes(word) && id !== 'not-a-number'),
        id,
      ).toEqual([]);
    }
    expect(new Set(TEMPLATES.map(({ id }) => id)).size).toBe(TEMPLATES.length);
  });

  test('every template is triggered by something and leaves no state behind', () => {
    for (const { id, pattern } of TEMPLATES) expect(pattern.global || pattern.sticky, id).toBe(false);
    const text = 'print(max(values))';
    expect(triggeredTemplates(text).map(({ id }) => id)).toEqual(triggeredTemplates(text).map(({ id }) => id));
    expect(triggeredTemplates('')).toEqual([]);
  });

  test('the same text under another id, or asked twice, has the same candidates', () => {
    const text = 'def merge_sort(items): return sorted(items)';
    expect(plain.candidates({ id: 'a', text })).toEqual(plain.candidates({ id: 'b', text }));
    expect(plain.candidates({ id: 'a', text })).toBe(plain.candidates({ id: 'a', text }));
    // The id is not the text: a changed document is looked at afresh.
    expect(plain.candidates({ id: 'a', text: `${text}#` })).not.toBe(plain.candidates({ id: 'a', text }));
  });
});

describe('robustness', () => {
  const policy = policyFor(['def a(b): return b', 'x'], 'english', ['give back b']);
  const nasty: Record<string, string> = {
    empty: '',
    blank: ' \n\t ',
    'null bytes': 'a\u0000b\u0000def f(x):',
    'lone surrogates': '\ud800def \udc00(x) { \ud83d',
    bom: '\ufeffdef f(x): pass',
    crlf: 'def f(x):\r\n\treturn x\r\n',
    'unbalanced everything': '((([[[{{{ """ \'\'\' ``` <!-- /* def class function (',
    'prototype names': 'def constructor(__proto__, hasOwnProperty, toString): valueOf = __proto__',
    unicode: 'def größe_berechnen(länge): return 数える(länge) // données',
    'mixed scripts': 'функция = λ x: x² + ½ — ﬁle ﬂow',
    emoji: 'def 🎉(👍): return "👩‍👩‍👧‍👦"',
    'only digits': '1234567890 '.repeat(100),
    prose: 'Once upon a time there was a river, and nobody knew where it came from.',
  };
  for (const [name, text] of Object.entries(nasty)) {
    test(`${name}: candidates, rewrites and log-probabilities`, async () => {
      const [completions] = await policy.generate([{ document: { id: name, text } }], {
        samples: 3,
        temperature: 1,
        seed: 1,
      });
      for (const completion of completions) expect(completion.text.startsWith(text)).toBe(true);
      for (const row of await policy.logProbs(completions, 'current')) expect(row.every(Number.isFinite)).toBe(true);
    });
  }

  test('words outside ASCII are words', () => {
    expect(added(policyFor(['x']), 'def größe_berechnen(x): pass', 'title')).toEqual(['größe', 'berechnen']);
  });

  const big: Record<string, string> = {
    'one word': 'x'.repeat(2_000_000),
    'one line of code': 'function f(a){return a.sort(function(x,y){return x-y})};'.repeat(36_000),
    'many names': Array.from({ length: 100_000 }, (_, i) => `def name${i}_part(arg${i}):`).join('\n'),
    'open brackets': '('.repeat(2_000_000),
    'sort( without end': 'sort('.repeat(400_000),
    'equals signs': 'a = '.repeat(500_000),
    spaces: ' '.repeat(2_000_000),
    quotes: `'"`.repeat(1_000_000),
    'x, y pairs': 'ab, cd = '.repeat(220_000),
  };
  for (const [name, text] of Object.entries(big)) {
    test(`2 MB of ${name}: bounded time and number`, () => {
      const started = performance.now();
      const { edits } = policy.candidates({ id: name, text });
      expect(performance.now() - started).toBeLessThan(5000);
      expect(edits.length).toBeLessThan(600);
    });
  }

  test('every operation is known by name', () => expect(new Set(OPERATIONS).size).toBe(8));
});
