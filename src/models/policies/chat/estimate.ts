/** What a rewrite would cost, before anything is sent: tokens of the prompts counted, tokens of the answers guessed. */
import { costOf, type Price } from '../../../run/wire/mod.ts';
import type { IndexText, Sampling } from '../../../types.ts';
import { estimatingCounter, o200kCounter } from '../../token-counter.ts';
import type { ChatPolicy } from './chat-policy.ts';
import { newMarker } from './prompts.ts';

export interface ChatEstimate {
  readonly requests: number;
  readonly inputTokens: number;
  /** A guess: as long as the documents and a little more, or a short paragraph each. Without thinking. */
  readonly outputTokens: number;
  /** true: input by the model's own tokenizer; false: four bytes a token. */
  readonly exact: boolean;
  /** US dollars; undefined without a price. */
  readonly usd?: number;
  /** US dollars that it cannot exceed: every answer at its limit. */
  readonly usdAtMost?: number;
  /** Through the vendor's batch API, which takes half. */
  readonly usdByBatch?: number;
  readonly price?: Price;
}

/** What a rewrite adds to a document, or is by itself when it is appended, in tokens. */
const ADDED_TOKENS = 80;

export async function estimateChat(
  policy: ChatPolicy,
  texts: Iterable<IndexText>,
  sampling: Sampling,
  price: Price | undefined,
): Promise<ChatEstimate> {
  const { driver, output } = policy.spec;
  const counter = driver === 'openai' ? await o200kCounter() : estimatingCounter;
  const marker = newMarker();
  const around = counter.count(JSON.stringify(policy.request({ document: { id: '', text: '' } }, sampling, marker)));
  let requests = 0;
  let inputTokens = 0;
  let outputTokens = 0;
  for (const { text } of texts) {
    const tokens = counter.count(text);
    requests += sampling.samples;
    inputTokens += sampling.samples * (around + tokens);
    outputTokens += sampling.samples * (ADDED_TOKENS + (output === 'replace' ? tokens : 0));
  }
  const facts = { requests, inputTokens, outputTokens, exact: counter.exact };
  if (price === undefined) return facts;
  const usd = costOf(price, { input: inputTokens, output: outputTokens });
  return {
    ...facts,
    usd,
    usdAtMost: costOf(price, { input: inputTokens, output: requests * policy.maxTokens(sampling) }),
    ...(driver === 'chat' ? {} : { usdByBatch: usd / 2 }),
    price,
  };
}
