/**
 * Seeded random numbers: xoshiro128** seeded by splitmix32. Four 32-bit words of state that a checkpoint can carry, the
 * same stream on every platform. All randomness of the project goes through here, so same seed means same result.
 */
export interface Rng {
  /** Uniform in [0, 1), 53 bits. */
  next(): number;
  /** Uniform integer in [0, n). */
  int(n: number): number;
  /** Standard normal. */
  normal(): number;
  /** The four state words; createRng(state) continues the stream. */
  state(): [number, number, number, number];
}

export function createRng(seed: number | readonly [number, number, number, number]): Rng {
  let a: number;
  let b: number;
  let c: number;
  let d: number;
  if (typeof seed === 'number') {
    const mix = splitmix32(seed);
    a = mix();
    b = mix();
    c = mix();
    d = mix();
  } else {
    [a, b, c, d] = seed;
  }

  const word = (): number => {
    const x = Math.imul(b, 5);
    const result = Math.imul((x << 7) | (x >>> 25), 9) >>> 0;
    const t = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= t;
    d = (d << 11) | (d >>> 21);
    return result;
  };
  const next = (): number => {
    const high = word() >>> 5;
    const low = word() >>> 6;
    return (high * 67108864 + low) / 9007199254740992;
  };

  return {
    next,
    int: (n) => Math.floor(next() * n),
    // Box-Muller without the cached second value: the state words alone are then the whole state.
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    state: () => [a >>> 0, b >>> 0, c >>> 0, d >>> 0],
  };
}

/** A seed for a named purpose, so that streams of one run never overlap: deriveSeed(1, 'rollouts', 17). */
export function deriveSeed(seed: number, ...purpose: readonly (string | number)[]): number {
  let hash = 2166136261 ^ (seed | 0);
  for (const part of purpose) {
    for (const char of `${part}\u0000`) hash = Math.imul(hash ^ char.codePointAt(0)!, 16777619);
  }
  return hash >>> 0;
}

/** Fisher-Yates in place. */
export function shuffle<T>(items: T[], rng: Rng): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = rng.int(i + 1);
    const held = items[i];
    items[i] = items[j];
    items[j] = held;
  }
  return items;
}

function splitmix32(seed: number): () => number {
  let state = seed | 0;
  // The high word of a large seed counts too, so that 1 and 1 + 2^32 differ.
  state ^= Math.imul(Math.floor(seed / 4294967296) | 0, 0x9e3779b1);
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let t = state ^ (state >>> 16);
    t = Math.imul(t, 0x21f0aaad);
    t ^= t >>> 15;
    t = Math.imul(t, 0x735a2d97);
    return (t ^ (t >>> 15)) >>> 0;
  };
}
