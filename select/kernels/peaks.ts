/**
 * Peaks of a height over a graph by persistence (BoundaryMORPH E.1; Chazal et al. 2013): lower the water level from the
 * top; islands appear at local maxima and join at saddles. When two join, the one with the lower peak ends there, and its
 * prominence is how far the water fell since it appeared. Peaks that end within tau are noise and belong to their
 * neighbour; the rest divide the graph between them.
 */
export interface Peak {
  /** The highest point. */
  readonly top: number;
  /** Peak minus saddle. What never joins a taller one stands out by its whole height. */
  readonly prominence: number;
  /** Points of this peak, ascending, the top among them. */
  readonly members: Int32Array;
}

/** Highest peak first. Heights are finite and at least 0; of equal heights the lower point counts as the higher one. */
export function findPeaks(heights: Float64Array, neighbours: readonly Int32Array[], tau: number): Peak[] {
  const size = heights.length;
  const order = Int32Array.from({ length: size }, (_, i) => i).sort((a, b) => heights[b] - heights[a] || a - b);
  const rank = new Int32Array(size);
  for (let i = 0; i < size; i++) rank[order[i]] = i;

  // Two forests over the same points: islands join at every saddle, basins only where the lower peak is noise. The root
  // of either is its highest point, which is the one of the lowest rank.
  const island = new Int32Array(size).fill(-1);
  const basin = new Int32Array(size).fill(-1);
  const prominence = Float64Array.from(heights);

  for (const point of order) {
    const above = Array.from(neighbours[point]).filter((other) => rank[other] < rank[point]);
    above.sort((a, b) => rank[a] - rank[b]);
    island[point] = basin[point] = point;
    for (const other of above) {
      const [taller, lower] = byRank(rank, findRoot(island, other), findRoot(island, point));
      if (taller === lower) continue;
      if (lower !== point) prominence[lower] = heights[lower] - heights[point];
      island[lower] = taller;
    }
    // Uphill along the steepest way, then whatever else meets here and is not worth its own name.
    if (above.length > 0) basin[point] = findRoot(basin, above[0]);
    for (const other of above) {
      const [taller, lower] = byRank(rank, findRoot(basin, other), findRoot(basin, point));
      if (taller !== lower && heights[lower] - heights[point] < tau) basin[lower] = taller;
    }
    if (above.length > 0) prominence[point] = 0;
  }

  const members = new Map<number, number[]>();
  for (let point = 0; point < size; point++) {
    const root = findRoot(basin, point);
    const found = members.get(root);
    if (found === undefined) members.set(root, [point]);
    else found.push(point);
  }
  return [...members]
    .map(([top, points]) => ({ top, prominence: prominence[top], members: Int32Array.from(points) }))
    .sort((a, b) => rank[a.top] - rank[b.top]);
}

function byRank(rank: Int32Array, a: number, b: number): [taller: number, lower: number] {
  return rank[a] <= rank[b] ? [a, b] : [b, a];
}

function findRoot(parent: Int32Array, point: number): number {
  let root = point;
  while (parent[root] !== root) root = parent[root];
  // Shortens the way for the next one.
  for (let at = point; parent[at] !== root; ) {
    const next = parent[at];
    parent[at] = root;
    at = next;
  }
  return root;
}

/**
 * Multimodal mass (E.1): over all peaks but the tallest, the share of the height that lies in the peak times its
 * prominence. 0 for one peak and for no heights at all.
 */
export function multimodalMass(heights: Float64Array, peaks: readonly Peak[]): number {
  let total = 0;
  for (const height of heights) total += height;
  if (total === 0) return 0;
  let mass = 0;
  for (const { members, prominence } of peaks.slice(1)) {
    let own = 0;
    for (const point of members) own += heights[point];
    mass += (own / total) * prominence;
  }
  return mass;
}
