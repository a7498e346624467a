import { describe, expect, it } from 'vitest';
import { javascriptFunctions, javascriptLanguage } from '../../../dataset/from-code/javascript.ts';
import { UnparsableError } from '../../../dataset/from-code/source-function.ts';

const read = (code: string, path = 'lib/tools.js') => javascriptFunctions(path, code);
const names = (code: string, path?: string): string[] => read(code, path).map(({ name }) => name);
const documented = (code: string, path?: string): string[] =>
  read(code, path).flatMap(({ name, comments }) => comments.map((comment) => `${name}: ${comment.trim()}`));

describe('forms of a named function', () => {
  it.each([
    ['function add(a, b) { return a + b }', 'add'],
    ['export function add(a, b) { return a + b }', 'add'],
    ['export default function add(a, b) { return a + b }', 'add'],
    ['export default function (a, b) { return a + b }', 'tools'],
    ['export default (a, b) => a + b', 'tools'],
    ['async function* add(a) { yield a }', 'add'],
    ['const add = (a, b) => a + b;', 'add'],
    ['export const add = async (a, b) => a + b;', 'add'],
    ['var add = function (a, b) { return a + b }', 'add'],
    ['let add = function plus(a, b) { return a + b }', 'add'],
    ['exports.add = function (a, b) { return a + b }', 'add'],
    ['module.exports.add = (a, b) => a + b', 'add'],
    ['module.exports = function add(a, b) { return a + b }', 'add'],
    ['module.exports = function (a, b) { return a + b }', 'tools'],
    ['exports.default = function (a, b) { return a + b }', 'tools'],
    ['Box.prototype.add = function (a) { return a }', 'Box.add'],
    ['Box.add = function (a) { return a }', 'Box.add'],
    ['Box.prototype["add"] = function (a) { return a }', 'Box.add'],
    ['Box.prototype[Symbol.iterator] = function () {}', 'Box[Symbol.iterator]'],
    ['this.add = (a) => a', 'add'],
    ['a.add = a.plus = function (x) { return x }', 'a.add'],
    ['const add = memo(function (a) { return a })', 'add'],
    ['const add = curry(dispatch([], (a) => a))', 'add'],
    ['const add = React.memo((a) => a)', 'add'],
    ['const add = native || function (a) { return a }', 'add'],
    ['const add = isOld ? (a) => a : native', 'add'],
    ['var add = exports.plus = function (a) { return a }', 'add'],
  ])('%s', (code, name) => {
    expect(documented(`/** Adds it up. */\n${code}`)).toEqual([`${name}: Adds it up.`]);
  });

  it('members of classes', () => {
    const code = `class Box {
  /** c */
  constructor() {}
  /** a */
  add(b) {}
  /** s */
  static make() {}
  /** g */
  get size() { return 1 }
  /** p */
  #grow() {}
  /** f */
  scale = (x) => x;
  /** i */
  *[Symbol.iterator]() {}
}`;
    expect(documented(code)).toEqual([
      'Box.constructor: c',
      'Box.add: a',
      'Box.make: s',
      'Box.size: g',
      'Box.#grow: p',
      'Box.scale: f',
      'Box[Symbol.iterator]: i',
    ]);
    expect(names('export default class { add() {} }')).toEqual(['tools.add']);
    expect(names('const Box = class Inner { add() {} }')).toEqual(['Box.add']);
    expect(names('exports.Box = class { add() {} }')).toEqual(['Box.add']);
    expect(names('module.exports = class Box { add() {} }')).toEqual(['Box.add']);
  });

  it('members of objects', () => {
    expect(
      documented(
        'const api = {\n  /** a */\n  add(x) {},\n  /** b */\n  sub: function () {},\n  deep: {\n    /** c */ mul: (x) => x },\n};',
      ),
    ).toEqual(['api.add: a', 'api.sub: b', 'api.deep.mul: c']);
    expect(names('module.exports = { add() {} }')).toEqual(['add']);
    expect(names('export default { add() {} }')).toEqual(['add']);
    expect(names('Box.prototype = { add() {} }')).toEqual(['Box.add']);
    expect(names('extend(Box.prototype, { add() {} })')).toEqual(['Box.add']);
    expect(names('define({ add() {} })')).toEqual(['add']);
    expect(names("suite({ 'adds two numbers': function () {}, 'a-b': function () {} })")).toEqual(['a-b']);
  });

  it('inside functions and module wrappers', () => {
    expect(names('(function () { function add() { function inner() {} } }());')).toEqual(['add', 'inner']);
    expect(
      names('!function (root, factory) { factory() }(this, function (exports) { exports.add = function () {} })'),
    ).toEqual(['add']);
    expect(names('define(["a"], function (a) { a.add = function () {} })')).toEqual(['a.add']);
  });

  it('TypeScript', () => {
    const code = `export namespace Tools {
  /** Adds it up. */
  export function add<T extends number>(a: T, b?: T): number { return a! + (b as number) }
}
abstract class Box { abstract size(): number; /** Grows it. */ @log() grow(this: Box): void {} }
export const id = (<T,>(x: T): T => x) satisfies unknown;`;
    expect(names(code, 'a.ts')).toEqual(['Tools.add', 'Box.size', 'Box.grow', 'id']);
    expect(documented(code, 'a.ts')).toEqual(['Tools.add: Adds it up.', 'Box.grow: Grows it.']);
    expect(javascriptLanguage('a.mts')).toBe('typescript');
    expect(javascriptLanguage('a.cjs')).toBe('javascript');
  });

  it('overloads and declarations have no code', () => {
    const entries = read('/** Adds. */\nfunction add(a: number): number;\nfunction add(a: any) { return a }', 'a.ts');
    expect(entries.map(({ code, comments }) => [code === '', comments.length])).toEqual([
      [true, 1],
      [false, 0],
    ]);
    expect(documented('/** Adds. */\nexport declare const add: (a: number) => number;', 'a.d.ts')).toEqual([
      'add: Adds.',
    ]);
  });

  it('calls that use a function at once make no function', () => {
    expect(
      names('const doubled = list.map((x) => 2 * x); const timer = setTimeout(() => {}, 5); const one = (() => 1)();'),
    ).toEqual([]);
  });

  it('dialects: JSX, Flow, decorators, shebang, hashbang-free scripts with return', () => {
    expect(names('const App = () => <b>{1}</b>;', 'a.jsx')).toEqual(['App']);
    expect(names('const App = (): JSX.Element => <b>{1}</b>;', 'a.tsx')).toEqual(['App']);
    expect(names('// @flow\nfunction add(a: number, b: ?string): number { return a }')).toEqual(['add']);
    expect(names('const f = <number>(x: any) => <number>x;', 'a.ts')).toEqual(['f']);
    expect(names('#!/usr/bin/env node\nfunction add() {}\nreturn')).toEqual(['add']);
  });
});

