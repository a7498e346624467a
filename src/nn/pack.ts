/**
 * Groups of completions as the rows of attention.ts: every prompt once, padded on the right, then every completion. What
 * a padded row computes is seen by nobody.
 */
import { completionRows, type Layout, MASKED, promptRows, rowsOf } from './attention.ts';

export interface TokenGroup {
  /** At least one token: the completion's first is predicted from the prompt's last. */
  readonly prompt: Int32Array;
  readonly completions: readonly Int32Array[];
}

export interface PackedBatch {
  readonly layout: Layout;
  /** [rows]; padding is token 0. */
  readonly tokens: Int32Array;
  /** [rows], within each sequence. */
  readonly positions: Int32Array;
  /** Additive, [prompts, promptLength]: hides the padding of prompts from completions. */
  readonly promptMask: Float32Array;
  /** For each completion token in turn (group by group, completion by completion): the row that predicts it. */
  readonly predictedFrom: Int32Array;
  /** The tokens themselves, in the same order. */
  readonly targets: Int32Array;
  /** The row of each prompt's last token. */
  readonly lastPromptRows: Int32Array;
}

export interface PackOptions {
  /** Lengths are rounded up to multiples of these: fewer different shapes, so fewer graphs. */
  readonly promptMultiple?: number;
  readonly lengthMultiple?: number;
}

export function packGroups(groups: readonly TokenGroup[], options: PackOptions = {}): PackedBatch {
  const { promptMultiple = 1, lengthMultiple = 1 } = options;
  const longest = (sequences: readonly Int32Array[]): number => Math.max(0, ...sequences.map(({ length }) => length));
  const samples = Math.max(0, ...groups.map(({ completions }) => completions.length));
  const layout: Layout = {
    prompts: groups.length,
    promptLength: roundUp(longest(groups.map(({ prompt }) => prompt)), promptMultiple),
    samples,
    length:
      samples === 0 ? 0 : roundUp(Math.max(1, longest(groups.flatMap((group) => group.completions))), lengthMultiple),
    past: 0,
    promptCached: false,
  };
  const tokens = new Int32Array(rowsOf(layout));
  const positions = new Int32Array(rowsOf(layout));
  const promptMask = new Float32Array(promptRows(layout)).fill(MASKED);
  const lastPromptRows = new Int32Array(groups.length);
  const predictedFrom: number[] = [];
  const targets: number[] = [];
  const firstCompletion = promptRows(layout);
  groups.forEach(({ prompt, completions }, g) => {
    const promptRow = g * layout.promptLength;
    tokens.set(prompt, promptRow);
    for (let t = 0; t < layout.promptLength; t++) positions[promptRow + t] = t;
    promptMask.fill(0, promptRow, promptRow + prompt.length);
    const last = promptRow + prompt.length - 1;
    lastPromptRows[g] = last;
    for (let s = 0; s < samples; s++) {
      const row = firstCompletion + (g * samples + s) * layout.length;
      const completion = completions[s] ?? new Int32Array(0);
      tokens.set(completion, row);
      for (let t = 0; t < layout.length; t++) positions[row + t] = prompt.length + t;
      completion.forEach((token, t) => {
        predictedFrom.push(t === 0 ? last : row + t - 1);
        targets.push(token);
      });
    }
  });
  return {
    layout,
    tokens,
    positions,
    promptMask,
    predictedFrom: Int32Array.from(predictedFrom),
    targets: Int32Array.from(targets),
    lastPromptRows,
  };
}

/** Rows that are padding, as a share of all: what batching sequences of different lengths costs. */
export function paddingShare(batch: PackedBatch, groups: readonly TokenGroup[]): number {
  let real = 0;
  for (const { prompt, completions } of groups) {
    real += prompt.length;
    for (const completion of completions) real += completion.length;
  }
  return 1 - real / (promptRows(batch.layout) + completionRows(batch.layout));
}

/** [length, length], additive: row i sees columns 0..i. */
export function causalMask(length: number): Float32Array {
  const mask = new Float32Array(length * length);
  for (let row = 0; row < length; row++) mask.fill(MASKED, row * length + row + 1, (row + 1) * length);
  return mask;
}

export function roundUp(value: number, multiple: number): number {
  return Math.ceil(value / multiple) * multiple;
}
