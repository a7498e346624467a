/** How long a service asks to be left alone, from the headers that services say it with. */

/** Milliseconds, or undefined when nothing is said. `now` in epoch milliseconds, for dates. */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const precise = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(precise) && precise >= 0) return precise;
  const header = headers.get('retry-after')?.trim();
  if (header === undefined || header === '') return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** What is left of a limit, and when it is whole again. */
export interface Remaining {
  readonly remaining: number;
  readonly resetMs: number;
}

/** `x-ratelimit-*` (OpenAI and most others) or `anthropic-ratelimit-*`, for 'requests' or 'tokens'. */
export function remainingOf(headers: Headers, what: 'requests' | 'tokens', now: number): Remaining | undefined {
  for (const prefix of ['x-ratelimit', 'anthropic-ratelimit']) {
    const read = (part: string): string | null =>
      prefix === 'x-ratelimit'
        ? (headers.get(`${prefix}-${part}-${what}`) ?? (what === 'requests' ? headers.get(`${prefix}-${part}`) : null))
        : headers.get(`${prefix}-${what}-${part}`);
    const left = read('remaining');
    if (left === null || left.trim() === '' || !Number.isFinite(Number(left))) continue;
    const resetMs = resetOf(read('reset'), now);
    if (resetMs !== undefined) return { remaining: Number(left), resetMs };
  }
  return undefined;
}

/** Smaller numbers are seconds from now, larger ones a time. */
const EPOCH_SECONDS = 1e9;

/** '1s', '6m0s', '20ms', '1h2m3.5s', '12', an epoch, an RFC 3339 date. */
export function resetOf(text: string | null, now: number): number | undefined {
  if (text === null || text.trim() === '') return undefined;
  const plain = Number(text);
  if (Number.isFinite(plain)) return Math.max(0, plain > EPOCH_SECONDS ? plain * 1000 - now : plain * 1000);
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)];
  if (parts.length > 0 && parts.map(([all]) => all).join('') === text.trim()) {
    return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * UNITS[unit as keyof typeof UNITS], 0);
  }
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