describe('the comment above', () => {
  it.each([
    ['line comments', '// Adds two\n// numbers.\nfunction add() {}', ['add: Adds two\n numbers.']],
    ['a plain block', '/* Adds it. */\nfunction add() {}', ['add: Adds it.']],
    ['only the nearest', '/** One. */\n/** Two. */\nfunction add() {}', ['add: Two.']],
    ['a blank line cuts the tie', '/** File header. */\n\nfunction add() {}', []],
    [
      'directives are passed over',
      '/** Adds it. */\n/* eslint-disable-next-line */\n// @ts-ignore\nfunction add() {}',
      ['add: Adds it.'],
    ],
    ['of the line before', 'foo(); // calls foo\nfunction add() {}', []],
    ['inside a declaration', 'const add = /** Adds it. */ function () {}', ['add: Adds it.']],
    [
      'pure marks are no comment',
      '/** Adds it. */\nconst add = /* #__PURE__ */ curry(function (a) {})',
      ['add: Adds it.'],
    ],
    [
      'belongs to the first of several',
      '/** Adds it. */\nvar add = function () {}, sub = function () {};',
      ['add: Adds it.'],
    ],
    [
      'each its own',
      'var a = 1,\n  /** Adds it. */\n  add = function () {},\n  /** Subs it. */\n  sub = function () {};',
      ['add: Adds it.', 'sub: Subs it.'],
    ],
    ['a step inside a function', 'function f() {\n  // sort them\n  const s = sorted((a) => a);\n}', []],
    ['a wrapped function at the top', '// Sorts them.\nconst s = sorted((a) => a);', ['s: Sorts them.']],
    [
      'above a decorator',
      'class A {\n  /** Adds it. */\n  @dec() add() {}\n  @dec()\n  /** Subs it. */\n  sub() {}\n}',
      ['A.add: Adds it.', 'A.sub: Subs it.'],
    ],
    [
      'stars stay out',
      '/**\n * Adds **two**\n *\n * numbers.\n **/\nfunction add() {}',
      ['add: Adds **two**\n\nnumbers.'],
    ],
  ])('%s', (_, code, expected) => {
    expect(documented(code)).toEqual(expected);
  });
});

