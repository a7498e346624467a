/** What every selector must hold, whatever it is good at. Run for each driver from its own test file. */
import { describe, expect, it } from 'vitest';
import { createRng } from '../../src/kernels/rng.ts';
import type { SelectionLimits, Selector } from '../../src/ports.ts';
import type { Pool, Selection } from '../../src/types.ts';
import { poolOf as plainPoolOf, randomVectors, SHAPES, unit, withWords } from '../support/pools.ts';

/** With words beside the vectors, for those who look at them. */
const poolOf = (...args: Parameters<typeof plainPoolOf>): Pool => withWords(plainPoolOf(...args));

interface Played {
  readonly asked: number[];
  readonly turns: number;
  readonly selection: Selection;
}

/** Plays a run to its end; scores[d] null = the call fails. Checks after every turn that an answer could be given. */
function play(selector: Selector, pool: Pool, limits: SelectionLimits, scores: readonly (number | null)[]): Played {
  const run = selector.begin(pool, limits);
  const asked: number[] = [];
  let turns = 0;
  for (;;) {
    const next = run.ask();
    if (next.length === 0) break;
    turns++;
    for (const position of next) {
      expect(asked).not.toContain(position);
      asked.push(position);
    }
    expect(asked.length).toBeLessThanOrEqual(limits.budget);
    for (const position of next) run.tell(position, scores[position]);
    if (turns % 3 === 0) checkSelection(run.result(), pool, limits, asked, scores);
  }
  expect(run.ask()).toEqual([]);
  const selection = run.result();
  checkSelection(selection, pool, limits, asked, scores);
  return { asked, turns, selection };
}

function checkSelection(
  selection: Selection,
  pool: Pool,
  limits: SelectionLimits,
  asked: readonly number[],
  scores: readonly (number | null)[],
): void {
  const size = pool.ids.length;
  expect(selection.capacity).toBe(limits.capacity);
  expect(selection.order).toHaveLength(size);
  expect(new Set(selection.order.map((d) => d.position)).size).toBe(size);
  selection.order.forEach((document, index) => {
    const { position } = document;
    expect(document.rank).toBe(index + 1);
    expect(document.id).toBe(pool.ids[position]);
    const score = asked.includes(position) ? scores[position] : null;
    if (score === null) {
      expect(document.source).toBe('estimated');
      expect(document.relevanceScore).not.toBe(Number.POSITIVE_INFINITY);
    } else {
      expect(document).toMatchObject({ source: 'scored', relevanceScore: score, std: 0 });
    }
  });
}

export interface ContractExceptions {
  /** Makes no calls at all. */
  readonly callsNothing?: true;
  /** Has an order of its own before any score. */
  readonly ownOrder?: true;
}

