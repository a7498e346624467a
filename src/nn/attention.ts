/**
 * Grouped-query attention over groups that share a prompt. Rows of a block are first all prompt tokens [prompts,
 * promptLength], then all completion tokens [prompts, samples, length]. Prompt tokens see the prompt up to themselves;
 * completion tokens see the whole prompt, what was cached of their own completion, and it up to themselves. So the keys
 * and values of a prompt are computed once, however many completions follow it.
 *
 * Query heads that share a key head are stacked along the row axis, so no key is ever repeated.
 */
import type { Node } from './graph.ts';
import type { ModelConfig } from './model-config.ts';
import { add, concat, input, matmul, reshape, slice, softmax, transpose } from './ops.ts';

export interface Layout {
  readonly prompts: number;
  /** Tokens of a prompt, right-padded; 0 = there is none. */
  readonly promptLength: number;
  /** Completions of each prompt; 0 = the prompts alone. */
  readonly samples: number;
  /** New tokens of each completion, right-padded. */
  readonly length: number;
  /** Tokens of each completion whose keys and values are inputs. */
  readonly past: number;
  /** The prompt's keys and values are inputs; its tokens are not among the rows. */
  readonly promptCached: boolean;
}

export function promptRows({ prompts, promptLength, promptCached }: Layout): number {
  return promptCached ? 0 : prompts * promptLength;
}

export function completionRows({ prompts, samples, length }: Layout): number {
  return prompts * samples * length;
}

export function rowsOf(layout: Layout): number {
  return promptRows(layout) + completionRows(layout);
}

/** q [rows, heads, headSize], k and v [rows, keyValueHeads, headSize], rotated already. */
export interface Projected {
  readonly q: Node;
  readonly k: Node;
  readonly v: Node;
}

export interface Attended {
  /** [rows, heads * headSize]. */
  readonly context: Node;
  /** Keys and values of the new tokens, laid out as caches are: what prefill and decoding keep. */
  readonly caches: Readonly<Record<string, Node>>;
}

/** Names of the graph's inputs: additive masks of 0 and MASKED, and caches. */
export const MASKS = {
  prompt: 'promptMask',
  causalPrompt: 'causalPrompt',
  causal: 'causal',
  past: 'pastMask',
} as const;
export const CACHES = {
  promptK: 'promptKeys',
  promptV: 'promptValues',
  pastK: 'pastKeys',
  pastV: 'pastValues',
} as const;
/** exp(MASKED) is exactly 0 in single precision. */
export const MASKED = -1e9;

export function attend({ q, k, v }: Projected, config: ModelConfig, layout: Layout): Attended {
  const { prompts, promptLength, promptCached, samples } = layout;
  const { keyValueHeads, headSize } = config;
  const split = promptRows(layout);
  const rows = rowsOf(layout);
  const contexts: Node[] = [];
  const caches: Record<string, Node> = {};
  let prompt: KeysAndValues | undefined;

  if (promptLength > 0) {
    const shape = [prompts, keyValueHeads, promptLength, headSize];
    if (promptCached) {
      prompt = { keys: input(CACHES.promptK, shape), values: input(CACHES.promptV, shape) };
    } else {
      const toCache = (x: Node): Node =>
        transpose(reshape(slice(x, 0, 0, split), [prompts, promptLength, keyValueHeads, headSize]), [0, 2, 1, 3]);
      prompt = { keys: toCache(k), values: toCache(v) };
      caches[CACHES.promptK] = prompt.keys;
      caches[CACHES.promptV] = prompt.values;
      contexts.push(attendWithinPrompt(slice(q, 0, 0, split), prompt, config, layout));
    }
  }
  if (samples > 0) {
    const own = (x: Node): Node => slice(x, 0, split, rows);
    const completion = attendFromCompletions({ q: own(q), k: own(k), v: own(v) }, prompt, config, layout);
    contexts.push(completion.context);
    Object.assign(caches, completion.caches);
  }
  return { context: concat(contexts, 0), caches };
}

interface KeysAndValues {
  readonly keys: Node;
  readonly values: Node;
}

