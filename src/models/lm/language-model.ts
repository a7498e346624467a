/**
 * Log-probabilities of completions and their gradients, for a decoder with its weights in memory and an optional adapter.
 * Layer after layer runs the same two compiled graphs (src/nn/block.ts) on other weights; between them lie plain arrays.
 */
import { DocOptError } from '../../errors.ts';
import { MASKS, rowsOf } from '../../nn/attention.ts';
import { BLOCK, backwardGraph, forwardGraph, GRADIENT, keptProducts, type Recomputation } from '../../nn/block.ts';
import { HEAD_INPUT, HEAD_OUTPUT, headBackwardGraph, logProbsGraph } from '../../nn/head.ts';
import { EMBEDDING, FINAL_NORM, headName, layerPrefix } from '../../nn/model-config.ts';
import { causalMask, type PackedBatch } from '../../nn/pack.ts';
import type { Tensors } from '../runtimes/graph-runtime.ts';
import { type Adapter, gatherRows, type ModelParts } from './model-parts.ts';

export interface LanguageModelOptions {
  /** What the backward pass computes again; default 'cheap': all but the large products. */
  readonly recomputation?: Recomputation;
  /** Rows whose logits exist at once; default HEAD_ROWS. */
  readonly headRows?: number;
}

/** Rows whose logits exist at once. */
export const HEAD_ROWS = 256;

/** What a forward pass leaves for the backward pass. */
export interface Tape {
  readonly batch: PackedBatch;
  readonly adapter?: Adapter;
  /** Per layer: the block's input and what was kept of it; undefined when nothing was to be kept. */
  readonly layers?: readonly Tensors[];
  /** Feeds that all layers share: angles and masks. */
  readonly shared: Tensors;
  /** [rows, hiddenSize] before the final norm. */
  readonly hidden: Float32Array;
}

export interface TokenScores {
  /** In the order of PackedBatch.targets. */
  readonly logProbs: Float32Array;
  /** Of the distribution that each token was drawn from, nats. */
  readonly entropy: Float32Array;
}

export type Gradients = Map<string, Float32Array>;

export interface LanguageModel {
  readonly parts: ModelParts;
  forward(batch: PackedBatch, adapter: Adapter | undefined, keep: boolean): Promise<Tape>;
  /** Log-probabilities at this temperature of the batch's completion tokens. */
  score(tape: Tape, temperature: number): Promise<TokenScores>;
  /** Adds to `gradients` (by full name: of the adapter, or without one of all weights) what these slopes of the loss bring. */
  backward(tape: Tape, lossByLogProb: Float32Array, temperature: number, gradients: Gradients): Promise<void>;
}

