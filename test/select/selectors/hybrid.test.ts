import { describe, expect, it } from 'vitest';
import { createBoundaryMorph } from '../../../select/selectors/boundary-morph.ts';
import { createDenseLog, createMorphHybrid, type HybridOptions } from '../../../select/selectors/hybrid.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import type { Selector } from '../../../src/ports.ts';
import type { Pool } from '../../../src/types.ts';
import { cosineTable, oracleKernel, oracleMedian } from '../../support/dense-gp.ts';
import { hybridPosterior } from '../../support/dense-hybrid.ts';
import { poolOf, randomVectors, unit, withWords } from '../../support/pools.ts';

/** Ranks by definition: how many come before. */
const ranksBy = (value: (d: number) => number, n: number): number[] =>
  Array.from({ length: n }, (_, d) => {
    let before = 0;
    for (let e = 0; e < n; e++) if (value(e) > value(d) || (value(e) === value(d) && e < d)) before++;
    return before;
  });

/** Cosine of two rows of the pool's terms, from dense vectors. */
function termTable(pool: Pool): number[][] {
  const { rows, width, offsets, terms, weights } = pool.terms!;
  const dense = Array.from({ length: rows }, (_, r) => {
    const out = new Array<number>(width).fill(0);
    for (let i = offsets[r]; i < offsets[r + 1]; i++) out[terms[i]] = weights[i];
    return out;
  });
  return cosineTable(dense);
}

interface Case {
  readonly pool: Pool;
  readonly vectors: number[][];
  readonly query: number[] | undefined;
  readonly scores: (number | null)[];
}

function randomCase(seed: number): Case {
  const rng = createRng(seed);
  const n = 2 + rng.int(22);
  const width = 3 + rng.int(4);
  const vectors = randomVectors(rng, n, width, seed % 2 === 0 ? 'gaussian' : 'clusters');
  const query = rng.next() < 0.2 ? undefined : unit(Array.from({ length: width }, () => rng.normal()));
  const scores = Array.from({ length: n }, () => (rng.next() < 0.1 ? null : rng.next()));
  return { pool: withWords(poolOf(vectors, query)), vectors, query, scores };
}

function oracleOf({ pool, vectors, query, scores }: Case, hybrid: boolean, noise: number, asked: readonly number[]) {
  const n = vectors.length;
  const points = query === undefined ? vectors : [...vectors, query];
  const cosines = cosineTable(points);
  const words = termTable(pool);
  const vmf = oracleKernel('vmf', oracleMedian(vectors));
  const kernel = points.map((_, a) =>
    points.map((__, b) => {
      const dense = a === b ? 1 : vmf(cosines[a][b]) ** 2;
      const said = a === b ? 1 : words[a][b];
      return 0.5 * dense + 0.5 * said;
    }),
  );
  const lexical = [...pool.lexicalRanks!];
  const dense = Array.from({ length: n }, (_, d) => d);
  const fused = ranksBy((d) => 1 / (61 + lexical[d]) + 1 / (61 + dense[d]), n);
  const g = (rank: number): number => 1 - Math.log(1 + rank) / Math.log(n);
  return hybridPosterior({
    kernel,
    hasQuery: query !== undefined,
    features: lexical.map((_, d) => (hybrid ? [g(lexical[d]), g(dense[d]), g(fused[d])] : [g(dense[d])])),
    weights: hybrid ? [0.25, 0.25, 0.5] : [1],
    coefficientVariance: 0.3,
    noise,
    scores,
    asked,
  });
}

describe.each([
  ['morph-hybrid', true],
  ['dense-log', false],
] as const)('%s against regression and process kept apart', (_name, hybrid) => {
  it.each([[{}], [{ noise: 1 }], [{ batch: 3 }], [{ acquisition: 'kg-own' as const }]])(
    'with %j',
    (options: HybridOptions) => {
      let steps = 0;
      for (let seed = 0; seed < 30; seed++) {
        const one = randomCase(seed);
        const n = one.vectors.length;
        const selector = hybrid ? createMorphHybrid(options) : createDenseLog(options);
        const run = selector.begin(one.pool, { budget: n, capacity: 1 + (seed % n) });
        const asked: number[] = [];
        const compare = (): void => {
          const truth = oracleOf(one, hybrid, (options.noise as number | undefined) ?? 0.1, asked);
          const { order } = run.result();
          const residuals = [...(one.query === undefined ? [] : [0]), ...asked.flatMap((d) => one.scores[d] ?? [])];
          expect(order.map(({ rank }) => rank)).toEqual(order.map((_, i) => i + 1));
          for (const { position, relevanceScore, source } of order) {
            if (source === 'scored') expect(relevanceScore).toBe(one.scores[position]);
            else expect(Math.abs(relevanceScore - truth.means[position])).toBeLessThan(1e-9);
          }
          if (residuals.length < 3) return;
          // std is in units of the residuals' deviation: the ratios are the oracle's.
          const open = order.filter(({ source }) => source === 'estimated');
          const [first] = open;
          if (first === undefined) return;
          for (const { position, std } of open) {
            const expected = truth.variances[position] / truth.variances[first.position];
            expect((std / first.std) ** 2).toBeCloseTo(expected, 8);
          }
        };
        for (let next = run.ask(); next.length > 0; next = run.ask()) {
          compare();
          for (const position of next) {
            run.tell(position, one.scores[position]);
            asked.push(position);
          }
          steps++;
        }
        compare();
      }
      expect(steps).toBeGreaterThan(80);
    },
  );
});

