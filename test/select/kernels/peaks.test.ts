import { describe, expect, it } from 'vitest';
import { findPeaks, multimodalMass } from '../../../select/kernels/peaks.ts';
import { createRng, type Rng } from '../../../src/kernels/rng.ts';

const graphOf = (size: number, edges: readonly (readonly [number, number])[]): Int32Array[] => {
  const sets = Array.from({ length: size }, () => new Set<number>());
  for (const [a, b] of edges) {
    sets[a].add(b);
    sets[b].add(a);
  }
  return sets.map((set) => Int32Array.from(set).sort());
};
const line = (size: number) =>
  graphOf(
    size,
    Array.from({ length: size - 1 }, (_, i) => [i, i + 1] as const),
  );

function randomGraph(rng: Rng, size: number): Int32Array[] {
  const edges: [number, number][] = [];
  for (let i = 0; i < size * 1.3; i++) {
    const [a, b] = [rng.int(size), rng.int(size)];
    if (a !== b) edges.push([a, b]);
  }
  return graphOf(size, edges);
}

/** Floods the graph anew at every level: the water level at which a taller point can first be reached from each top. */
function slowProminences(heights: Float64Array, neighbours: readonly Int32Array[]): Map<number, number> {
  const order = [...heights.keys()].sort((a, b) => heights[b] - heights[a] || a - b);
  const rank = new Map(order.map((point, i) => [point, i]));
  const isTaller = (a: number, b: number) => rank.get(a)! < rank.get(b)!;
  const found = new Map<number, number>();
  for (const top of order) {
    if (neighbours[top].some((other) => isTaller(other, top))) continue;
    found.set(top, heights[top]);
    for (let level = rank.get(top)!; level < order.length; level++) {
      const reached = new Set([top]);
      const queue = [top];
      for (const point of queue) {
        for (const other of neighbours[point]) {
          if (rank.get(other)! <= level && !reached.has(other)) {
            reached.add(other);
            queue.push(other);
          }
        }
      }
      if ([...reached].some((point) => isTaller(point, top))) {
        found.set(top, heights[top] - heights[order[level]]);
        break;
      }
    }
  }
  return found;
}

describe('findPeaks', () => {
  it('sees two hills, their saddle, and who stands on which', () => {
    const heights = Float64Array.from([0.1, 0.9, 0.5, 0.2, 0.4, 0.7, 0.3]);
    const peaks = findPeaks(heights, line(7), 0.2);
    expect(peaks.map(({ top }) => top)).toEqual([1, 5]);
    expect(peaks[0].prominence).toBe(0.9);
    expect(peaks[1].prominence).toBeCloseTo(0.5, 15);
    // The saddle belongs to the hill that its highest neighbour stands on.
    expect(peaks.map(({ members }) => [...members])).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6],
    ]);
    // (.4 + .7 + .3) / 3.1 of the height, standing out by .5.
    expect(multimodalMass(heights, peaks)).toBeCloseTo((1.4 / 3.1) * 0.5, 14);
  });

  it('leaves ripples below tau to their neighbour', () => {
    const heights = Float64Array.from([0.9, 0.6, 0.75, 0.5]);
    expect(findPeaks(heights, line(4), 0.2).map(({ members }) => [...members])).toEqual([[0, 1, 2, 3]]);
    expect(findPeaks(heights, line(4), 0.15).map(({ top }) => top)).toEqual([0, 2]);
    expect(multimodalMass(heights, findPeaks(heights, line(4), 0.2))).toBe(0);
  });

  it('counts an island that never joins by its whole height', () => {
    const heights = Float64Array.from([0.8, 0.6]);
    const peaks = findPeaks(heights, [new Int32Array(0), new Int32Array(0)], 0.2);
    expect(peaks.map(({ prominence }) => prominence)).toEqual([0.8, 0.6]);
  });

  it('is one peak on a plain and none on nothing', () => {
    const peaks = findPeaks(new Float64Array(5).fill(0.5), line(5), 0.2);
    expect(peaks.map(({ top, members }) => [top, members.length])).toEqual([[0, 5]]);
    expect(findPeaks(new Float64Array(0), [], 0.2)).toEqual([]);
    expect(multimodalMass(new Float64Array(0), [])).toBe(0);
    expect(multimodalMass(new Float64Array(3), findPeaks(new Float64Array(3), line(3), 0.2))).toBe(0);
  });

  it('finds the peaks and prominences of flooding every level, ties and islands included', () => {
    const rng = createRng(2608);
    for (let round = 0; round < 300; round++) {
      const size = 1 + rng.int(28);
      const steps = round % 3 === 0 ? 6 : 1000;
      const heights = Float64Array.from({ length: size }, () => rng.int(steps) / steps);
      const neighbours = randomGraph(rng, size);
      const tau = [0, 0.1, 0.2, 0.5][round % 4];
      const slow = slowProminences(heights, neighbours);
      const peaks = findPeaks(heights, neighbours, tau);
      // A top that joins nothing is its island's only peak and stays, however low it is.
      const islands = new Set(peaks.filter(({ top, prominence }) => prominence === heights[top]).map(({ top }) => top));
      const expected = [...slow].filter(([top, prominence]) => prominence >= tau || islands.has(top));
      expect(new Map(peaks.map(({ top, prominence }) => [top, prominence]))).toEqual(new Map(expected));
      const labels = peaks.flatMap(({ members }) => [...members]).sort((a, b) => a - b);
      expect(labels).toEqual([...heights.keys()]);
      for (const { top, members } of peaks) {
        const inside = new Set(members);
        const queue = [top];
        const reached = new Set(queue);
        for (const point of queue) {
          for (const other of neighbours[point]) {
            if (inside.has(other) && !reached.has(other)) {
              reached.add(other);
              queue.push(other);
            }
          }
        }
        expect(reached.size).toBe(members.length);
        expect(Math.max(...[...members].map((point) => heights[point]))).toBe(heights[top]);
      }
    }
  });
});
