/**
 * Decoding with weights in few bits: prompts are read in single precision, then one session runs the whole model a step, with keys
 * and values in one array a row that it writes in place. A row that is finished makes room at once: the last row takes its place.
 */
import { DocOptError } from '../../errors.ts';
import { loraNames, loraOn, loraScale } from '../../nn/lora.ts';
import { type LinearName, layerPrefix, linearShape, type ModelConfig } from '../../nn/model-config.ts';
import {
  GROUP_NAMES,
  GROUPS,
  STEP,
  stepAdapter,
  stepCache,
  stepCacheOut,
  writeQuantisedStep,
} from '../../nn/quantised-step.ts';
import type { GraphRuntime, OnnxSession, OnnxTensor } from '../runtimes/graph-runtime.ts';
import type { DecodeBatch, DecodeEngine, DecodeRequest } from './decode-batch.ts';
import type { LoadedModel } from './load-model.ts';
import type { Adapter, ModelParts } from './model-parts.ts';
import { type ReadPrompts, readPrompts } from './read-prompts.ts';
import { type StepPrecision, stepWeights } from './stored-bits.ts';

/** Compiled when it is first used. Throws MISSING on a runtime that runs no files. */
export function createQuantisedEngine(
  loaded: Pick<LoadedModel, 'path' | 'config' | 'weights'>,
  runtime: GraphRuntime,
  precision: StepPrecision,
): DecodeEngine {
  const sessions = new Map<string, Promise<OnnxSession>>();
  const { open } = runtime;
  if (open === undefined) {
    throw new DocOptError('MISSING', `precision ${precision} needs ONNX Runtime; this is ${runtime.id}`, {
      hint: 'Leave precision at fp32.',
    });
  }
  const sessionFor = (adapter: Adapter | undefined): Promise<OnnxSession> => {
    const lora = adapter && { rank: adapter.config.rank, scale: loraScale(adapter.config) };
    const key = JSON.stringify(lora ?? null);
    const session =
      sessions.get(key) ??
      stepWeights(loaded, precision).then((weights) => open(writeQuantisedStep(loaded.config, weights, lora)));
    sessions.set(key, session);
    session.catch(() => sessions.delete(key));
    return session;
  };
  return {
    async begin(parts, requests, { samples, maxNewTokens, adapter }) {
      const session = await sessionFor(adapter);
      const prompts = requests.map(({ prompt }) => prompt);
      const read = await readPrompts(parts, prompts, adapter);
      return new QuantisedBatch(
        parts,
        session,
        adapterInputs(loaded.config, adapter),
        requests,
        read,
        samples,
        maxNewTokens,
      );
    },
    async release() {
      for (const session of sessions.values()) await (await session).release();
      sessions.clear();
    },
  };
}

/** By layer and kind one array [rows, keyValueHeads, capacity, headSize]. */
type Caches = readonly { readonly k: Float32Array; readonly v: Float32Array }[];

interface Bound {
  readonly rows: number;
  readonly inputs: Readonly<Record<string, OnnxTensor>>;
  readonly outputs: Readonly<Record<string, OnnxTensor>>;
}

class QuantisedBatch implements DecodeBatch {
  readonly rows: number[];
  readonly firstLogits: Float32Array;
  readonly #parts: ModelParts;
  readonly #session: OnnxSession;
  readonly #fixed: Readonly<Record<string, OnnxTensor>>;
  /** Tokens of each row that have keys and values. */
  readonly #lengths: number[];
  readonly #capacity: number;
  readonly #caches: Caches;
  /** Of the rows that are there: views are made anew only when their number changes. */
  #bound: Bound | undefined;

