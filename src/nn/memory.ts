/**
 * What a training step needs beyond the base weights, in bytes. The parts that are kept are counted; what a block and the head
 * hold while they run depends on the runtime, so those are counted in copies, calibrated on the peak that
 * `npm run bench -- lm-train` measures beside the estimate (docs/log.md).
 */
import { completionRows, type Layout, promptRows, rowsOf } from './attention.ts';
import type { ModelConfig } from './model-config.ts';

const FLOAT = 4;
/** Copies of the feed-forward width, of the attention weights and of the logits that live at once. */
const COPIES = { block: 16, attention: 6, head: 6 };

export interface StepMemory {
  /** Kept by the forward pass for the backward pass. */
  readonly kept: number;
  /** While blocks and head run. */
  readonly passing: number;
  /** Gradients and both moments of what is trained. */
  readonly optimiser: number;
}

export function stepMemory(
  config: ModelConfig,
  layout: Layout,
  options: {
    readonly recomputation: 'cheap' | 'all';
    readonly headRows: number;
    /** Parameters that are trained. */
    readonly trained: number;
  },
): StepMemory {
  const rows = rowsOf(layout);
  const { promptLength, length } = layout;
  const weights = config.heads * (promptRows(layout) * promptLength + completionRows(layout) * (promptLength + length));
  const block = rows * config.intermediateSize * COPIES.block + weights * COPIES.attention;
  const head = options.headRows * config.vocabularySize * COPIES.head;
  return {
    kept: FLOAT * rows * config.layers * keptFloats(config, options.recomputation),
    passing: FLOAT * (block + head),
    optimiser: FLOAT * 3 * options.trained,
  };
}

/** Floats that a forward pass keeps of one row and layer (`products` of block.ts, and the block's input). */
export function keptFloats(config: ModelConfig, recomputation: 'cheap' | 'all'): number {
  const { hiddenSize, intermediateSize, heads, keyValueHeads, headSize } = config;
  if (recomputation === 'all') return hiddenSize;
  return 2 * hiddenSize + 2 * intermediateSize + 2 * heads * headSize + 2 * keyValueHeads * headSize;
}
