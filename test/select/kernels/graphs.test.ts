/** Graphs over a pool, against brute force. */
import { describe, expect, it } from 'vitest';
import { beamSearch } from '../../../select/kernels/beam-search.ts';
import { nearestNeighbours } from '../../../select/kernels/nearest-neighbours.ts';
import { proximityGraph } from '../../../select/kernels/proximity-graph.ts';
import { robustPrune } from '../../../select/kernels/robust-prune.ts';
import { createRowProducts } from '../../../select/kernels/row-products.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import type { Matrix } from '../../../src/types.ts';
import { poolOf, randomVectors, SHAPES } from '../../support/pools.ts';

function drain<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

const cosine = ({ columns, data }: Matrix, a: number, b: number): number => {
  let sum = 0;
  for (let i = 0; i < columns; i++) sum += data[a * columns + i] * data[b * columns + i];
  return sum;
};

describe('nearest neighbours', () => {
  it.each(SHAPES)('are those of brute force: %s', (shape) => {
    const { embeddings } = poolOf(randomVectors(createRng(3), 40, 5, shape));
    const found = drain(nearestNeighbours(embeddings, createRowProducts(embeddings), 6));
    found.forEach((neighbours, d) => {
      expect(neighbours).toHaveLength(6);
      expect(neighbours).not.toContain(d);
      const away = [...Array(40).keys()].filter((e) => e !== d).map((e) => cosine(embeddings, d, e));
      away.sort((x, y) => y - x);
      neighbours.forEach((e, i) => {
        expect(cosine(embeddings, d, e)).toBeCloseTo(away[i], 12);
      });
    });
  });
});

describe('robust prune', () => {
  it('drops what a taken neighbour is closer to', () => {
    // On a line: node at 0, candidates at 1, 1.5, -2.
    const at = [0, 1, 1.5, -2];
    const distance = (a: number, b: number): number => Math.abs(at[a] - at[b]);
    expect(robustPrune(0, [1, 2, 3, 0, 1], distance, 1.2, 10)).toEqual([1, 3]);
    // 1.2 * .5 = .6 <= 1.5 drops 2; with alpha 4, 4 * .5 = 2 > 1.5 keeps it.
    expect(robustPrune(0, [3, 2, 1], distance, 4, 10)).toEqual([1, 2, 3]);
    expect(robustPrune(0, [3, 2, 1], distance, 4, 2)).toEqual([1, 2]);
  });
});

describe('the proximity graph', () => {
  const build = (embeddings: Matrix, degree: number) =>
    drain(proximityGraph(embeddings, createRowProducts(embeddings), { degree, listSize: 100, alpha: 1.2, seed: 1 }));

  it('leads greedy search to the true neighbours', () => {
    const rng = createRng(5);
    const { embeddings } = poolOf(randomVectors(rng, 400, 8, 'gaussian'));
    const graph = build(embeddings, 16);
    let found = 0;
    for (let q = 0; q < 40; q++) {
      const distance = (d: number): number => 1 - cosine(embeddings, q * 10, d);
      const near = new Set(beamSearch(graph, 0, distance, 50));
      const truth = [...Array(400).keys()].sort((a, b) => distance(a) - distance(b)).slice(0, 10);
      found += truth.filter((d) => near.has(d)).length;
    }
    expect(found / 400).toBeGreaterThan(0.97);
  });

  it.each(SHAPES)('has bounded degree and no loops: %s', (shape) => {
    for (const size of [0, 1, 2, 25]) {
      const { embeddings } = poolOf(randomVectors(createRng(2), size, 4, shape));
      const graph = size === 0 ? [] : build(embeddings, 5);
      expect(graph).toHaveLength(size);
      graph.forEach((neighbours, d) => {
        expect(neighbours.length).toBeLessThanOrEqual(5);
        expect(neighbours).not.toContain(d);
        expect(new Set(neighbours).size).toBe(neighbours.length);
      });
    }
  });
});