export function selectorContract(name: string, create: () => Selector, except: ContractExceptions = {}): void {
  const spent = (budget: number, size: number): number => (except.callsNothing ? 0 : Math.min(budget, size));
  describe(`selector contract: ${name}`, () => {
    it('carries its name', () => {
      expect(create().name).toBe(name.replace(/ .*/, ''));
    });

    it('spends the whole budget, never more, each position once, and orders the whole pool', () => {
      const rng = createRng(77);
      for (let round = 0; round < 60; round++) {
        const size = rng.int(30);
        const pool = poolOf(randomVectors(rng, size, 4, SHAPES[round % SHAPES.length]), unit([1, 2, 3, 4]));
        const scores = Array.from({ length: size }, () => (rng.next() < 0.15 ? null : rng.next()));
        const limits = { budget: rng.int(size + 4), capacity: rng.int(size + 4) };
        const { asked } = play(create(), pool, limits, scores);
        expect(asked).toHaveLength(spent(limits.budget, size));
      }
    });

    it('does the same twice', () => {
      const rng = createRng(5);
      const pool = poolOf(randomVectors(rng, 40, 5, 'clusters'), unit([1, 0, 1, 0, 1]));
      const scores = Array.from({ length: 40 }, () => rng.next());
      const once = play(create(), pool, { budget: 15, capacity: 10 }, scores);
      expect(play(create(), pool, { budget: 15, capacity: 10 }, scores)).toEqual(once);
    });

    it('keeps runs of one selector apart', () => {
      const rng = createRng(6);
      const selector = create();
      const pools = [0, 1].map(() => poolOf(randomVectors(rng, 20, 4, 'gaussian'), unit([1, 1, 0, 0])));
      const scores = Array.from({ length: 20 }, () => rng.next());
      const limits = { budget: 8, capacity: 5 };
      const alone = pools.map((pool) => play(create(), pool, limits, scores).asked);
      const runs = pools.map((pool) => selector.begin(pool, limits));
      const together: number[][] = [[], []];
      for (let open = true; open; ) {
        open = false;
        runs.forEach((run, r) => {
          for (const position of run.ask()) {
            open = true;
            together[r].push(position);
            run.tell(position, scores[position]);
          }
        });
      }
      expect(together).toEqual(alone);
    });

    const anchor = unit([1, 0, 0]);
    const degenerate: [string, Pool, SelectionLimits, (number | null)[]][] = [
      ['an empty pool', poolOf([], anchor), { budget: 5, capacity: 5 }, []],
      ['one document', poolOf([anchor], anchor), { budget: 5, capacity: 5 }, [0.5]],
      ['no budget', poolOf(randomVectors(createRng(1), 9, 3, 'gaussian'), anchor), { budget: 0, capacity: 3 }, []],
      [
        'no capacity',
        poolOf(randomVectors(createRng(1), 9, 3, 'gaussian'), anchor),
        { budget: 4, capacity: 0 },
        ones(9),
      ],
      ['N <= k', poolOf(randomVectors(createRng(1), 5, 3, 'gaussian'), anchor), { budget: 4, capacity: 9 }, ones(5)],
      ['N <= B', poolOf(randomVectors(createRng(1), 5, 3, 'gaussian'), anchor), { budget: 50, capacity: 2 }, ones(5)],
      [
        'all alike',
        poolOf(randomVectors(createRng(1), 9, 3, 'identical'), anchor),
        { budget: 6, capacity: 3 },
        ones(9),
      ],
      [
        'only zeros',
        poolOf(
          Array.from({ length: 7 }, () => [0, 0, 0]),
          [0, 0, 0],
        ),
        { budget: 4, capacity: 3 },
        ones(7),
      ],
      ['no query vector', poolOf(randomVectors(createRng(1), 9, 3, 'gaussian')), { budget: 6, capacity: 3 }, ones(9)],
      [
        'every call failing',
        poolOf(randomVectors(createRng(1), 9, 3, 'gaussian'), anchor),
        { budget: 6, capacity: 3 },
        new Array<null>(9).fill(null),
      ],
    ];
    it.each(degenerate)('stands %s', (_what, pool, limits, scores) => {
      const { asked } = play(create(), pool, limits, scores);
      expect(asked).toHaveLength(spent(limits.budget, pool.ids.length));
    });

    it.skipIf(except.ownOrder)('without a call keeps the first-stage order', () => {
      const pool = poolOf(randomVectors(createRng(2), 12, 3, 'gaussian'), anchor);
      const { order } = create().begin(pool, { budget: 0, capacity: 4 }).result();
      expect(order.map((d) => d.position)).toEqual([...Array(12).keys()]);
    });

    it.skipIf(except.callsNothing)('takes NaN as a failed call', () => {
      const pool = poolOf(randomVectors(createRng(2), 6, 3, 'gaussian'), anchor);
      const run = create().begin(pool, { budget: 1, capacity: 2 });
      const [position] = run.ask();
      run.tell(position, Number.NaN);
      expect(run.ask()).toEqual([]);
      expect(run.result().order.every((d) => d.source === 'estimated')).toBe(true);
    });

    it('answers before every score is in, and goes on', () => {
      const rng = createRng(12);
      const pool = poolOf(randomVectors(rng, 30, 4, 'gaussian'), unit([1, 0, 0, 0]));
      const scores = Array.from({ length: 30 }, () => rng.next());
      const run = create().begin(pool, { budget: 12, capacity: 6 });
      const asked: number[] = [];
      for (;;) {
        const next = run.ask();
        if (next.length === 0) break;
        for (const position of next) {
          checkSelection(run.result(), pool, { budget: 12, capacity: 6 }, asked, scores);
          run.tell(position, scores[position]);
          asked.push(position);
        }
      }
      expect(asked).toHaveLength(spent(12, 30));
    });

    it('refuses answers that were not asked for, and limits that are no counts', () => {
      const pool = poolOf(randomVectors(createRng(2), 6, 3, 'gaussian'), anchor);
      const run = create().begin(pool, { budget: 2, capacity: 2 });
      expect(() => run.tell(0, 0.5)).toThrow(/not asked for/);
      if (!except.callsNothing) {
        const next = run.ask();
        expect(() => run.ask()).toThrow(/outstanding/);
        run.tell(next[0], 0.5);
        expect(() => run.tell(next[0], 0.5)).toThrow(/not asked for/);
      }
      expect(() => create().begin(pool, { budget: -1, capacity: 2 })).toThrow(/budget/);
      expect(() => create().begin(pool, { budget: 1, capacity: 2.5 })).toThrow(/capacity/);
    });
  });
}

function ones(count: number): number[] {
  return new Array<number>(count).fill(1);
}
