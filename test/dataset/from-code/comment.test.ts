import { describe, expect, it } from 'vitest';
import { describeComment, isDirective } from '../../../dataset/from-code/comment.ts';

const sentence = (comment: string): unknown => {
  const described = describeComment(comment);
  return 'sentence' in described ? described.sentence : undefined;
};

describe('describeComment', () => {
  it.each([
    [
      'the text before the tags',
      'Adds two numbers\nof any size.\n\n@param a first\n@returns the sum',
      'Adds two numbers of any size.',
    ],
    [
      '@summary before @description',
      '@name add\n@category Math\n@summary Add two numbers here.\n\n@description\nOther words than those.',
      'Add two numbers here.',
    ],
    [
      '@description alone',
      '@function\n@description Finds the largest of them.\n@param x',
      'Finds the largest of them.',
    ],
    [
      'what is below a tag that ends with its line',
      '@private\nChecks that rows are equal.\n@param m',
      'Checks that rows are equal.',
    ],
    [
      'a heading gives way',
      'Bayesian Classifier\n\nThis is a naive classifier. It works.',
      'This is a naive classifier.',
    ],
    ['a Markdown heading is none', '# Union of boxes\nComputes the smallest box. Good.', 'Computes the smallest box.'],
    ['a signature gives way', 'copy(x)\n\nCopies the internal state.', 'Copies the internal state.'],
    ['fenced code is skipped', '```js\nfoo(1); bar(2); baz(3);\n```\nRuns all three calls.', 'Runs all three calls.'],
    ['a list ends the sentence', 'Returns one of these\n- first thing\n- second thing', 'Returns one of these'],
    [
      'a forgotten full stop before a capital',
      'Luhn validation of numbers\nCalled with a string of digits, including the check digit',
      'Luhn validation of numbers',
    ],
    [
      'a capital at a full line is no new sentence',
      'Copies the values of all instances of\nVector2 into this one.',
      'Copies the values of all instances of Vector2 into this one.',
    ],
    ['a TODO is cut', 'Sorts the given list\nTODO make it faster', 'Sorts the given list'],
    ['an example line is cut', 'return row as array\nrowa([[1,2],[3,4]],0) -> [1,2]', 'return row as array'],
    ['Sphinx fields alone', ':param xs: some numbers to add\n:returns: a float', undefined],
    ['Sphinx fields', 'Return the mean value.\n:param xs: numbers', 'Return the mean value.'],
    ['Google sections', 'Return the mean value\n\nArgs:\n  xs: numbers', 'Return the mean value'],
    ['NumPy sections', 'Parameters\n----------\nxs : list of numbers', undefined],
    ['doctests are none', '>>> add(1, 2)\n3\n\nAdd two numbers up.', 'Add two numbers up.'],
    ['block HTML separates', 'Creates a thing here<p>and more about it', 'Creates a thing here'],
    ['an exclamation mark of a preserved comment', '! Draws a circle on it.', 'Draws a circle on it.'],
    ['a deprecated function still described', 'Joins two paths here.\n@deprecated Use x', 'Joins two paths here.'],
    [
      '"standard" and "exported" are words, not tools',
      'standard deviation of an array',
      'standard deviation of an array',
    ],
    ['"global" is a word', 'global minimum of a function', 'global minimum of a function'],
    ['not English', 'Renvoie la somme des éléments. Et voilà.', 'Renvoie la somme des éléments.'],
    ['no spaces between words', '计算平均值。', '计算平均值。'],
    ['"see if" describes', 'See if an object is of that type.', 'See if an object is of that type.'],
    ['braces at the end of prose', 'Returns the dimensions { rows, cols }', 'Returns the dimensions { rows, cols }'],
  ])('%s', (_, comment, expected) => {
    expect(sentence(comment)).toBe(expected);
  });

  it.each([
    ['', 'no description'],
    ['@private', 'no description'],
    ['@deprecated Use newName instead of it', 'no description'],
    ['@param {number} x the number to add\n@returns {number} the sum of all', 'no description'],
    ['@typedef {Object} Options all of the options\n', 'no description'],
    ['{@inheritDoc}', 'no description'],
    ['@inheritdoc', 'no description'],
    ['------------------', 'no description'],
    ['Deprecated, use the other one', 'deprecation notice'],
    ['Use other() instead', 'deprecation notice'],
    ['TODO: make this faster for large lists', 'todo or remark'],
    ['FIXME this breaks on empty lists', 'todo or remark'],
    ['NOTE: only for internal use here', 'todo or remark'],
    ['Copyright (c) 2014 The Authors, all rights reserved', 'licence'],
    ['@license MIT\nThis is a library of functions.', 'licence'],
    ['Licensed under the Apache License, Version 2.0', 'licence'],
    ['eslint-disable-next-line no-var', 'tool directive'],
    ['istanbul ignore next', 'tool directive'],
    ['@ts-expect-error the types are wrong', 'tool directive'],
    ['#__PURE__', 'tool directive'],
    ['prettier-ignore', 'tool directive'],
    ['See the other function for details', 'pointer elsewhere'],
    ['const x = foo(bar)', 'commented-out code'],
    ['foo(bar); baz();', 'commented-out code'],
    ['if (a === b) { return c }', 'commented-out code'],
    ['Sums up.', 'too few words'],
    ['lib/locale/bg/_lib/formatRelative.js', 'too few words'],
    ['https://example.org/some/page.html', 'no description'],
  ])('%j: %s', (comment, refused) => {
    expect(describeComment(comment)).toEqual({ refused });
  });

  it('a megabyte of anything takes no time', () => {
    const started = performance.now();
    for (const unit of ['[', '(', '`', '*', '{@link ', '[a](', '. ', '\n', 'https://', '@a\n']) {
      describeComment(`Adds ${unit.repeat(1_000_000 / unit.length)}`);
    }
    expect(performance.now() - started).toBeLessThan(8000);
  });

  it('the fewest words are a choice', () => {
    expect(describeComment('Sums up.', 2)).toEqual({ sentence: 'Sums up.' });
    expect(describeComment('Sums all of them up.', 6)).toEqual({ refused: 'too few words' });
  });

  it('directives are whole forms', () => {
    for (const text of [
      ' eslint-disable',
      '* @ts-ignore'.slice(2),
      ':: string',
      ' noqa: E501',
      '-*- coding: utf-8 -*-',
    ])
      expect(isDirective(text), text).toBe(true);
    for (const text of [
      'Prettier output of a tree',
      'exported by the parser to others',
      'type of the node',
      '@param x y',
    ])
      expect(isDirective(text), text).toBe(false);
  });
});
