/** What the answers of a chat policy came to: how they ended, and the tokens that the service counted. */
import type { RawAnswer } from './answer.ts';

export interface ChatUsage {
  readonly answers: number;
  /** Of these, on record from before: not paid now. */
  readonly recorded: number;
  readonly refused: number;
  readonly truncated: number;
  readonly filtered: number;
  readonly failed: number;
  /** Ended well and said nothing. */
  readonly empty: number;
  readonly inputTokens: number;
  /** Of these, from the vendor's prompt cache. */
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** Of these, thinking. */
  readonly thinkingTokens: number;
}

export interface UsageCounter {
  add(answer: RawAnswer, text: string, recorded: boolean): void;
  usage(): ChatUsage;
  /** Whether any answer came. */
  succeeded(): boolean;
}

export function createUsageCounter(): UsageCounter {
  const counts = {
    answers: 0,
    recorded: 0,
    refused: 0,
    truncated: 0,
    filtered: 0,
    failed: 0,
    empty: 0,
    inputTokens: 0,
    cachedTokens: 0,
    outputTokens: 0,
    thinkingTokens: 0,
  };
  return {
    add({ finish, usage }, text, recorded) {
      counts.answers++;
      if (recorded) counts.recorded++;
      if (finish === 'refusal') counts.refused++;
      else if (finish === 'length') counts.truncated++;
      else if (finish === 'filtered') counts.filtered++;
      else if (finish === 'error') counts.failed++;
      else if (text === '') counts.empty++;
      counts.inputTokens += usage.input;
      counts.cachedTokens += usage.cached;
      counts.outputTokens += usage.output;
      counts.thinkingTokens += usage.thinking;
    },
    usage: () => ({ ...counts }),
    succeeded: () => counts.answers > 0,
  };
}
