import { describe, expect, it } from 'vitest';
import { buildRank, createCopyCheck } from '../../../dataset/from-code/duplicates.ts';

const add = { path: 'src/add.js', name: 'add', key: '( a , b ) { return a + b }', comment: 'Adds two numbers.' };

describe('createCopyCheck', () => {
  it('same name and tokens', () => {
    const copies = createCopyCheck();
    expect(copies.check(add)).toBeUndefined();
    expect(copies.check({ ...add, path: 'other.js', comment: 'Other words.' })).toBe('tokens');
    expect(copies.check({ ...add, path: 'other.js', name: 'add$1' })).toBe('tokens');
    expect(copies.check({ ...add, path: 'other.js', name: 'plus' })).toBeUndefined();
  });

  it('same name and comment, when a file is a build of the other', () => {
    const translated = { ...add, key: '( ) { var a = arguments [ 0 ] ; return sum . apply ( null , arguments ) }' };
    const copies = createCopyCheck();
    copies.check(add);
    expect(copies.check({ ...translated, path: 'dist/bundle.js' })).toBe('comment');
    expect(copies.check({ ...translated, path: 'es5/add.js' })).toBe('comment');
    expect(copies.check({ ...translated, path: 'other.js' })).toBeUndefined();
    expect(copies.check({ ...translated, path: 'dist/b.js', comment: 'Adds two numbers. Slowly.' })).toBe('tokens');
  });

  it('same name, same comment, nearly the same tokens', () => {
    const copies = createCopyCheck();
    copies.check({ ...add, key: '( a , b ) { return baseAdd ( a , b , 0 ) }' });
    expect(copies.check({ ...add, path: 'all.js', key: '( a , b ) { return getAdd ( a , b , 0 ) }' })).toBe('comment');
  });
});

it('sources rank before builds', () => {
  const paths = ['dist/cjs/a.js', 'src/a.ts', 'lib/a.js', 'a.cjs', 'distance/a.js'];
  expect(paths.map(buildRank)).toEqual([4, 0, 1, 1, 0]);
});
