/** The fast path (16-bit rows, SIMD, rows prepared ahead) beside a dense oracle on the same kernel rows. */
import { describe, expect, it } from 'vitest';
import { medianOf } from '../../../select/kernels/cosine-median.ts';
import { createCovariance } from '../../../select/kernels/covariance.ts';
import { createDenseKernel } from '../../../select/kernels/dense-kernel.ts';
import { packRows } from '../../../select/kernels/packed-rows.ts';
import { percentilePrior } from '../../../select/kernels/percentile-prior.ts';
import { boundary } from '../../../select/selectors/acquire.ts';
import { createGaussianRun } from '../../../select/selectors/gaussian-run.ts';
import { createRng, type Rng } from '../../../src/kernels/rng.ts';
import type { SelectionRun } from '../../../src/ports.ts';
import type { Pool } from '../../../src/types.ts';
import { type OracleInput, oracleStep } from '../../support/dense-gp.ts';
import { poolOf, randomVectors, SHAPES, unit } from '../../support/pools.ts';

const POOLS = 1000;

interface Case {
  readonly input: OracleInput;
  readonly start: () => SelectionRun;
}

function makeCase(rng: Rng, round: number): Case {
  const large = round % 25 === 0;
  const n = large ? 256 + rng.int(40) : 2 + rng.int(28);
  const width = 2 + rng.int(7);
  const vectors = randomVectors(rng, n, width, SHAPES[round % SHAPES.length]);
  const query = unit(Array.from({ length: width }, () => rng.normal()));
  const constant = rng.next() < 0.1;
  const scores = Array.from({ length: n }, () => (rng.next() < 0.08 ? null : constant ? 0.5 : rng.next() ** 3));
  const budget = large ? 6 + rng.int(4) : rng.int(n + 2);
  const capacity = large ? 1 + rng.int(40) : rng.int(n + 1);

  const doubles = poolOf(vectors, query);
  const embeddings = { ...doubles.embeddings, data: Float32Array.from(doubles.embeddings.data) };
  const pool: Pool = { ...doubles, embeddings };
  const products = packRows(embeddings);
  const table = Array.from({ length: n + 1 }, () => new Float64Array(n));
  products.ofVector(pool.queryEmbedding!, table[0]);
  products.ofRows(
    vectors.map((_, d) => d),
    table.slice(1),
  );
  const median = medianOf(Float64Array.from(vectors.flatMap((_, a) => [...table[a + 1].subarray(a + 1)])));
  const covariance = createCovariance('vmf', median, embeddings.data);
  const input: OracleInput = {
    vectors,
    query,
    scores,
    budget,
    capacity,
    cosine: (a, b) => (b < 0 ? table[b + 1][a] : table[a + 1][b]),
    median: 1 - Math.LN2 / covariance.concentration,
  };
  const start = (): SelectionRun =>
    createGaussianRun(
      pool,
      { budget, capacity },
      {
        surrogate: {
          prior: percentilePrior(n),
          kernel: createDenseKernel(embeddings, pool.queryEmbedding, covariance, products),
          queryResidual: 0,
        },
        acquire: boundary(),
      },
    );
  return { input, start };
}

/** Runs the selection beside the oracle; answers [steps, steps at which they chose differently]. */
function follow({ input, start }: Case): [number, number] {
  const run = start();
  const asked: number[] = [];
  let different = 0;
  for (;;) {
    const next = run.ask();
    if (next.length === 0) return [asked.length, different];
    const [pick] = next;
    const truth = oracleStep(input, asked);
    if (pick !== truth.pick) {
      different++;
      if (truth.pair === undefined) expect(truth.sigma[pick]).toBeCloseTo(truth.sigma[truth.pick], 9);
      else {
        const own = truth.pairs.find(({ i, j }) => i === pick || j === pick)!;
        if (own.z !== truth.pair.z) expect(own.z - truth.pair.z).toBeLessThan(1e-9);
      }
    }
    asked.push(pick);
    run.tell(pick, input.scores[pick]);
  }
}

describe('the fast path', () => {
  it(`chooses as the dense oracle does on the same kernel rows, over ${POOLS} pools`, () => {
    const rng = createRng(77);
    let steps = 0;
    let different = 0;
    for (let round = 0; round < POOLS; round++) {
      const [taken, ties] = follow(makeCase(rng, round));
      steps += taken;
      different += ties;
    }
    expect(steps).toBeGreaterThan(8000);
    expect(different / steps).toBeLessThan(0.02);
  }, 120_000);
});
