/** Tokens and money in words: before a rewrite, and after it. */
import type { ChatEstimate } from '../src/models/policies/mod.ts';
import { usdText } from '../src/run/wire/mod.ts';
import type { RewriteCost } from './report.ts';

export function estimateText(estimate: ChatEstimate): string {
  const { requests, inputTokens, outputTokens, exact, usd, usdAtMost, usdByBatch, price } = estimate;
  const tokens =
    `${requests} requests, ${inputTokens} input tokens (${exact ? 'counted' : 'estimated, four bytes a token'}), ` +
    `about ${outputTokens} output tokens (estimated, without thinking)`;
  if (usd === undefined || price === undefined) {
    return `${tokens}\nno price is known for this model: give it with --price IN,OUT (US dollars per million tokens)`;
  }
  const batch = usdByBatch === undefined ? '' : `, by batch (--batch) about ${usdText(usdByBatch)}`;
  return (
    `${tokens}\nabout ${usdText(usd)}, at most ${usdText(usdAtMost!)}${batch}, at $${price.input} and $${price.output} per ` +
    `million tokens (${price.asOf})`
  );
}

export function costText(cost: RewriteCost): string {
  const ends = (['refused', 'truncated', 'filtered', 'empty', 'failed'] as const)
    .filter((key) => cost[key] > 0)
    .map((key) => `${cost[key]} ${key}`);
  return (
    `${cost.answers} answers (${cost.recorded} on record${cost.byBatch === undefined ? '' : `, ${cost.byBatch} by batch`}${ends.length === 0 ? '' : `; ${ends.join(', ')}`}): ` +
    `${cost.inputTokens} input tokens (${cost.cachedTokens} from the vendor's cache), ${cost.outputTokens} output tokens ` +
    `(${cost.thinkingTokens} of thinking), ${usdText(cost.usd)} spent now`
  );
}