function attendWithinPrompt(q: Node, { keys, values }: KeysAndValues, config: ModelConfig, layout: Layout): Node {
  const { prompts, promptLength: length } = layout;
  const { heads, keyValueHeads, headSize } = config;
  const shared = heads / keyValueHeads;
  const perHead = transpose(reshape(q, [prompts, length, keyValueHeads, shared, headSize]), [0, 2, 3, 1, 4]);
  const stacked = reshape(perHead, [prompts, keyValueHeads, shared * length, headSize]);
  const scores = matmul(stacked, keys, { transposeB: true, scale: 1 / Math.sqrt(headSize) });
  // Padding stands behind the tokens, so looking back never meets it.
  const masked = add(
    reshape(scores, [prompts, keyValueHeads, shared, length, length]),
    input(MASKS.causalPrompt, [length, length]),
  );
  const weights = reshape(softmax(masked), [prompts, keyValueHeads, shared * length, length]);
  const context = reshape(matmul(weights, values), [prompts, keyValueHeads, shared, length, headSize]);
  return reshape(transpose(context, [0, 3, 1, 2, 4]), [prompts * length, heads * headSize]);
}

function attendFromCompletions(
  { q, k, v }: Projected,
  prompt: KeysAndValues | undefined,
  config: ModelConfig,
  layout: Layout,
): Attended {
  const { prompts, promptLength, samples, length, past } = layout;
  const { heads, keyValueHeads, headSize } = config;
  const shared = heads / keyValueHeads;
  const scale = 1 / Math.sqrt(headSize);
  const group = [prompts, keyValueHeads, samples];
  /** One product per prompt and key head: the queries of all its completions together. */
  const together = (x: Node, width: number): Node =>
    reshape(x, [prompts, keyValueHeads, samples * shared * length, width]);
  const apart = (x: Node, width: number): Node => reshape(x, [...group, shared * length, width]);

  const queries = transpose(
    reshape(q, [prompts, samples, length, keyValueHeads, shared, headSize]),
    [0, 3, 1, 4, 2, 5],
  );
  const toCache = (x: Node): Node =>
    transpose(reshape(x, [prompts, samples, length, keyValueHeads, headSize]), [0, 3, 1, 2, 4]);
  const own: KeysAndValues = { keys: toCache(k), values: toCache(v) };
  const pastShape = [...group, past, headSize];
  const cached: KeysAndValues | undefined =
    past > 0 ? { keys: input(CACHES.pastK, pastShape), values: input(CACHES.pastV, pastShape) } : undefined;

  const full = (width: number): number[] => [...group, shared, length, width];
  const scores: Node[] = [];
  if (prompt !== undefined) {
    const byPrompt = matmul(together(queries, headSize), prompt.keys, { transposeB: true, scale });
    scores.push(add(reshape(byPrompt, full(promptLength)), input(MASKS.prompt, [prompts, 1, 1, 1, 1, promptLength])));
  }
  if (cached !== undefined) {
    const byPast = matmul(apart(queries, headSize), cached.keys, { transposeB: true, scale });
    scores.push(add(reshape(byPast, full(past)), input(MASKS.past, [prompts, 1, samples, 1, 1, past])));
  }
  const byOwn = reshape(matmul(apart(queries, headSize), own.keys, { transposeB: true, scale }), full(length));
  scores.push(length > 1 ? add(byOwn, input(MASKS.causal, [length, length])) : byOwn);

  const weights = softmax(concat(scores, 5));
  let start = 0;
  const part = (width: number): Node => {
    const piece = slice(weights, 5, start, start + width);
    start += width;
    return piece;
  };
  const contexts: Node[] = [];
  if (prompt !== undefined) {
    contexts.push(reshape(matmul(together(part(promptLength), promptLength), prompt.values), full(headSize)));
  }
  if (cached !== undefined) contexts.push(reshape(matmul(apart(part(past), past), cached.values), full(headSize)));
  contexts.push(reshape(matmul(apart(part(length), length), own.values), full(headSize)));

  const context = transpose(contexts.reduce(add), [0, 2, 4, 1, 3, 5]);
  return {
    context: reshape(context, [prompts * samples * length, heads * headSize]),
    caches: { keys: own.keys, values: own.values },
  };
}
