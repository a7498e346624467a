/** Low-rank adapters (Hu et al. 2021) with PEFT's names and shapes: y += alpha / rank * (x A^T) B^T. */
import { createRng } from '../kernels/rng.ts';
import {
  LINEARS,
  type LinearName,
  layerPrefix,
  linearShape,
  type ModelConfig,
  type ParameterShape,
} from './model-config.ts';

export interface LoraConfig {
  readonly rank: number;
  readonly alpha: number;
  readonly targets: readonly LinearName[];
  /** Layers that carry an adapter; default all. */
  readonly layers?: readonly number[];
}

export const DEFAULT_LORA: LoraConfig = { rank: 8, alpha: 16, targets: LINEARS };

export function loraScale({ rank, alpha }: LoraConfig): number {
  return alpha / rank;
}

export function loraOn(lora: LoraConfig, layer: number): boolean {
  return lora.layers?.includes(layer) ?? true;
}

/** `A` [rank, in] and `B` [out, rank] of one linear map, named behind the layer's prefix. */
export function loraNames(linear: LinearName): { readonly a: string; readonly b: string } {
  return { a: `${linear}.lora_A.weight`, b: `${linear}.lora_B.weight` };
}

/** Adapter parameters of one block. */
export function loraBlockParameters(config: ModelConfig, { rank, targets }: LoraConfig): ParameterShape[] {
  return targets.flatMap((linear) => {
    const [outputs, inputs] = linearShape(config, linear);
    const { a, b } = loraNames(linear);
    return [
      { name: a, shape: [rank, inputs] },
      { name: b, shape: [outputs, rank] },
    ];
  });
}

/** Adapter parameters of the whole model, under their full names. */
export function loraParameters(config: ModelConfig, lora: LoraConfig): ParameterShape[] {
  const block = loraBlockParameters(config, lora);
  return Array.from({ length: config.layers }, (_, layer) => layer)
    .filter((layer) => loraOn(lora, layer))
    .flatMap((layer) => block.map(({ name, shape }) => ({ name: layerPrefix(layer) + name, shape })));
}

/** A drawn as PEFT does (Kaiming uniform with a = sqrt 5: within 1 / sqrt(in)), B zero: the adapter starts as nothing. */
export function initialLora(config: ModelConfig, lora: LoraConfig, seed: number): Map<string, Float32Array> {
  const rng = createRng(seed);
  return new Map(
    loraParameters(config, lora).map(({ name, shape: [rows, columns] }) => {
      const values = new Float32Array(rows * columns);
      if (name.endsWith('lora_A.weight')) {
        const bound = 1 / Math.sqrt(columns);
        for (let i = 0; i < values.length; i++) values[i] = (2 * rng.next() - 1) * bound;
      }
      return [name, values];
    }),
  );
}
