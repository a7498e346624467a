/**
 * Decoding in single precision by the graphs of src/nn: a prompt's keys are read once a step for all of its completions. Every
 * other shape is other graphs, so prompts are dropped only when half of a batch is finished, and caches grow by doubling.
 */
import { CACHES, type Layout, MASKED, MASKS } from '../../nn/attention.ts';
import { BLOCK } from '../../nn/block.ts';
import type { DecodeBatch, DecodeEngine } from './decode-batch.ts';
import { type Adapter, gatherRows, type ModelParts } from './model-parts.ts';
import { type ReadPrompts, readPrompts } from './read-prompts.ts';

/** First size of a completion's own cache; it doubles when it is full. */
const FIRST_PAST = 32;

export const exactEngine: DecodeEngine = {
  async begin(parts, requests, { samples, adapter }) {
    const read = await readPrompts(
      parts,
      requests.map(({ prompt }) => prompt),
      adapter,
    );
    return new ExactBatch(parts, samples, adapter, read);
  },
  async release() {},
};

interface Cache {
  /** [prompts, keyValueHeads, promptLength, headSize]. */
  readonly promptKeys: Float32Array;
  readonly promptValues: Float32Array;
  /** [prompts, keyValueHeads, samples, past, headSize]. */
  keys: Float32Array;
  values: Float32Array;
}

class ExactBatch implements DecodeBatch {
  readonly firstLogits: Float32Array;
  readonly #parts: ModelParts;
  readonly #samples: number;
  readonly #adapter: Adapter | undefined;
  readonly #promptLength: number;
  /** Which request each prompt of the batch is. */
  #live: readonly number[];
  #promptLengths: readonly number[];
  #promptMask: Float32Array;
  #caches: readonly Cache[];
  #past = FIRST_PAST;
  /** Steps so far. */
  #t = 0;

  constructor(parts: ModelParts, samples: number, adapter: Adapter | undefined, read: ReadPrompts) {
    const { keyValueHeads, headSize } = parts.config;
    this.#parts = parts;
    this.#samples = samples;
    this.#adapter = adapter;
    this.#live = read.promptLengths.map((_, p) => p);
    this.#promptLength = read.promptLength;
    this.#promptLengths = read.promptLengths;
    this.#promptMask = read.promptMask;
    this.firstLogits = read.firstLogits;
    const ownSize = read.promptLengths.length * keyValueHeads * samples * FIRST_PAST * headSize;
    this.#caches = read.layers.map(({ keys, values }) => ({
      promptKeys: keys,
      promptValues: values,
      keys: new Float32Array(ownSize),
      values: new Float32Array(ownSize),
    }));
  }

  get rows(): readonly number[] {
    const samples = this.#samples;
    return this.#live.flatMap((request) => Array.from({ length: samples }, (_, s) => request * samples + s));
  }

  keep(isOpen: (completion: number) => boolean): void {
    const samples = this.#samples;
    const open = this.#live.flatMap((request, p) =>
      Array.from({ length: samples }, (_, s) => request * samples + s).some(isOpen) ? [p] : [],
    );
    if (open.length <= this.#live.length / 2) this.#shrink(open);
  }

  async step(tokens: Int32Array): Promise<Float32Array> {
    const parts = this.#parts;
    const { config } = parts;
    const t = this.#t++;
    if (t === this.#past) this.#grow();
    const [samples, past, prompts] = [this.#samples, this.#past, this.#live.length];
    const layout: Layout = { prompts, promptLength: this.#promptLength, samples, length: 1, past, promptCached: true };
    const positions = Int32Array.from(
      this.#promptLengths.flatMap((length) => new Array<number>(samples).fill(length + t)),
    );
    const pastMask = new Float32Array(prompts * samples * past).fill(MASKED);
    for (let row = 0; row < prompts * samples; row++) pastMask.fill(0, row * past, row * past + t);
    const shared = { ...parts.angles(positions), [MASKS.prompt]: this.#promptMask, [MASKS.past]: pastMask };
    let x = parts.embed(tokens);
    for (let layer = 0; layer < config.layers; layer++) {
      const { key, block } = parts.block(layout, this.#adapter, layer);
      const executable = await parts.executables.get(`step ${key}`, () => ({
        outputs: { [BLOCK.y]: block().y, ...block().caches },
      }));
      const cache = this.#caches[layer];
      const outputs = await executable.run({
        ...shared,
        ...parts.parametersOf(layer, this.#adapter),
        [CACHES.promptK]: cache.promptKeys,
        [CACHES.promptV]: cache.promptValues,
        [CACHES.pastK]: cache.keys,
        [CACHES.pastV]: cache.values,
        [BLOCK.x]: x,
      });
      store(cache.keys, outputs.keys as Float32Array, t, past, config.headSize);
      store(cache.values, outputs.values as Float32Array, t, past, config.headSize);
      x = outputs[BLOCK.y] as Float32Array;
    }
    return parts.logits(x);
  }

  #grow(): void {
    const [past, { headSize }] = [this.#past, this.#parts.config];
    const larger = past * 2;
    const moved = (cache: Float32Array): Float32Array => {
      const width = past * headSize;
      const next = new Float32Array((cache.length / past) * larger);
      for (let n = 0; n * width < cache.length; n++) {
        next.set(cache.subarray(n * width, (n + 1) * width), n * larger * headSize);
      }
      return next;
    };
    for (const cache of this.#caches) {
      cache.keys = moved(cache.keys);
      cache.values = moved(cache.values);
    }
    this.#past = larger;
  }

  /** Only these prompts of the batch. */
  #shrink(open: readonly number[]): void {
    const count = this.#live.length;
    const rows = (values: Float32Array): Float32Array => gatherRows(values, open, values.length / count);
    this.#caches = this.#caches.map((cache) => ({
      promptKeys: rows(cache.promptKeys),
      promptValues: rows(cache.promptValues),
      keys: rows(cache.keys),
      values: rows(cache.values),
    }));
    this.#promptMask = rows(this.#promptMask);
    this.#promptLengths = open.map((p) => this.#promptLengths[p]);
    this.#live = open.map((p) => this.#live[p]);
  }
}

/** New rows [n, headSize] into position t of a cache [n, past, headSize]. */
function store(cache: Float32Array, rows: Float32Array, t: number, past: number, headSize: number): void {
  for (let n = 0; n * headSize < rows.length; n++) {
    cache.set(rows.subarray(n * headSize, (n + 1) * headSize), (n * past + t) * headSize);
  }
}