describe('the code', () => {
  it('has no comments, but strings that look like some', () => {
    const [{ code }] = read(
      `/** d */\nfunction add(a /* first */) {\n  // why\n  const url = 'http://x.y'; // there\n  /* long\n     one */\n  return \`/* \${a} */\`;\n}`,
    );
    expect(code).toBe(`function add(a) {\n  const url = 'http://x.y';\n  return \`/* \${a} */\`;\n}`);
  });

  it('is the whole statement, or the part of a list', () => {
    expect(read('export const add = (a) => a;')[0].code).toBe('export const add = (a) => a;');
    expect(read('Box.prototype.add = function () {};')[0].code).toBe('Box.prototype.add = function () {};');
    expect(read('var a = () => 1, b = () => 2;').map(({ code }) => code)).toEqual(['a = () => 1', 'b = () => 2']);
  });

  it('is dedented', () => {
    expect(read('class A {\n    add() {\n        return 1;\n    }\n}')[0].code).toBe('add() {\n    return 1;\n}');
  });

  it('line and column', () => {
    const [a, b] = read('\nfunction a() {}\n  function b() {}');
    expect([a.line, a.column, b.line, b.column]).toEqual([2, 1, 3, 3]);
  });
});

describe('keys', () => {
  const key = (code: string, path?: string): string => read(code, path)[0].key;

  it('do not depend on white space, comments, semicolons and how the name was given', () => {
    const forms = [
      'function add(a, b) { return a + "x" }',
      "export function add(a,b){return a+'x';}",
      'exports.add = function (a, b,) { /* sum */ return a + "x"; };',
      'const add = function plus(a, b) {\n  return a + "x";\n};',
      'class A { add(a, b) { return a + "x" } }',
      'const api = { add: function (a, b) { return a + "x" } }',
    ];
    expect(new Set(forms.map((form) => key(form))).size).toBe(1);
  });

  it('do not depend on how a module names its imports', () => {
    const esm =
      'import { isDate } from "./isDate"; import toDate from "./toDate"; export function f(x) { return isDate(x) && toDate(x) }';
    const babel =
      'var _isDate = require("./isDate"); var _toDate = _interopRequireDefault(require("./toDate")); function f(x) { return (0, _isDate.isDate)(x) && (0, _toDate.default)(x) }';
    const typescript =
      'const isDate_1 = require("./isDate"); const toDate_1 = __importDefault(require("./toDate")); function f(x) { return isDate_1.isDate(x) && (0, toDate_1.default)(x) }';
    expect(new Set([esm, babel, typescript].map((code) => key(code))).size).toBe(1);
  });

  it('differ for different functions', () => {
    const forms = [
      'function f(a) { return a }',
      'async function f(a) { return a }',
      'function* f(a) { return a }',
      'function f(b) { return b }',
      'function f(a) { return "a" }',
    ];
    expect(new Set(forms.map((form) => key(form))).size).toBe(forms.length);
  });
});

describe('what cannot be parsed', () => {
  it('is refused with the reason', () => {
    expect(() => read('function ( {')).toThrow(UnparsableError);
    expect(() => read('function ( {')).toThrow(/1:\d+/);
  });

  it('small faults are survived', () => {
    expect(names('function a() {}\nlet x = 1; let x = 2;\nfunction b() {}')).toEqual(['a', 'b']);
  });

  it('a chain of 50,000 operators is read or refused, never fatal', () => {
    const code = `function a() {}\nconst x = ${'1 + '.repeat(50_000)}1;`;
    try {
      expect(names(code)).toEqual(['a']);
    } catch (error) {
      expect(error).toBeInstanceOf(UnparsableError);
    }
  });
});