describe('morph-hybrid', () => {
  it('starts from the weighted log ranks', () => {
    const pool = {
      ...withWords(poolOf(randomVectors(createRng(3), 4, 3, 'gaussian'))),
      lexicalRanks: Int32Array.of(3, 0, 1, 2),
    };
    // Fused: 1/61 + 1/64, 1/62 + 1/61, 1/63 + 1/62, 1/64 + 1/63 -> ranks 1, 0, 2, 3.
    const g = [0, 1, 2, 3].map((rank) => 1 - Math.log(1 + rank) / Math.log(4));
    const expected = [
      0.25 * g[3] + 0.25 * g[0] + 0.5 * g[1],
      0.25 * g[0] + 0.25 * g[1] + 0.5 * g[0],
      0.25 * g[1] + 0.25 * g[2] + 0.5 * g[2],
      0.25 * g[2] + 0.25 * g[3] + 0.5 * g[3],
    ];
    const { order } = createMorphHybrid().begin(pool, { budget: 0, capacity: 2 }).result();
    for (const { position, relevanceScore } of order) expect(relevanceScore).toBeCloseTo(expected[position], 12);
  });

  it('ranks by the posterior where scores are doubted, and still reports them', () => {
    const one = randomCase(4);
    const limits = { budget: 6, capacity: 3 };
    const play = (options: HybridOptions) => {
      const run = createMorphHybrid(options).begin(one.pool, limits);
      for (let next = run.ask(); next.length > 0; next = run.ask()) for (const d of next) run.tell(d, one.scores[d]);
      return run.result().order;
    };
    const doubted = play({ noise: 3 });
    for (const { position, relevanceScore, source } of doubted) {
      if (source === 'scored') expect(relevanceScore).toBe(one.scores[position]);
    }
    expect(doubted.map(({ position }) => position)).toEqual(
      play({ noise: 3, scoredBy: 'posterior' }).map(({ position }) => position),
    );
    const believed = play({ noise: 3, scoredBy: 'score' }).map(({ relevanceScore }) => relevanceScore);
    expect(believed).toEqual([...believed].sort((a, b) => b - a));
  });

  it.each([[{ noise: 0 }], [{ noise: Number.NaN }], [{ weights: [1, 2] }], [{ batch: 0 }], [{ stopAt: -1 }]])(
    'refuses %j',
    (options) => {
      expect(() => createMorphHybrid(options as HybridOptions)).toThrow(expect.objectContaining({ code: 'CONFIG' }));
    },
  );
});

describe('the scale of the reranker', () => {
  /** Plays to the end; failed calls stay failed. */
  const playThrough = (pool: Pool, scores: readonly (number | null)[], create: (o?: HybridOptions) => Selector) => {
    const run = create().begin(pool, { budget: 6, capacity: Math.max(1, pool.ids.length >> 1) });
    const asked: number[] = [];
    for (let next = run.ask(); next.length > 0; next = run.ask()) {
      for (const position of next) {
        asked.push(position);
        run.tell(position, scores[position]);
      }
    }
    return { asked, order: run.result().order };
  };

  it('changes nothing but the unit: scores in another range, the same calls and order, estimates in that range', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const { pool, scores } = randomCase(seed);
      const [bottom, top] = [0.02, 0.3];
      const inRange = (y: number): number => bottom + (top - bottom) * y;
      const scoreScale = { top, fall: (top - bottom) / Math.log(pool.ids.length) };
      const small = scores.map((score) => (score === null ? null : inRange(score)));
      for (const create of [createMorphHybrid, createDenseLog]) {
        const plain = playThrough(pool, scores, create);
        const scaled = playThrough({ ...pool, scoreScale }, small, create);
        expect(scaled.asked).toEqual(plain.asked);
        expect(scaled.order.map(({ id }) => id)).toEqual(plain.order.map(({ id }) => id));
        scaled.order.forEach(({ relevanceScore }, i) => {
          expect(relevanceScore).toBeCloseTo(inRange(plain.order[i].relevanceScore), 9);
        });
      }
    }
  });

  it('never expects less than nothing, and is no matter to the selectors of the paper', () => {
    const { pool, scores } = randomCase(3);
    const scoreScale = { top: 0.1, fall: 0.5 };
    const asked = playThrough(
      { ...pool, scoreScale },
      scores.map(() => null),
      createMorphHybrid,
    );
    for (const { relevanceScore } of asked.order) expect(relevanceScore).toBeGreaterThanOrEqual(0);
    const paper = () => createBoundaryMorph();
    expect(playThrough({ ...pool, scoreScale }, scores, paper)).toEqual(playThrough(pool, scores, paper));
  });
});