  constructor(
    parts: ModelParts,
    session: OnnxSession,
    adapter: Readonly<Record<string, OnnxTensor>>,
    requests: readonly DecodeRequest[],
    read: ReadPrompts,
    samples: number,
    maxNewTokens: number,
  ) {
    const { headSize } = parts.config;
    this.#parts = parts;
    this.#session = session;
    this.firstLogits = read.firstLogits;
    this.rows = Array.from({ length: requests.length * samples }, (_, row) => row);
    this.#lengths = this.rows.map((row) => read.promptLengths[Math.floor(row / samples)]);
    this.#capacity = Math.max(...read.promptLengths) + maxNewTokens;
    this.#caches = read.layers.map(({ keys, values }) => ({
      k: this.#spread(keys, read, samples),
      v: this.#spread(values, read, samples),
    }));
    const angles = parts.angles(Int32Array.from({ length: this.#capacity }, (_, position) => position));
    const shape = [this.#capacity, headSize / 2];
    this.#fixed = {
      ...adapter,
      [STEP.cos]: { data: angles.cos, shape },
      [STEP.sin]: { data: angles.sin, shape },
    };
  }

  keep(isOpen: (completion: number) => boolean): void {
    const { keyValueHeads, headSize } = this.#parts.config;
    const size = keyValueHeads * this.#capacity * headSize;
    for (let row = 0; row < this.rows.length; ) {
      if (isOpen(this.rows[row])) {
        row++;
        continue;
      }
      const last = this.rows.length - 1;
      if (row < last) {
        for (const { k, v } of this.#caches) {
          for (const cache of [k, v]) cache.copyWithin(row * size, last * size, (last + 1) * size);
        }
        this.rows[row] = this.rows[last];
        this.#lengths[row] = this.#lengths[last];
      }
      this.rows.pop();
      this.#lengths.pop();
    }
  }

  async step(tokens: Int32Array): Promise<Float32Array> {
    const { hiddenSize } = this.#parts.config;
    const rows = this.rows.length;
    if (this.#bound?.rows !== rows) this.#bound = this.#bind(rows);
    const { inputs, outputs } = this.#bound;
    const longest = Math.max(...this.#lengths);
    await this.#session.run(
      {
        ...inputs,
        [STEP.x]: { data: this.#parts.embed(tokens), shape: [rows, hiddenSize] },
        [STEP.lengths]: { data: Int32Array.from(this.#lengths), shape: [rows] },
        [STEP.total]: { data: Int32Array.of(longest + 1), shape: [1] },
      },
      outputs,
    );
    for (let row = 0; row < rows; row++) this.#lengths[row]++;
    return outputs[STEP.logits].data as Float32Array;
  }

  #bind(rows: number): Bound {
    const { keyValueHeads, headSize, vocabularySize } = this.#parts.config;
    const shape = [rows, keyValueHeads, this.#capacity, headSize];
    const inputs: Record<string, OnnxTensor> = { ...this.#fixed };
    const outputs: Record<string, OnnxTensor> = {
      [STEP.logits]: { data: new Float32Array(rows * vocabularySize), shape: [rows, vocabularySize] },
    };
    this.#caches.forEach((caches, layer) => {
      for (const kind of ['k', 'v'] as const) {
        const tensor = {
          data: caches[kind].subarray(
            0,
            shape.reduce((a, b) => a * b),
          ),
          shape,
        };
        inputs[stepCache(kind, layer)] = tensor;
        outputs[stepCacheOut(kind, layer)] = tensor;
      }
    });
    return { rows, inputs, outputs };
  }

  /** What was read of each prompt, at the beginning of every one of its rows. */
  #spread(read: Float32Array, { promptLength, promptLengths }: ReadPrompts, samples: number): Float32Array {
    const { keyValueHeads, headSize } = this.#parts.config;
    const spread = new Float32Array(this.rows.length * keyValueHeads * this.#capacity * headSize);
    this.rows.forEach((_, row) => {
      const prompt = Math.floor(row / samples);
      for (let head = 0; head < keyValueHeads; head++) {
        const from = (prompt * keyValueHeads + head) * promptLength * headSize;
        const to = (row * keyValueHeads + head) * this.#capacity * headSize;
        spread.set(read.subarray(from, from + promptLengths[prompt] * headSize), to);
      }
    });
    return spread;
  }
}

/** An adapter's matrices as the step takes them: those of a group below each other, their B on a diagonal. */
function adapterInputs(config: ModelConfig, adapter: Adapter | undefined): Record<string, OnnxTensor> {
  if (adapter === undefined) return {};
  const { rank, targets } = adapter.config;
  const inputs: Record<string, OnnxTensor> = {};
  for (let layer = 0; layer < config.layers; layer++) {
    for (const group of GROUP_NAMES) {
      const names: readonly LinearName[] = GROUPS[group];
      const columns = linearShape(config, names[0])[1];
      const rows = names.reduce((sum, name) => sum + linearShape(config, name)[0], 0);
      const wide = names.length * rank;
      const [a, b] = [new Float32Array(wide * columns), new Float32Array(rows * wide)];
      let row = 0;
      names.forEach((name, n) => {
        const own = linearShape(config, name)[0];
        if (loraOn(adapter.config, layer) && targets.includes(name)) {
          const { a: nameA, b: nameB } = loraNames(name);
          a.set(adapter.weights.get(layerPrefix(layer) + nameA)!, n * rank * columns);
          const B = adapter.weights.get(layerPrefix(layer) + nameB)!;
          for (let r = 0; r < own; r++) b.set(B.subarray(r * rank, (r + 1) * rank), (row + r) * wide + n * rank);
        }
        row += own;
      });
      inputs[stepAdapter('A', layer, group)] = { data: a, shape: [wide, columns] };
      inputs[stepAdapter('B', layer, group)] = { data: b, shape: [rows, wide] };
    }
  }
  return inputs;
}
