/** Tail probabilities for the tests. Series and continued fractions to double precision, no tables. */

/** P(|T| >= |t|) of Student's t with `df` degrees of freedom: I_x(df/2, 1/2) at x = df / (df + t^2). */
export function studentTwoSided(t: number, df: number): number {
  if (!Number.isFinite(t)) return Number.isNaN(t) ? Number.NaN : 0;
  const square = t * t;
  return incompleteBeta(df / (df + square), square / (df + square), df / 2, 0.5);
}

/** P(|Z| >= |z|) of the standard normal: erfc(|z| / sqrt 2) = Q(1/2, z^2 / 2). */
export function normalTwoSided(z: number): number {
  const x = (z * z) / 2;
  if (x === 0) return 1;
  if (!Number.isFinite(x)) return 0;
  return x < 1.5 ? 1 - gammaSeries(x) : gammaFraction(x);
}

/** ln Gamma(x), x > 0. Stirling's series after lifting x above 10; absolute error near 1e-15 of the result's size. */
export function logGamma(x: number): number {
  let lift = 0;
  while (x < 10) {
    lift += Math.log(x);
    x++;
  }
  const inverse = 1 / x;
  const square = inverse * inverse;
  const series =
    inverse *
    (1 / 12 -
      square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square * (1 / 1188 - square * (691 / 360360))))));
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series - lift;
}

/** Regularised incomplete beta I_x(a, b); y = 1 - x is passed along because it may be too small to subtract. */
export function incompleteBeta(x: number, y: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (y <= 0) return 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(y));
  // The fraction converges fast on this side of the mode only; the other side is the complement.
  if (x < (a + 1) / (a + b + 2)) return (front * betaFraction(x, a, b)) / a;
  return 1 - (front * betaFraction(y, b, a)) / b;
}

const TINY = 1e-300;
const EPSILON = 1e-16;

/** Continued fraction of the incomplete beta (DLMF 8.17.22), modified Lentz. */
function betaFraction(x: number, a: number, b: number): number {
  let c = 1;
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let value = d;
  for (let m = 1; m <= 10_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away(1 + even * d);
    c = away(1 + even / c);
    value *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away(1 + odd * d);
    c = away(1 + odd / c);
    value *= d * c;
    if (Math.abs(d * c - 1) < EPSILON) break;
  }
  return value;
}

/** P(1/2, x) by its power series. */
function gammaSeries(x: number): number {
  let term = 2;
  let sum = term;
  for (let n = 1; term > sum * EPSILON; n++) {
    term *= x / (n + 0.5);
    sum += term;
  }
  return (sum * Math.exp(-x) * Math.sqrt(x)) / Math.sqrt(Math.PI);
}

/** Q(1/2, x) by its continued fraction (DLMF 8.9.2), modified Lentz. */
function gammaFraction(x: number): number {
  let b = x + 0.5;
  let c = 1 / TINY;
  let d = 1 / b;
  let value = d;
  for (let n = 1; n <= 10_000; n++) {
    const a = -n * (n - 0.5);
    b += 2;
    d = 1 / away(a * d + b);
    c = away(b + a / c);
    value *= d * c;
    if (Math.abs(d * c - 1) < EPSILON) break;
  }
  return (value * Math.exp(-x) * Math.sqrt(x)) / Math.sqrt(Math.PI);
}

function away(value: number): number {
  return Math.abs(value) < TINY ? TINY : value;
}
