/**
 * Sampling with a key-value cache. A prompt is read once however many completions follow it, and its keys are read once a
 * step for all of them (src/nn/attention.ts). Every completion draws from a stream of its own, so what it says does not
 * depend on who else is in the batch.
 */
import { DocOptError } from '../../errors.ts';
import { createRng, type Rng } from '../../kernels/rng.ts';
import { CACHES, type Layout, MASKED, MASKS } from '../../nn/attention.ts';
import { BLOCK } from '../../nn/block.ts';
import { causalMask, packGroups } from '../../nn/pack.ts';
import { type Adapter, gatherRows, type ModelParts } from './model-parts.ts';
import { sampleToken, type TokenSampling } from './sample-token.ts';

export interface DecodeRequest {
  readonly prompt: Int32Array;
  /** One seed per completion. */
  readonly seeds: readonly number[];
}

export interface DecodeOptions extends TokenSampling {
  readonly maxNewTokens: number;
  readonly endTokens: ReadonlySet<number>;
  /** Asked after every token: ends the completion there, as finished (a stop string) or as cut (runaway repetition). */
  readonly stops?: (tokens: readonly number[]) => 'stop' | 'length' | undefined;
}

export interface Decoded {
  /** The end token included, when there was one. */
  readonly tokens: Int32Array;
  /** Under softmax(logits / temperature); greedy: temperature 1. */
  readonly logProbs: Float64Array;
  /** Under the distribution that was drawn from (penalties, top-k and top-p included). */
  readonly drawnLogProbs: Float64Array;
  readonly finish: 'stop' | 'length';
}

const PROMPT_MULTIPLE = 32;
/** First size of a completion's own cache; it doubles when it is full. */
const FIRST_PAST = 32;

/** Decodes completions of several prompts together; [request][completion]. All requests want equally many. */
export async function decode(
  parts: ModelParts,
  requests: readonly DecodeRequest[],
  options: DecodeOptions,
  adapter?: Adapter,
): Promise<Decoded[][]> {
  const samples = requests[0]?.seeds.length ?? 0;
  if (requests.some(({ seeds }) => seeds.length !== samples)) {
    throw new DocOptError('INTERNAL', 'prompts of one batch want different numbers of completions');
  }
  const completions = requests.map(({ prompt, seeds }) => seeds.map((seed) => new OpenCompletion(prompt, seed)));
  if (samples === 0) return [];
  let batch = await readPrompts(parts, requests, samples, adapter);
  let logits = batch.firstLogits;
  const { vocabularySize } = parts.config;
  for (let t = 0; t < options.maxNewTokens; t++) {
    batch.live.forEach((request, p) => {
      completions[request].forEach((completion, s) => {
        // The first token of all completions is drawn from the prompt's last row.
        const row = t === 0 ? p : p * samples + s;
        completion.extend(logits.subarray(row * vocabularySize, (row + 1) * vocabularySize), options);
      });
    });
    const open = batch.live.flatMap((request, p) => (completions[request].some(({ done }) => !done) ? [p] : []));
    if (open.length === 0 || t + 1 === options.maxNewTokens) break;
    // Finished prompts are carried along until half the batch is: every other size of a batch is other graphs.
    if (open.length <= batch.live.length / 2) batch = shrink(batch, open);
    const tokens = Int32Array.from(batch.live.flatMap((request) => completions[request].map(({ last }) => last)));
    logits = await step(parts, batch, tokens, t, adapter);
  }
  return completions.map((group) => group.map((completion) => completion.result()));
}

class OpenCompletion {
  readonly #tokens: number[] = [];
  readonly #logProbs: number[] = [];
  readonly #drawn: number[] = [];
  readonly #rng: Rng;
  readonly #seen: Set<number>;
  readonly #generated = new Set<number>();
  #finish: 'stop' | 'length' = 'length';
  done = false;

  constructor(prompt: Int32Array, seed: number) {
    this.#rng = createRng(seed);
    this.#seen = new Set(prompt);
  }

  get last(): number {
    return this.#tokens.at(-1) ?? 0;
  }

