/** The matrices of a model in few bits: those of a GGUF file as they are stored where that is possible, else rounded. */
import { DocOptError } from '../../errors.ts';
import { FINAL_NORM, headName, layerPrefix, linearShape } from '../../nn/model-config.ts';
import { BLOCK_SIZE, type NBits, quantise, stack } from '../../nn/n-bits.ts';
import { fitsBlocks, GROUP_NAMES, GROUPS, type GroupName, type StepWeights } from '../../nn/quantised-step.ts';
import { type GgufFile, openGguf } from './gguf.ts';
import { BLOCK_FORMATS } from './gguf-blocks.ts';
import { huggingFaceName, restoreRowOrder } from './gguf-model.ts';
import { halfTable } from './half.ts';
import type { LoadedModel } from './load-model.ts';

export type StepPrecision = 'int8' | 'q4';

/** Throws DATA when the model's widths are no multiples of a block. */
export async function stepWeights(
  { path, config, weights }: Pick<LoadedModel, 'path' | 'config' | 'weights'>,
  precision: StepPrecision,
): Promise<StepWeights> {
  if (!fitsBlocks(config)) {
    throw new DocOptError(
      'DATA',
      `the widths of ${path} are no multiples of ${BLOCK_SIZE}: it cannot decode in ${precision}`,
      {
        hint: 'Leave precision at fp32.',
      },
    );
  }
  const bits = precision === 'q4' ? 4 : 8;
  const file = precision === 'q4' && path.endsWith('.gguf') ? await openGguf(path) : undefined;
  try {
    const stored = new Map<string, string>();
    for (const name of file?.tensors.keys() ?? []) stored.set(huggingFaceName(name) ?? '', name);
    const asStored = async (name: string, columns: number): Promise<NBits | undefined> =>
      file === undefined || !stored.has(name) ? undefined : readBits(file, stored.get(name)!, name, columns, config);
    const group = async (layer: number, names: (typeof GROUPS)[GroupName]): Promise<NBits> => {
      const full = names.map((name) => `${layerPrefix(layer)}${name}.weight`);
      const columns = linearShape(config, names[0])[1];
      const found: NBits[] = [];
      for (const name of full) {
        const one = await asStored(name, columns);
        if (one !== undefined) found.push(one);
      }
      if (found.length === full.length && found.every((one) => one.bits === found[0].bits)) return stack(found);
      // Of a file in other formats rounding again would lose: eight bits lose next to nothing.
      const rounded = file === undefined ? bits : 8;
      return stack(full.map((name) => quantise(weights.get(name)!, columns, rounded)));
    };
    const matrices: Record<GroupName, NBits>[] = [];
    for (let layer = 0; layer < config.layers; layer++) {
      const own: Partial<Record<GroupName, NBits>> = {};
      for (const name of GROUP_NAMES) own[name] = await group(layer, GROUPS[name]);
      matrices.push(own as Record<GroupName, NBits>);
    }
    const head = headName(config);
    return {
      matrices,
      head: (await asStored(head, config.hiddenSize)) ?? quantise(weights.get(head)!, config.hiddenSize, 8),
      vector: (name, layer) => weights.get(layer === undefined ? FINAL_NORM : layerPrefix(layer) + name)!,
    };
  } finally {
    await file?.close();
  }
}

/** Q4_0, Q4_1 and Q8_0 as they lie there; undefined for other formats. */
async function readBits(
  file: GgufFile,
  stored: string,
  name: string,
  columns: number,
  config: LoadedModel['config'],
): Promise<NBits | undefined> {
  const format = BLOCK_FORMATS[file.tensors.get(stored)!.type]?.name;
  if (format !== 'Q4_0' && format !== 'Q4_1' && format !== 'Q8_0') return undefined;
  const bits = fromBlocks(await file.readBlocks(stored), columns, format);
  for (const part of [bits.packed, bits.scales, bits.offsets]) {
    if (part !== undefined) restoreRowOrder(name, part, config);
  }
  return bits;
}

const BYTES = { Q4_0: 18, Q4_1: 20, Q8_0: 34 } as const;

/** GGUF's blocks of 32, exactly: its low nibbles are the first sixteen values, here they are every second one. */
export function fromBlocks(source: Uint8Array, columns: number, format: keyof typeof BYTES): NBits {
  const table = halfTable();
  const half = (at: number): number => table[source[at] | (source[at + 1] << 8)];
  const size = BYTES[format];
  const blocks = source.length / size;
  const bits = format === 'Q8_0' ? 8 : 4;
  const scales = new Float32Array(blocks);
  const offsets = format === 'Q4_1' ? new Float32Array(blocks) : undefined;
  const packed = new Uint8Array((blocks * BLOCK_SIZE * bits) / 8);
  for (let b = 0; b < blocks; b++) {
    const at = b * size;
    scales[b] = half(at);
    if (offsets !== undefined) offsets[b] = half(at + 2) + 8 * scales[b];
    const quants = at + (format === 'Q4_1' ? 4 : 2);
    if (bits === 8) {
      // Signed there, around 128 here.
      for (let i = 0; i < BLOCK_SIZE; i++) packed[b * BLOCK_SIZE + i] = source[quants + i] ^ 128;
      continue;
    }
    const to = (b * BLOCK_SIZE) / 2;
    for (let i = 0; i < 8; i++) {
      const [first, second] = [source[quants + 2 * i], source[quants + 2 * i + 1]];
      packed[to + i] = (first & 15) | ((second & 15) << 4);
      packed[to + 8 + i] = (first >> 4) | (second & 240);
    }
  }
  return { bits, rows: (blocks * BLOCK_SIZE) / columns, columns, packed, scales, offsets };
}
