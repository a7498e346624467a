/** Prompts through the model in single precision, each once however many completions follow it. */
import { CACHES, MASKS } from '../../nn/attention.ts';
import { BLOCK } from '../../nn/block.ts';
import { causalMask, packGroups, roundUp } from '../../nn/pack.ts';
import { type Adapter, gatherRows, type ModelParts } from './model-parts.ts';

export interface ReadPrompts {
  /** Padded. */
  readonly promptLength: number;
  readonly promptLengths: readonly number[];
  /** Additive, [prompts, promptLength]. */
  readonly promptMask: Float32Array;
  /** By layer, keys and values [prompts, keyValueHeads, promptLength, headSize]. */
  readonly layers: readonly { readonly keys: Float32Array; readonly values: Float32Array }[];
  /** [prompts, vocabulary]. */
  readonly firstLogits: Float32Array;
}

const PROMPT_MULTIPLE = 32;
/** Rows that go through the model together: what a block holds of them is many times what is kept. */
const ROWS = 4096;

export async function readPrompts(
  parts: ModelParts,
  prompts: readonly Int32Array[],
  adapter: Adapter | undefined,
): Promise<ReadPrompts> {
  const { layers, keyValueHeads, headSize, hiddenSize } = parts.config;
  const promptLength = roundUp(Math.max(...prompts.map(({ length }) => length)), PROMPT_MULTIPLE);
  const each = keyValueHeads * promptLength * headSize;
  const caches = Array.from({ length: layers }, () => ({
    keys: new Float32Array(prompts.length * each),
    values: new Float32Array(prompts.length * each),
  }));
  const promptMask = new Float32Array(prompts.length * promptLength);
  const last = new Float32Array(prompts.length * hiddenSize);
  const together = Math.max(1, Math.floor(ROWS / promptLength));
  for (let start = 0; start < prompts.length; start += together) {
    const part = prompts.slice(start, start + together);
    const packed = packGroups(
      part.map((prompt) => ({ prompt, completions: [] })),
      { promptMultiple: promptLength },
    );
    const shared = { ...parts.angles(packed.positions), [MASKS.causalPrompt]: causalMask(promptLength) };
    let x = parts.embed(packed.tokens);
    for (let layer = 0; layer < layers; layer++) {
      const { key, block } = parts.block(packed.layout, adapter, layer);
      const executable = await parts.executables.get(`prefill ${key}`, () => ({
        outputs: { [BLOCK.y]: block().y, ...block().caches },
      }));
      const outputs = await executable.run({ ...shared, ...parts.parametersOf(layer, adapter), [BLOCK.x]: x });
      caches[layer].keys.set(outputs[CACHES.promptK] as Float32Array, start * each);
      caches[layer].values.set(outputs[CACHES.promptV] as Float32Array, start * each);
      x = outputs[BLOCK.y] as Float32Array;
    }
    promptMask.set(packed.promptMask, start * promptLength);
    last.set(gatherRows(x, packed.lastPromptRows, hiddenSize), start * hiddenSize);
  }
  return {
    promptLength,
    promptLengths: prompts.map(({ length }) => length),
    promptMask,
    layers: caches,
    firstLogits: await parts.logits(last),
  };
}
