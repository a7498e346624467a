/** IEEE 754 half precision in both directions, exact; Node 20 has no Float16Array. */

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** The value of each of the 65,536 halves. */
const VALUES = Float32Array.from({ length: 0x10000 }, (_, half) => {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
});

export function halfToFloat(half: number): number {
  return VALUES[half];
}

/** out[i] = the value of halves[i]. */
export function halvesToFloats(halves: Uint16Array, out: Float32Array = new Float32Array(halves.length)): Float32Array {
  for (let i = 0; i < halves.length; i++) out[i] = VALUES[halves[i]];
  return out;
}

/** Nearest half of a float32, ties to even; beyond 65,504 infinity. */
export function floatToHalf(value: number): number {
  float[0] = value;
  const sign = (bits[0] >>> 16) & 0x8000;
  const rest = bits[0] & 0x7fffffff;
  if (rest > 0x7f800000) return sign | 0x7e00;
  if (rest >= 0x47800000) return sign | 0x7c00;
  if (rest < 0x38800000) {
    // Below the smallest normal half: steps of 2^-24, rounded by hand because |value| * 2^24 fits exactly in a float64.
    const steps = Math.abs(float[0]) * 2 ** 24;
    const down = Math.floor(steps);
    const odd = down & 1;
    return sign | (steps - down > 0.5 || (steps - down === 0.5 && odd === 1) ? down + 1 : down);
  }
  const rounded = rest + 0xfff + ((rest >>> 13) & 1);
  return sign | ((rounded - 0x38000000) >>> 13);
}

export function floatsToHalves(
  floats: ArrayLike<number>,
  out: Uint16Array = new Uint16Array(floats.length),
): Uint16Array {
  for (let i = 0; i < floats.length; i++) out[i] = floatToHalf(floats[i]);
  return out;
}
