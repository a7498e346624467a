/** How fast a training goes, in words, over its last few steps. */

const STEPS = 10;

/** Told of each step's tokens and seconds; answers '0.031 steps/s, 87 tokens/s'. */
export function createPace(): (tokens: number, seconds: number) => string {
  const last: { readonly tokens: number; readonly seconds: number }[] = [];
  return (tokens, seconds) => {
    last.push({ tokens, seconds });
    if (last.length > STEPS) last.shift();
    const time = Math.max(1e-9, sum(last.map((step) => step.seconds)));
    return `${perSecond(last.length / time)} steps/s, ${perSecond(sum(last.map((step) => step.tokens)) / time)} tokens/s`;
  };
}

function perSecond(rate: number): string {
  return rate >= 100 ? rate.toFixed(0) : rate.toPrecision(2);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
