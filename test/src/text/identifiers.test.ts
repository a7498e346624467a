import { expect, test } from 'vitest';
import { splitIdentifier } from '../../../src/text/mod.ts';

test.each([
  ['parseHTTPResponse2_json', ['parse', 'HTTP', 'Response', '2', 'json']],
  ['snake_case_name', ['snake', 'case', 'name']],
  ['SCREAMING_SNAKE', ['SCREAMING', 'SNAKE']],
  ['camelCase', ['camel', 'Case']],
  ['PascalCase', ['Pascal', 'Case']],
  ['userIDs', ['user', 'IDs']],
  ['getURLsFor', ['get', 'URLs', 'For']],
  ['XMLHttpRequest', ['XML', 'Http', 'Request']],
  ['sha256', ['sha', '256']],
  ['utf8Decode', ['utf', '8', 'Decode']],
  ['$el', ['el']],
  ['__init__', ['init']],
  ['x', ['x']],
  ['A', ['A']],
  ['aB', ['a', 'B']],
  ['kebab-case.path', ['kebab', 'case', 'path']],
  ['naïveÉtat', ['naïve', 'État']],
  ['数据表', ['数据表']],
  ['___', []],
  ['', []],
])('%s', (identifier, parts) => {
  expect(splitIdentifier(identifier)).toEqual(parts);
});

test('loses no letter and no digit', () => {
  for (const identifier of ['fooBAR9baz_Qux', 'ABCdefGHI', 'IDsAreURLs', 'éÀß9Zz']) {
    expect(splitIdentifier(identifier).join('')).toBe(identifier.replaceAll('_', ''));
  }
});
