/** What training and decoding share: a model's weights, its compiled graphs, and the steps that need no graph. */
import { DocOptError } from '../../errors.ts';
import type { Layout } from '../../nn/attention.ts';
import { BLOCK, type Block, buildBlock } from '../../nn/block.ts';
import { HEAD_INPUT, HEAD_OUTPUT, logitsGraph } from '../../nn/head.ts';
import { type LoraConfig, loraOn } from '../../nn/lora.ts';
import {
  EMBEDDING,
  FINAL_NORM,
  headName,
  layerPrefix,
  type ModelConfig,
  modelParameters,
} from '../../nn/model-config.ts';
import { ropeFrequencies, ropeTables } from '../../nn/rope.ts';
import type { GraphRuntime, Tensors } from '../runtimes/graph-runtime.ts';
import { createExecutableCache, type ExecutableCache } from './executables.ts';

/** Parameters by their full Hugging Face names, row-major. */
export type Weights = ReadonlyMap<string, Float32Array>;

export interface Adapter {
  readonly config: LoraConfig;
  readonly weights: Weights;
}

/** Compiled graphs that are held: a training step of one shape needs four, decoding three a shape. */
const HELD_GRAPHS = 32;

export class ModelParts {
  readonly config: ModelConfig;
  readonly weights: Weights;
  readonly executables: ExecutableCache;
  readonly #frequencies: Float64Array;
  readonly #byLayer = new WeakMap<Weights, Tensors[]>();

  /** Throws DATA when a weight is missing or of another size. */
  constructor(runtime: GraphRuntime, config: ModelConfig, weights: Weights) {
    for (const { name, shape } of modelParameters(config)) {
      const size = shape.reduce((product, dimension) => product * dimension, 1);
      if (weights.get(name)?.length === size) continue;
      const fault = weights.has(name) ? 'have another size' : 'are missing';
      throw new DocOptError('DATA', `weights of ${name} [${shape.join(', ')}] ${fault}`, {
        hint: 'The files do not fit the model configuration; get the model again.',
      });
    }
    this.config = config;
    this.weights = weights;
    this.executables = createExecutableCache(runtime, HELD_GRAPHS);
    this.#frequencies = ropeFrequencies(config);
  }

  /** The block of a layer, built when first asked for, and the key of everything that decides its graph. */
  block(layout: Layout, adapter: Adapter | undefined, layer: number): { key: string; block: () => Block } {
    const lora = adapter !== undefined && loraOn(adapter.config, layer) ? adapter.config : undefined;
    const shape = lora === undefined ? 'plain' : `${lora.rank} ${lora.alpha} ${lora.targets.join()}`;
    let built: Block | undefined;
    return {
      key: `${JSON.stringify(layout)} ${shape}`,
      block: () => {
        built ??= buildBlock({ config: this.config, layout, lora });
        return built;
      },
    };
  }

  /** A layer's weights, the adapter's included, under the names that its graph has them. */
  parametersOf(layer: number, adapter: Adapter | undefined): Tensors {
    const base = this.#namedInLayer(this.weights, layer);
    if (adapter === undefined || !loraOn(adapter.config, layer)) return base;
    return { ...base, ...this.#namedInLayer(adapter.weights, layer) };
  }

  #namedInLayer(weights: Weights, layer: number): Tensors {
    let layers = this.#byLayer.get(weights);
    if (layers === undefined) {
      layers = Array.from({ length: this.config.layers }, (_, l) => {
        const prefix = layerPrefix(l);
        const own = [...weights].filter(([name]) => name.startsWith(prefix));
        return Object.fromEntries(own.map(([name, values]) => [name.slice(prefix.length), values]));
      });
      this.#byLayer.set(weights, layers);
    }
    return layers[layer];
  }

  angles(positions: ArrayLike<number>): Tensors {
    const { cos, sin } = ropeTables(this.#frequencies, positions);
    return { [BLOCK.cos]: cos, [BLOCK.sin]: sin };
  }

  /** [tokens, hiddenSize]. */
  embed(tokens: Int32Array): Float32Array {
    return gatherRows(this.weights.get(EMBEDDING)!, tokens, this.config.hiddenSize);
  }

  headFeeds(): Tensors {
    return {
      [HEAD_INPUT.norm]: this.weights.get(FINAL_NORM)!,
      [HEAD_INPUT.matrix]: this.weights.get(headName(this.config))!,
    };
  }

  /** Logits of rows of hidden states, [rows, vocabulary]. */
  async logits(hidden: Float32Array, into?: Float32Array): Promise<Float32Array> {
    const { config } = this;
    const rows = hidden.length / config.hiddenSize;
    const executable = await this.executables.get(`logits ${rows}`, () =>
      logitsGraph({ config, rows, temperature: 1 }),
    );
    const outputs = await executable.run(
      { ...this.headFeeds(), [HEAD_INPUT.hidden]: hidden },
      into === undefined ? undefined : { [HEAD_OUTPUT.logits]: into },
    );
    return outputs[HEAD_OUTPUT.logits] as Float32Array;
  }

  release(): Promise<void> {
    return this.executables.release();
  }
}

export function gatherRows(table: Float32Array, rows: ArrayLike<number>, width: number): Float32Array {
  const gathered = new Float32Array(rows.length * width);
  for (let i = 0; i < rows.length; i++) gathered.set(table.subarray(rows[i] * width, (rows[i] + 1) * width), i * width);
  return gathered;
}
