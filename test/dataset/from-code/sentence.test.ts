import { describe, expect, it } from 'vitest';
import { firstSentence } from '../../../dataset/from-code/sentence.ts';

describe('firstSentence', () => {
  it.each([
    ['Adds two numbers. Returns the sum.', 'Adds two numbers.'],
    ['Adds two numbers', 'Adds two numbers'],
    ['Checks a path, e.g. "/a/b". Throws otherwise.', 'Checks a path, e.g. "/a/b".'],
    [
      'Reads a value, i.e. Foo, of v1.2 in Node.js or Intl.NumberFormat. Then stops.',
      'Reads a value, i.e. Foo, of v1.2 in Node.js or Intl.NumberFormat.',
    ],
    ['Works since Node.js. It is fast.', 'Works since Node.js.'],
    ['Works in Node.js version 2. It is fast.', 'Works in Node.js version 2.'],
    ['Algorithm of J. Smith and D. E. Knuth for sorting. Fast.', 'Algorithm of J. Smith and D. E. Knuth for sorting.'],
    ['Solves for X. The rest is noise.', 'Solves for X.'],
    ['Formats a date (see RFC 2616. Section 3) as text. Done.', 'Formats a date (see RFC 2616. Section 3) as text.'],
    ['Opens ( a stray one. Then goes on.', 'Opens ( a stray one.'],
    ['Sorts lists, maps, etc. and returns them. Stable.', 'Sorts lists, maps, etc. and returns them.'],
    ['Sorts lists, maps, etc. Returns them.', 'Sorts lists, maps, etc.'],
    ['Is it prime? Tells by trial division.', 'Is it prime?'],
    ['Say "hello world." Then leave.', 'Say "hello world."'],
    ['Computes the total sum. returns a number', 'Computes the total sum.'],
    [
      'Runs at approx. twice the speed of no. 3 in the list. Really.',
      'Runs at approx. twice the speed of no. 3 in the list.',
    ],
    ['Rounds to 0.5 and not ... to 1. Ends.', 'Rounds to 0.5 and not ... to 1.'],
    ['计算平均值。然后返回。', '计算平均值。'],
    ['', ''],
  ])('%j', (paragraph, sentence) => {
    expect(firstSentence(paragraph)).toBe(sentence);
  });
});
