import { describe, expect, it } from 'vitest';
import { type CodeBase, type CodeDataset, fromCode } from '../../../dataset/from-code/from-code.ts';

function base(files: Readonly<Record<string, string | null>>): CodeBase {
  return {
    files: Object.entries(files).map(([path, text]) => ({ path, bytes: text?.length ?? 0 })),
    read: async (path) => {
      const text = files[path];
      return text === null ? { skipped: 'not UTF-8' } : { text };
    },
  };
}

const pairs = ({ queries, qrels }: CodeDataset): [string, string[]][] =>
  queries.map(({ id, text }) => [text, [...qrels.get(id)!.keys()]]);

const FILES = {
  'src/add.js': '/** Adds two numbers. */\nexport function add(a, b) {\n  // Adds two numbers.\n  return a + b;\n}',
  'dist/add.cjs': '/** Adds two numbers. */\nexports.add = function (a, b) { return a + b };',
  'src/plus.py': 'def plus(a, b):\n    """adds two  numbers"""\n    return a + b\n',
  'src/old style.js':
    '/** Does something old. */\nfunction f() {}\n/** Does something new. */\nfunction f() { return 1 }\nfunction g() {}\n/** @private */\nfunction h() {}',
  'src/legacy.js': null,
  'src/broken.js': 'function ( {',
};

