import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../../src/run/wire/limiter.ts';
import { remainingOf, resetOf, retryAfterMs } from '../../../../src/run/wire/retry-after.ts';
import { createFakeClock } from '../../../support/servers/fake-clock.ts';

const none = new Headers();

describe('turns at a service', () => {
  it('halves once per storm and grows by one per round', () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ concurrency: 16, clock });
    const started = clock.now();
    clock.advance(10);
    for (let i = 0; i < 16; i++) limiter.congested(started, { limited: false });
    expect(limiter.state().window).toBe(8);
    clock.advance(10);
    limiter.congested(clock.now(), { limited: false });
    expect(limiter.state().window).toBe(4);
    // A round of four successes adds about one.
    for (let i = 0; i < 4; i++) limiter.succeeded(none);
    expect(limiter.state().window).toBeGreaterThan(4.8);
    expect(limiter.state().window).toBeLessThan(5);
    for (let i = 0; i < 1000; i++) limiter.succeeded(none);
    expect(limiter.state().window).toBe(16);
    for (let i = 0; i < 20; i++) {
      clock.advance(1);
      limiter.congested(clock.now(), { limited: false });
    }
    expect(limiter.state().window).toBe(1);
  });

  it('keeps requests and tokens per minute', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ concurrency: 4, requestsPerMinute: 60, tokensPerMinute: 1000, clock });
    const started = clock.now();
    for (let i = 0; i < 180; i++) await limiter.turn((pass) => pass(0));
    // The first minute's worth at once, the rest at one a second.
    const seconds = (clock.now() - started) / 1000;
    expect(seconds).toBeGreaterThanOrEqual(119);
    expect(seconds).toBeLessThanOrEqual(122);
    const before = clock.now();
    for (let i = 0; i < 5; i++) await limiter.turn((pass) => pass(900));
    expect((clock.now() - before) / 60_000).toBeGreaterThan(3);
    // More than a minute's worth in one request waits for a full bucket and goes.
    await limiter.turn((pass) => pass(5000));
  });

  it('finds its pace after a first complaint, and gets faster again', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ concurrency: 4, clock });
    for (let i = 0; i < 100; i++) {
      await limiter.turn((pass) => pass(50));
      clock.advance(100);
    }
    expect(limiter.state().requestRate).toBe(Number.POSITIVE_INFINITY);
    limiter.congested(clock.now(), { limited: true });
    const { requestRate, tokenRate } = limiter.state();
    // Ten a second it was.
    expect(requestRate).toBeCloseTo(300, -1);
    expect(tokenRate).toBeCloseTo(15_000, -3);
    for (let i = 0; i < 20; i++) limiter.succeeded(none);
    expect(limiter.state().requestRate).toBeCloseTo(requestRate * 2, 5);
  });

  it('waits where nothing remains, until the limit is whole again', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ concurrency: 1, clock });
    limiter.succeeded(
      new Headers({
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '6m0s',
        'x-ratelimit-remaining-tokens': '10',
      }),
    );
    const before = clock.now();
    await limiter.turn((pass) => pass(1));
    expect(clock.now() - before).toBe(360_000);
  });

  it('leaves a service alone for as long as it asks, all of its requests', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ concurrency: 4, clock });
    limiter.congested(clock.now(), { limited: false, waitMs: 9000 });
    const before = clock.now();
    await limiter.turn((pass) => pass(0));
    expect(clock.now() - before).toBe(9000);
  });
});

describe('what headers say', () => {
  const now = Date.UTC(2026, 0, 1);

  it('reads Retry-After', () => {
    const of = (value: string) => retryAfterMs(new Headers({ 'retry-after': value }), now);
    expect(of('3')).toBe(3000);
    expect(of('0.5')).toBe(500);
    expect(of(new Date(now + 90_000).toUTCString())).toBe(90_000);
    expect(of(new Date(now - 90_000).toUTCString())).toBe(0);
    expect(of('soon')).toBeUndefined();
    expect(retryAfterMs(new Headers(), now)).toBeUndefined();
  });

  it('reads resets of every kind', () => {
    expect(resetOf('1s', now)).toBe(1000);
    expect(resetOf('6m0s', now)).toBe(360_000);
    expect(resetOf('20ms', now)).toBe(20);
    expect(resetOf('1h2m3.5s', now)).toBe(3_723_500);
    expect(resetOf('12', now)).toBe(12_000);
    expect(resetOf(String(now / 1000 + 30), now)).toBe(30_000);
    expect(resetOf(new Date(now + 5000).toISOString(), now)).toBe(5000);
    expect(resetOf('whenever', now)).toBeUndefined();
    expect(resetOf(null, now)).toBeUndefined();
  });

  it('reads what remains, as OpenAI, Cohere and Anthropic say it', () => {
    const openai = new Headers({ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '2s' });
    expect(remainingOf(openai, 'tokens', now)).toEqual({ remaining: 0, resetMs: 2000 });
    const plain = new Headers({ 'x-ratelimit-remaining': '5', 'x-ratelimit-reset': '60' });
    expect(remainingOf(plain, 'requests', now)).toEqual({ remaining: 5, resetMs: 60_000 });
    const anthropic = new Headers({
      'anthropic-ratelimit-requests-remaining': '1',
      'anthropic-ratelimit-requests-reset': new Date(now + 1000).toISOString(),
    });
    expect(remainingOf(anthropic, 'requests', now)).toEqual({ remaining: 1, resetMs: 1000 });
    expect(remainingOf(new Headers(), 'requests', now)).toBeUndefined();
  });
});
