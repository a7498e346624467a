/**
 * BoundaryMORPH as its paper describes it (B.2): the whole kernel matrix first, then at every step a factor of the observed
 * block, a triangular solve for every document, and every pair of Eq. 4. What the selector bench measures itself against.
 */
import type { Pool } from '../src/types.ts';

/** The positions asked, in order. */
export function plainSelection(pool: Pool, scores: Float64Array, budget: number, capacity: number): number[] {
  const size = pool.ids.length;
  const { columns, data } = pool.embeddings;
  const stored = Array.from({ length: size }, (_, d) => data.subarray(d * columns, (d + 1) * columns));
  const vectors = [Float64Array.from(pool.queryEmbedding!), ...stored.map((row) => Float64Array.from(row))];
  const n = vectors.length;
  const kernel = new Float64Array(n * n);
  const cosines: number[] = [];
  for (let a = 0; a < n; a++) {
    for (let b = 0; b < a; b++) {
      let cosine = 0;
      for (let i = 0; i < columns; i++) cosine += vectors[a][i] * vectors[b][i];
      kernel[a * n + b] = kernel[b * n + a] = cosine;
      if (b > 0) cosines.push(cosine);
    }
  }
  const sorted = Float64Array.from(cosines).sort();
  const half = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  const kappa = Math.LN2 / (1 - median);
  for (let i = 0; i < kernel.length; i++) kernel[i] = Math.exp(kappa * (kernel[i] - 1));
  for (let a = 0; a < n; a++) kernel[a * n + a] = 1;

  const prior = Float64Array.from({ length: size }, (_, d) => (size - 1 - d) / (size - 1));
  const observed = [0];
  const residuals = [0];
  const asked: number[] = [];
  for (let step = 0; step < budget; step++) {
    const t = observed.length;
    const factor = new Float64Array(t * t);
    for (let i = 0; i < t; i++) {
      for (let j = 0; j <= i; j++) {
        let sum = kernel[observed[i] * n + observed[j]] + (i === j ? 1e-4 : 0);
        for (let p = 0; p < j; p++) sum -= factor[i * t + p] * factor[j * t + p];
        factor[i * t + j] = i === j ? Math.sqrt(sum) : sum / factor[j * t + j];
      }
    }
    const forward = (values: ArrayLike<number>): Float64Array => {
      const out = new Float64Array(t);
      for (let i = 0; i < t; i++) {
        let sum = values[i];
        for (let p = 0; p < i; p++) sum -= factor[i * t + p] * out[p];
        out[i] = sum / factor[i * t + i];
      }
      return out;
    };
    const mean = residuals.reduce((a, b) => a + b, 0) / t;
    const w = forward(residuals.map((r) => r - mean));
    const mu = new Float64Array(size);
    const variance = new Float64Array(size);
    for (let d = 0; d < size; d++) {
      const v = forward(observed.map((o) => kernel[o * n + d + 1]));
      let correction = 0;
      let known = 0;
      for (let i = 0; i < t; i++) {
        correction += v[i] * w[i];
        known += v[i] * v[i];
      }
      mu[d] = prior[d] + mean + correction;
      variance[d] = Math.max(0, 1 - known);
    }
    for (const d of asked) {
      mu[d] = scores[d];
      variance[d] = 0;
    }
    const order = [...mu.keys()].sort((a, b) => mu[b] - mu[a] || a - b);
    let best = Number.POSITIVE_INFINITY;
    let pick = -1;
    for (const i of order.slice(0, capacity)) {
      for (const j of order.slice(capacity)) {
        const open = [i, j].filter((d) => !asked.includes(d));
        if (open.length === 0) continue;
        const z = (mu[i] - mu[j]) / Math.sqrt(variance[i] + variance[j]);
        if (!(z < best)) continue;
        best = z;
        pick = open.length === 1 || variance[i] > variance[j] ? open[0] : j;
      }
    }
    asked.push(pick);
    observed.push(pick + 1);
    residuals.push(scores[pick] - prior[pick]);
  }
  return asked;
}
