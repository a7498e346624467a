import { describe, expect, it } from 'vitest';
import { pythonFunctions } from '../../../dataset/from-code/python.ts';

const documented = (code: string): string[] =>
  pythonFunctions(code).flatMap(({ name, comments }) => comments.map((comment) => `${name}: ${comment.trim()}`));

const SAMPLE = `"""Module text."""
import os

@cached(1)
def add(a: int, b=2) -> int:
    r"""Add two numbers.

        Indented.
    More.
    """

    # why
    return a + b  # sum


class Box(Base):
    'A box.'

    def grow(self): 'Grow it.'

    async def shrink(self, by):
        """Shrink it."""
        def inner():
            """Helps out."""
            return '# no comment'
        return inner() # done

# Sort the
# list.
def sort(xs): return sorted(xs)

def plain(x):
    x = """no docstring"""
    return x
`;

describe('pythonFunctions', () => {
  const found = pythonFunctions(SAMPLE);

  it('names and places', () => {
    expect(found.map(({ name, line, column }) => [name, line, column])).toEqual([
      ['add', 4, 1],
      ['Box.grow', 19, 5],
      ['Box.shrink', 21, 5],
      ['inner', 23, 9],
      ['sort', 30, 1],
      ['plain', 32, 1],
    ]);
  });

  it('docstrings, and comments where there is none', () => {
    expect(documented(SAMPLE)).toEqual([
      'add: Add two numbers.\n\n    Indented.\nMore.',
      'Box.grow: Grow it.',
      'Box.shrink: Shrink it.',
      'inner: Helps out.',
      'sort: Sort the\n list.',
    ]);
    expect(documented('# far away\n\ndef f(): return 1\n')).toEqual([]);
    expect(documented('x = 1  # of x\ndef f(): return 1\n')).toEqual([]);
    expect(documented('# Does it.\n# noqa: E501\ndef f(): return 1\n')).toEqual(['f: Does it.']);
    expect(documented("def f():\n    'two ' 'parts'\n    return 1\n")).toHaveLength(1);
  });

  it('the code has neither', () => {
    expect(found[0].code).toBe('@cached(1)\ndef add(a: int, b=2) -> int:\n    return a + b');
    expect(found[2].code).toBe(
      "async def shrink(self, by):\n    def inner():\n        return '# no comment'\n    return inner()",
    );
    expect(found[4].code).toBe('def sort(xs): return sorted(xs)');
    expect(found[5].code).toContain('no docstring');
  });

  it('a function that is only its docstring has no code', () => {
    expect(found[1].code).toBe('');
    const nested = 'def f():\n    class Stop(Exception):\n        """Doc."""\n\n    raise Stop\n';
    expect(pythonFunctions(nested)[0].code).toBe(
      'def f():\n    class Stop(Exception):\n        pass\n\n    raise Stop',
    );
    expect(pythonFunctions('def f():\n    """Doc."""\n    pass\n')[0].code).toBe('def f():\n    pass');
  });

  it('keys look past comments, docstrings and white space, not past blocks', () => {
    const key = (code: string): string => pythonFunctions(code)[0].key;
    const a = key('def f(x):\n  """Doc."""\n  if x:\n    return 1\n  return 2\n');
    expect(key('def f( x ):\n    # other\n    if x:\n        return 1\n    return 2\n')).toBe(a);
    expect(key('def f(x):\n  if x:\n    return 1\n    return 2\n')).not.toBe(a);
    expect(key('async def f(x):\n  if x:\n    return 1\n  return 2\n')).not.toBe(a);
  });

  it('what it does not know is no reason to stop', () => {
    const code =
      'print "python 2"\ndef f(x):\n    """Return it all."""\n    print x\n    return x\n)))\ndef g(): return 1\n';
    expect(pythonFunctions(code).map(({ name }) => name)).toEqual(['f', 'g']);
  });
});