describe('fromCode', () => {
  it('documents, queries, judgements', async () => {
    const dataset = await fromCode(base(FILES));
    expect(dataset.documents).toEqual(
      [
        {
          id: 'src/add.js#add',
          title: '',
          text: 'export function add(a, b) {\n  return a + b;\n}',
          metadata: { file: 'src/add.js', line: 2, name: 'add', language: 'javascript' },
        },
        {
          id: 'src/old%20style.js#f',
          title: '',
          text: 'function f() {}',
          metadata: { file: 'src/old style.js', line: 2, name: 'f', language: 'javascript' },
        },
        {
          id: 'src/old%20style.js#f:4',
          title: '',
          text: 'function f() { return 1 }',
          metadata: { file: 'src/old style.js', line: 4, name: 'f', language: 'javascript' },
        },
        {
          id: 'src/plus.py#plus',
          title: '',
          text: 'def plus(a, b):\n    return a + b',
          metadata: { file: 'src/plus.py', line: 1, name: 'plus', language: 'python' },
        },
      ].sort((a, b) => (a.id < b.id ? -1 : 1)),
    );
    expect(pairs(dataset)).toEqual([
      ['Adds two numbers.', ['src/add.js#add', 'src/plus.py#plus']],
      ['Does something old.', ['src/old%20style.js#f']],
      ['Does something new.', ['src/old%20style.js#f:4']],
    ]);
    expect(dataset.qrels.get(dataset.queries[0].id)!.get('src/plus.py#plus')).toBe(1);
  });

  it('the report accounts for every function', async () => {
    const { report } = await fromCode(base(FILES));
    expect(report.files.read).toEqual({ javascript: 3, typescript: 0, python: 1 });
    expect(report.files.skipped).toEqual([{ path: 'src/legacy.js', reason: 'not UTF-8' }]);
    expect(report.files.unparsable).toMatchObject([{ path: 'src/broken.js' }]);
    const { found, undocumented, refusedComments, copies, tooLong, documents } = report.functions;
    expect([found, undocumented, refusedComments, copies, tooLong, documents]).toEqual([
      7,
      1,
      { 'no description': 1 },
      { sameTokens: 1, sameComment: 0 },
      [],
      4,
    ]);
    expect(report.queries).toEqual({ written: 3, shared: 1, givenAway: [] });
  });

  it('the order of the files does not matter, and ids of queries come from their text', async () => {
    const reversed = Object.fromEntries(Object.entries(FILES).reverse());
    const straight = await fromCode(base(FILES));
    expect(await fromCode(base(reversed))).toEqual(straight);
    const moved = await fromCode(base({ 'elsewhere.js': FILES['src/add.js'] }));
    expect(moved.queries[0]).toEqual(straight.queries[0]);
  });

  it('of copies the source is kept, and of equals the smaller file', async () => {
    const dataset = await fromCode(
      base({
        'a-bundle.js': `/** Adds two numbers. */\nfunction add(a, b) { return a + b }\n${'x();\n'.repeat(100)}`,
        'z/add.js': '/** Adds two numbers. */\nexport function add(a, b) { return a + b }',
        'build/add.js': '/** Adds two numbers. */\nfunction add(a,b){return a+b}',
      }),
    );
    expect(dataset.documents.map(({ id }) => id)).toEqual(['z/add.js#add']);
  });

  it('different functions with one sentence answer one query', async () => {
    const dataset = await fromCode(
      base({
        'a.js': '/** Gets the size of it. */\nfunction size(a) { return a.size }',
        'b.js': '/** Gets the size of it. */\nfunction size(list) { let n = 0; for (const _ of list) n++; return n }',
      }),
    );
    expect(pairs(dataset)).toEqual([['Gets the size of it.', ['a.js#size', 'b.js#size']]]);
  });

  it('comments of overloads and of the .d.ts beside a .js', async () => {
    const dataset = await fromCode(
      base({
        'over.ts':
          '/** Parses the given text. */\nexport function parse(a: string): number;\nexport function parse(a: any) { return +a }',
        'chunk.mjs': 'function chunk(a) { return [a] }\nclass Box { grow() { return 1 } }',
        'chunk.d.ts':
          '/** Splits a list into chunks. */\ndeclare function chunk(a: any): any;\ndeclare class Box {\n  /** Makes the box larger. */\n  grow(): number;\n}',
        'alone.d.ts': '/** Declared and nowhere made. */\ndeclare function gone(): void;',
      }),
    );
    expect(pairs(dataset)).toEqual([
      ['Splits a list into chunks.', ['chunk.mjs#chunk']],
      ['Makes the box larger.', ['chunk.mjs#Box.grow']],
      ['Parses the given text.', ['over.ts#parse']],
    ]);
    expect(dataset.documents[2].text).not.toContain('string');
  });

  it('no query occurs in any document', async () => {
    const dataset = await fromCode(
      base({
        'a.js': '/** Adds two numbers. */\nfunction add(a, b) {\n  /* adds TWO numbers */\n  return a + b;\n}',
        'b.js':
          '/** Prints the usage text. */\nfunction usage() {\n  console.log("prints the  USAGE text, then exits");\n}',
        'c.js':
          '/** Throws at bad input. */\nfunction bad() {}\n/** Explains a bad input. */\nfunction explain() { return `throws at\nbad input` }',
      }),
    );
    expect(dataset.report.queries.givenAway).toEqual(['Prints the usage text.', 'Throws at bad input.']);
    expect(dataset.documents).toHaveLength(4);
    expectNoLeak(dataset);
    expect(dataset.queries.map(({ text }) => text)).toEqual(['Adds two numbers.', 'Explains a bad input.']);
  });

  it('line ends and limits', async () => {
    const long = `/** Does a lot of work. */\nfunction work() { ${'x(); '.repeat(30)} }`;
    const dataset = await fromCode(base({ 'a.js': FILES['src/add.js'].replaceAll('\n', '\r\n'), 'b.js': long }), {
      maxFunctionLength: 100,
    });
    expect(dataset.documents.map(({ text }) => text)).toEqual(['export function add(a, b) {\n  return a + b;\n}']);
    expect(dataset.report.functions.tooLong).toEqual(['b.js#work']);
  });

  it('languages and the fewest words are a choice', async () => {
    const python = await fromCode(base(FILES), { languages: ['python'] });
    expect(python.documents.map(({ id }) => id)).toEqual(['src/plus.py#plus']);
    const longer = await fromCode(base(FILES), { fewestWords: 4 });
    expect(longer.queries).toEqual([]);
  });
});

/** White space and case aside, by plain search. */
function expectNoLeak({ documents, queries }: CodeDataset): void {
  const normal = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ');
  const texts = documents.map(({ text }) => normal(text));
  for (const { text } of queries) {
    const sentence = normal(text).replace(/[.!?]+$/, '');
    expect(texts.filter((document) => document.includes(sentence))).toEqual([]);
  }
}
