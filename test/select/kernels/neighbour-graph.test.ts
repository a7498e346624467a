import { expect, it } from 'vitest';
import { neighbourGraph } from '../../../select/kernels/neighbour-graph.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import { randomVectors, SHAPES } from '../../support/pools.ts';

it('joins each point with its nearest ones, either way, never with itself, as sorting all cosines does', () => {
  const rng = createRng(11);
  for (let round = 0; round < 60; round++) {
    const size = rng.int(25);
    const vectors = randomVectors(rng, size + 5, 4, SHAPES[round % SHAPES.length]);
    const rows = { rows: size + 5, columns: 4, data: Float64Array.from(vectors.flat()) };
    const points = Array.from({ length: size }, (_, i) => i + 3);
    const degree = 1 + rng.int(6);
    const nearest = points.map((a, i) => {
      const cosine = (b: number) => vectors[a].reduce((sum, x, c) => sum + x * vectors[b][c], 0);
      const others = points.map((b, j) => [j, cosine(b)] as const).filter(([j]) => j !== i);
      return others.sort((x, y) => y[1] - x[1] || x[0] - y[0]).slice(0, degree);
    });
    const asked = nearest.map((list) => new Set(list.map(([j]) => j)));
    const graph = neighbourGraph(rows, points, degree);
    // Sums of the same products in another order may tie differently; everywhere else the edges are the same.
    const clear = SHAPES[round % SHAPES.length] === 'gaussian' || SHAPES[round % SHAPES.length] === 'clusters';
    graph.forEach((list, i) => {
      expect(list).not.toContain(i);
      expect(list.length).toBeGreaterThanOrEqual(Math.min(degree, size - 1));
      for (const j of list) expect(graph[j]).toContain(i);
      if (!clear) return;
      expect([...list]).toEqual(points.map((_, j) => j).filter((j) => asked[i].has(j) || asked[j].has(i)));
    });
  }
});