  extend(logits: Float32Array, options: DecodeOptions): void {
    if (this.done) return;
    const seen = { all: this.#seen, generated: this.#generated };
    const { token, logProb, drawnLogProb } = sampleToken(logits, options, this.#rng.next(), seen);
    this.#tokens.push(token);
    this.#logProbs.push(logProb);
    this.#drawn.push(drawnLogProb);
    this.#seen.add(token);
    this.#generated.add(token);
    const ends = options.endTokens.has(token) ? 'stop' : options.stops?.(this.#tokens);
    if (ends === undefined) return;
    this.done = true;
    this.#finish = ends;
  }

  result(): Decoded {
    return {
      tokens: Int32Array.from(this.#tokens),
      logProbs: Float64Array.from(this.#logProbs),
      drawnLogProbs: Float64Array.from(this.#drawn),
      finish: this.#finish,
    };
  }
}

interface Cache {
  /** [prompts, keyValueHeads, promptLength, headSize]. */
  readonly promptKeys: Float32Array;
  readonly promptValues: Float32Array;
  /** [prompts, keyValueHeads, samples, past, headSize]. */
  keys: Float32Array;
  values: Float32Array;
}

interface DecodeBatch {
  /** Which request each prompt of the batch is. */
  readonly live: readonly number[];
  readonly samples: number;
  readonly promptLength: number;
  readonly promptLengths: readonly number[];
  readonly promptMask: Float32Array;
  past: number;
  readonly caches: readonly Cache[];
  readonly firstLogits: Float32Array;
}

/** The prompts through the model: their keys and values by layer, and the logits after each. */
async function readPrompts(
  parts: ModelParts,
  requests: readonly DecodeRequest[],
  samples: number,
  adapter: Adapter | undefined,
): Promise<DecodeBatch> {
  const { layers, keyValueHeads, headSize, hiddenSize } = parts.config;
  const packed = packGroups(
    requests.map(({ prompt }) => ({ prompt, completions: [] })),
    { promptMultiple: PROMPT_MULTIPLE },
  );
  const { promptLength } = packed.layout;
  const shared = { ...parts.angles(packed.positions), [MASKS.causalPrompt]: causalMask(promptLength) };
  const caches: Cache[] = [];
  const ownSize = requests.length * keyValueHeads * samples * FIRST_PAST * headSize;
  let x = parts.embed(packed.tokens);
  for (let layer = 0; layer < layers; layer++) {
    const { key, block } = parts.block(packed.layout, adapter, layer);
    const executable = await parts.executables.get(`prefill ${key}`, () => ({
      outputs: { [BLOCK.y]: block().y, ...block().caches },
    }));
    const outputs = await executable.run({ ...shared, ...parts.parametersOf(layer, adapter), [BLOCK.x]: x });
    caches.push({
      promptKeys: outputs[CACHES.promptK] as Float32Array,
      promptValues: outputs[CACHES.promptV] as Float32Array,
      keys: new Float32Array(ownSize),
      values: new Float32Array(ownSize),
    });
    x = outputs[BLOCK.y] as Float32Array;
  }
  return {
    live: requests.map((_, p) => p),
    samples,
    promptLength,
    promptLengths: requests.map(({ prompt }) => prompt.length),
    promptMask: packed.promptMask,
    past: FIRST_PAST,
    caches,
    firstLogits: await parts.logits(gatherRows(x, packed.lastPromptRows, hiddenSize)),
  };
}

/** The t-th generated token of every completion through the model: the logits of the next, [prompts * samples, vocabulary]. */
async function step(
  parts: ModelParts,
  batch: DecodeBatch,
  tokens: Int32Array,
  t: number,
  adapter: Adapter | undefined,
): Promise<Float32Array> {
  const { config } = parts;
  const { samples, promptLength, promptLengths, live } = batch;
  if (t === batch.past) grow(batch, config.headSize);
  const layout: Layout = {
    prompts: live.length,
    promptLength,
    samples,
    length: 1,
    past: batch.past,
    promptCached: true,
  };
  const positions = Int32Array.from(live.flatMap((_, p) => new Array<number>(samples).fill(promptLengths[p] + t)));
  const pastMask = new Float32Array(live.length * samples * batch.past).fill(MASKED);
  for (let row = 0; row < live.length * samples; row++) pastMask.fill(0, row * batch.past, row * batch.past + t);
  const shared = { ...parts.angles(positions), [MASKS.prompt]: batch.promptMask, [MASKS.past]: pastMask };
  let x = parts.embed(tokens);
  for (let layer = 0; layer < config.layers; layer++) {
    const { key, block } = parts.block(layout, adapter, layer);
    const executable = await parts.executables.get(`step ${key}`, () => ({
      outputs: { [BLOCK.y]: block().y, ...block().caches },
    }));
    const cache = batch.caches[layer];
    const outputs = await executable.run({
      ...shared,
      ...parts.parametersOf(layer, adapter),
      [CACHES.promptK]: cache.promptKeys,
      [CACHES.promptV]: cache.promptValues,
      [CACHES.pastK]: cache.keys,
      [CACHES.pastV]: cache.values,
      [BLOCK.x]: x,
    });
    store(cache.keys, outputs.keys as Float32Array, t, batch.past, config.headSize);
    store(cache.values, outputs.values as Float32Array, t, batch.past, config.headSize);
    x = outputs[BLOCK.y] as Float32Array;
  }
  return parts.logits(x);
}

/** New rows [n, headSize] into position t of a cache [n, past, headSize]. */
function store(cache: Float32Array, rows: Float32Array, t: number, past: number, headSize: number): void {
  for (let n = 0; n * headSize < rows.length; n++) {
    cache.set(rows.subarray(n * headSize, (n + 1) * headSize), (n * past + t) * headSize);
  }
}

function grow(batch: DecodeBatch, headSize: number): void {
  const larger = batch.past * 2;
  const moved = (cache: Float32Array): Float32Array => {
    const width = batch.past * headSize;
    const next = new Float32Array((cache.length / batch.past) * larger);
    for (let n = 0; n * width < cache.length; n++) {
      next.set(cache.subarray(n * width, (n + 1) * width), n * larger * headSize);
    }
    return next;
  };
  for (const cache of batch.caches) {
    cache.keys = moved(cache.keys);
    cache.values = moved(cache.values);
  }
  batch.past = larger;
}

/** Only these prompts of the batch. */
function shrink(batch: DecodeBatch, open: readonly number[]): DecodeBatch {
  const count = batch.live.length;
  const rows = (values: Float32Array): Float32Array => gatherRows(values, open, values.length / count);
  return {
    ...batch,
    live: open.map((p) => batch.live[p]),
    promptLengths: open.map((p) => batch.promptLengths[p]),
    promptMask: rows(batch.promptMask),
    caches: batch.caches.map((cache) => ({
      promptKeys: rows(cache.promptKeys),
      promptValues: rows(cache.promptValues),
      keys: rows(cache.keys),
      values: rows(cache.values),
    })),
  };
}