export function createLanguageModel(parts: ModelParts, options: LanguageModelOptions = {}): LanguageModel {
  const { recomputation = 'cheap', headRows = HEAD_ROWS } = options;
  const { config, weights, executables } = parts;
  const { hiddenSize } = config;
  const head = (temperature: number) => ({ config, rows: headRows, temperature });

  /** The rows that predict tokens, `headRows` at a time; the last chunk is filled up with rows that nobody reads. */
  function* headChunks(
    { targets, predictedFrom }: PackedBatch,
    hidden: Float32Array,
  ): Generator<{ start: number; end: number; feeds: Tensors }> {
    for (let start = 0; start < targets.length; start += headRows) {
      const end = Math.min(targets.length, start + headRows);
      const rows = new Float32Array(headRows * hiddenSize);
      rows.set(gatherRows(hidden, predictedFrom.subarray(start, end), hiddenSize));
      const wanted = new Int32Array(headRows);
      wanted.set(targets.subarray(start, end));
      yield {
        start,
        end,
        feeds: { ...parts.headFeeds(), [HEAD_INPUT.hidden]: rows, [HEAD_INPUT.targets]: wanted },
      };
    }
  }

  /** Loss slopes -> gradient of the hidden states, [rows, hiddenSize]. */
  async function headBackward(
    { batch, hidden, adapter }: Tape,
    lossByLogProb: Float32Array,
    temperature: number,
    gradients: Gradients,
  ): Promise<Float32Array> {
    const full = adapter === undefined;
    const dy = new Float32Array(rowsOf(batch.layout) * hiddenSize);
    for (const { start, end, feeds } of headChunks(batch, hidden)) {
      const slopes = new Float32Array(headRows);
      slopes.set(lossByLogProb.subarray(start, end));
      const executable = await executables.get(`head backward ${headRows} ${temperature} ${full}`, () =>
        headBackwardGraph(head(temperature), full),
      );
      const outputs = await executable.run({ ...feeds, [HEAD_INPUT.dLogProbs]: slopes });
      const dHidden = outputs[HEAD_OUTPUT.dHidden] as Float32Array;
      for (let i = start; i < end; i++) addRow(dy, batch.predictedFrom[i], dHidden, i - start, hiddenSize);
      if (full) {
        accumulate(gradients, FINAL_NORM, outputs[GRADIENT + HEAD_INPUT.norm] as Float32Array);
        accumulate(gradients, headName(config), outputs[GRADIENT + HEAD_INPUT.matrix] as Float32Array);
      }
    }
    return dy;
  }

  return {
    parts,

    async forward(batch, adapter, keep) {
      const shared: Tensors = {
        ...parts.angles(batch.positions),
        [MASKS.prompt]: batch.promptMask,
        [MASKS.causalPrompt]: causalMask(batch.layout.promptLength),
        [MASKS.causal]: causalMask(batch.layout.length),
      };
      const layers: Tensors[] = [];
      let x = parts.embed(batch.tokens);
      for (let layer = 0; layer < config.layers; layer++) {
        const { key, block } = parts.block(batch.layout, adapter, layer);
        const executable = await executables.get(`forward ${keep} ${key}`, () =>
          forwardGraph(block(), keep ? keptProducts(block(), recomputation) : {}),
        );
        const outputs = await executable.run({ ...shared, ...parts.parametersOf(layer, adapter), [BLOCK.x]: x });
        const { [BLOCK.y]: y, ...kept } = outputs;
        if (keep) layers.push({ ...kept, [BLOCK.x]: x });
        x = y as Float32Array;
      }
      return { batch, adapter, shared, hidden: x, layers: keep ? layers : undefined };
    },

    async score({ batch, hidden }, temperature) {
      const logProbs = new Float32Array(batch.targets.length);
      const entropy = new Float32Array(batch.targets.length);
      for (const { start, end, feeds } of headChunks(batch, hidden)) {
        const executable = await executables.get(`log-probs ${headRows} ${temperature}`, () =>
          logProbsGraph(head(temperature)),
        );
        const outputs = await executable.run(feeds);
        logProbs.set(outputs[HEAD_OUTPUT.logProbs].subarray(0, end - start), start);
        entropy.set(outputs[HEAD_OUTPUT.entropy].subarray(0, end - start), start);
      }
      return { logProbs, entropy };
    },

    async backward(tape, lossByLogProb, temperature, gradients) {
      const { batch, adapter, shared, layers } = tape;
      if (layers === undefined)
        throw new DocOptError('INTERNAL', 'a backward pass needs a forward pass that kept its tape');
      let dy = await headBackward(tape, lossByLogProb, temperature, gradients);
      for (let layer = config.layers - 1; layer >= 0; layer--) {
        const { key, block } = parts.block(batch.layout, adapter, layer);
        // Below the lowest adapter there is nothing to train: the gradient stops there.
        const wantsDx = adapter === undefined || hasAdapterBelow(adapter, layer);
        const trained = [...block().parameters.keys()].filter((name) => adapter === undefined || isAdapter(name));
        const executable = await executables.get(`backward ${wantsDx} ${adapter === undefined} ${key}`, () =>
          backwardGraph(block(), keptProducts(block(), recomputation), trained, wantsDx),
        );
        const parameters = parts.parametersOf(layer, adapter);
        const outputs = await executable.run({ ...shared, ...parameters, ...layers[layer], [BLOCK.dy]: dy });
        for (const name of trained) {
          accumulate(gradients, layerPrefix(layer) + name, outputs[GRADIENT + name] as Float32Array);
        }
        if (!wantsDx) return;
        dy = outputs[BLOCK.dx] as Float32Array;
      }
      const embedding = gradients.get(EMBEDDING) ?? new Float32Array(weights.get(EMBEDDING)!.length);
      gradients.set(EMBEDDING, embedding);
      for (let row = 0; row < batch.tokens.length; row++) addRow(embedding, batch.tokens[row], dy, row, hiddenSize);
    },
  };
}

function isAdapter(name: string): boolean {
  return name.includes('.lora_');
}

function hasAdapterBelow({ config }: Adapter, layer: number): boolean {
  return layer > 0 && (config.layers === undefined || config.layers.some((other) => other < layer));
}

function addRow(target: Float32Array, row: number, source: Float32Array, sourceRow: number, width: number): void {
  const to = row * width;
  const from = sourceRow * width;
  for (let i = 0; i < width; i++) target[to + i] += source[from + i];
}

function accumulate(gradients: Gradients, name: string, values: Float32Array): void {
  const sum = gradients.get(name);
  if (sum === undefined) {
    gradients.set(name, values.slice());
    return;
  }
  for (let i = 0; i < sum.length; i++) sum[i] += values[i];
}
