import { describe, expect, it } from 'vitest';
import { createBoundaryMorph } from '../../../select/selectors/boundary-morph.ts';
import {
  chooseSelector,
  createSelector,
  SELECTORS,
  type SelectorName,
  type SelectorSpec,
} from '../../../select/selectors/registry.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import { type ContractExceptions, selectorContract } from '../../contracts/selector.ts';
import { poolOf, randomVectors, unit, withWords } from '../../support/pools.ts';

const EXCEPTIONS: Partial<Record<SelectorName, ContractExceptions>> = {
  'bm25-rerank': { callsNothing: true, ownOrder: true },
  'morph-hybrid': { ownOrder: true },
};

for (const name of SELECTORS) selectorContract(name, () => createSelector(name), EXCEPTIONS[name]);

const variants: [string, SelectorSpec, ContractExceptions?][] = [
  ['boundary-morph in batches of 4', { driver: 'boundary-morph', batch: 4 }],
  ['boundary-morph on the fused order', { driver: 'boundary-morph', prior: 'fusion' }, { ownOrder: true }],
  ['boundary-morph by entropy', { driver: 'boundary-morph', acquisition: 'entropy' }],
  [
    'morph-hybrid by kg-own in batches of 3',
    { driver: 'morph-hybrid', acquisition: 'kg-own', batch: 3 },
    { ownOrder: true },
  ],
  ['morph-hybrid with noise', { driver: 'morph-hybrid', noise: 3 }, { ownOrder: true }],
  ['single-stage on the fused order', { driver: 'single-stage', prior: 'fusion' }, { ownOrder: true }],
  ['bagel on the fused order', { driver: 'bagel', prior: 'fusion', beta0: 0 }, { ownOrder: true }],
  ['rgs with few waiting', { driver: 'rgs', degree: 3, seedDiv: 4, frac: 0.2 }],
  ['gar in batches of 2', { driver: 'gar', neighbours: 3, batch: 2 }],
  ['acurank in batches of 5', { driver: 'acurank', batch: 5 }],
];
for (const [name, spec, except] of variants) selectorContract(name, () => createSelector(spec), except);

describe('the registry', () => {
  it('names what exists, and the nearest', () => {
    expect(() => createSelector('boundry-morph')).toThrow(
      "There is no selector 'boundry-morph'. Did you mean 'boundary-morph'?",
    );
    expect(() => createSelector('agentic')).toThrow(/whole system/);
    try {
      createSelector('zzzzzzzz');
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: 'USAGE', hint: `Selectors: ${SELECTORS.join(', ')}.` });
    }
  });

  it('takes short forms with settings, and says which settings there are', () => {
    const pool = withWords(poolOf(randomVectors(createRng(1), 9, 3, 'gaussian'), unit([1, 1, 1])));
    const ask = (spec: string | SelectorSpec) => createSelector(spec).begin(pool, { budget: 6, capacity: 3 }).ask();
    expect(ask('boundary-morph:batch=4')).toHaveLength(4);
    expect(ask('single-stage:prior=fusion')).toEqual(ask({ driver: 'single-stage', prior: 'fusion' }));
    expect(ask('morph-hybrid:weights=1,0,0,noise=auto')).toEqual(ask({ driver: 'morph-hybrid', weights: [1, 0, 0] }));
    expect(() => createSelector('bagel:beta=1')).toThrow(/unknown setting 'beta'. Did you mean 'beta0'/);
    expect(() => createSelector('bagel:beta0=-1')).toThrow(/beta0/);
  });

  it('takes morph-hybrid where there are lexical ranks, dense-log elsewhere, and says why', () => {
    const pool = poolOf(randomVectors(createRng(1), 5, 3, 'gaussian'));
    expect(chooseSelector(undefined, pool)).toMatchObject({
      selector: { name: 'dense-log' },
      reason: 'the default where a pool has no lexical ranks',
    });
    expect(chooseSelector(undefined, withWords(pool))).toMatchObject({
      selector: { name: 'morph-hybrid' },
      reason: 'the default where a pool has lexical ranks',
    });
    expect(chooseSelector('bagel', pool)).toMatchObject({ selector: { name: 'bagel' }, reason: 'asked for' });
  });

  it.each(['morph-hybrid', 'bm25-rerank'])('%s asks for lexical ranks', (name) => {
    const pool = poolOf(randomVectors(createRng(1), 5, 3, 'gaussian'));
    expect(() => createSelector(name).begin(pool, { budget: 2, capacity: 2 })).toThrow(/needs lexical ranks/);
  });

  it('passes a block through', () => {
    expect(() => createSelector({ driver: 'boundary-morph', batch: 0 })).toThrow(/selector.batch/);
  });
});

describe('single-stage', () => {
  it('puts the scored top B first by score, then the tail as it was; failures go back to the tail', () => {
    const pool = poolOf(randomVectors(createRng(1), 7, 3, 'gaussian'), unit([1, 1, 1]));
    const run = createSelector('single-stage').begin(pool, { budget: 4, capacity: 2 });
    expect(run.ask()).toEqual([0, 1, 2, 3]);
    run.tell(0, 0.1);
    run.tell(1, null);
    run.tell(2, 0.9);
    run.tell(3, 0.1);
    const { order } = run.result();
    expect(order.map((d) => d.position)).toEqual([2, 0, 3, 1, 4, 5, 6]);
    expect(order[3]).toMatchObject({ source: 'estimated', relevanceScore: Number.NaN, std: Number.NaN });
  });
});

describe('boundary-morph in batches', () => {
  const rng = createRng(31);
  const vectors = randomVectors(rng, 60, 5, 'clusters');
  const pool = poolOf(vectors, unit([1, 0, 0, 0, 1]));
  const scores = Array.from({ length: 60 }, () => rng.next());

  it('asks for b at a time and for the rest at the end', () => {
    const run = createBoundaryMorph({ batch: 4 }).begin(pool, { budget: 10, capacity: 12 });
    const sizes: number[] = [];
    for (let next = run.ask(); next.length > 0; next = run.ask()) {
      sizes.push(next.length);
      for (const position of next) run.tell(position, scores[position]);
    }
    expect(sizes).toEqual([4, 4, 2]);
  });

  it('has the posterior of the scored set, whatever the order and however many fail', () => {
    // The same positions told one by one in ascending order give the same posterior.
    for (const failing of [[], [1], [0, 2], [3]]) {
      const batched = createBoundaryMorph({ batch: 4 }).begin(pool, { budget: 4, capacity: 12 });
      const picks = batched.ask();
      const kept = picks.filter((_, i) => !failing.includes(i));
      for (const position of [...picks].reverse())
        batched.tell(position, kept.includes(position) ? scores[position] : null);
      const second = createBoundaryMorph({ batch: 60 }).begin(pool, { budget: 60, capacity: 12 });
      for (const position of second.ask()) second.tell(position, kept.includes(position) ? scores[position] : null);
      const expected = second.result().order;
      const found = batched.result().order;
      expect(found.map((d) => d.position)).toEqual(expected.map((d) => d.position));
      found.forEach((d, i) => {
        expect(d.relevanceScore).toBeCloseTo(expected[i].relevanceScore, 9);
        expect(d.std).toBeCloseTo(expected[i].std, 6);
      });
    }
  });

  it('chooses the first of a batch as a run of single calls does', () => {
    const single = createBoundaryMorph().begin(pool, { budget: 10, capacity: 12 });
    const batched = createBoundaryMorph({ batch: 5 }).begin(pool, { budget: 10, capacity: 12 });
    expect(batched.ask()[0]).toBe(single.ask()[0]);
  });
});
