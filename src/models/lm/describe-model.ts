/** What a model is, from its headers alone: no weight is read. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sizeOf } from '../../nn/graph.ts';
import { type ModelConfig, modelParameters } from '../../nn/model-config.ts';
import type { ModelServices } from '../services.ts';
import { openGguf } from './gguf.ts';
import { BLOCK_FORMATS } from './gguf-blocks.ts';
import { ggufConfig, huggingFaceName } from './gguf-model.ts';
import { ggufTokenizer } from './gguf-tokenizer.ts';
import { folderConfig, folderTokenizer, weightFiles } from './hugging-face-folder.ts';
import { locateModel } from './load-model.ts';
import { openSafetensors } from './safetensors.ts';
import { chatTemplate, type TokenizerFiles } from './tokenizer.ts';

export interface ModelDescription {
  readonly path: string;
  readonly kind: 'gguf' | 'hugging-face';
  readonly config: ModelConfig;
  readonly parameters: number;
  /** Format of its numbers -> parameters that are stored in it. */
  readonly formats: Readonly<Record<string, number>>;
  readonly bytesOnDisk: number;
  /** Of the weights, in single precision. */
  readonly bytesInMemory: number;
  /** Jinja; null = none, so it was not trained to follow instructions. */
  readonly chatTemplate: string | null;
  readonly endTokens: readonly number[];
  /** As the files state it; null = they do not. */
  readonly licence: string | null;
}

/** Throws what loading the model would throw, but for its weights. */
export async function describeModel(name: string, services: ModelServices = {}): Promise<ModelDescription> {
  const path = await locateModel(name, services);
  return path.endsWith('.gguf') ? describeGguf(path) : describeFolder(path);
}

async function describeGguf(path: string): Promise<ModelDescription> {
  const file = await openGguf(path);
  try {
    const factors = file.tensors.has('rope_freqs.weight') ? await file.read('rope_freqs.weight') : undefined;
    const stored = [...file.tensors]
      .filter(([name]) => huggingFaceName(name) !== undefined)
      .map(([, { type, shape }]) => [BLOCK_FORMATS[type]?.name ?? `type ${type}`, sizeOf(shape)] as const);
    return {
      path,
      kind: 'gguf',
      ...facts(ggufConfig(file, factors), stored, ggufTokenizer(file)),
      bytesOnDisk: statSync(path).size,
      licence: textOrNull(file.metadata.get('general.license')),
    };
  } finally {
    await file.close();
  }
}

async function describeFolder(path: string): Promise<ModelDescription> {
  const config = folderConfig(path);
  const wanted = new Set(modelParameters(config).map(({ name }) => name));
  const stored: (readonly [string, number])[] = [];
  let bytesOnDisk = 0;
  for (const weights of weightFiles(path)) {
    bytesOnDisk += statSync(weights).size;
    const file = await openSafetensors(weights);
    for (const [name, shape] of file.shapes) if (wanted.has(name)) stored.push([file.types.get(name)!, sizeOf(shape)]);
    await file.close();
  }
  const readme = join(path, 'README.md');
  return {
    path,
    kind: 'hugging-face',
    ...facts(config, stored, folderTokenizer(path)),
    bytesOnDisk,
    licence: existsSync(readme) ? licenceOfCard(readFileSync(readme, 'utf8')) : null,
  };
}

function facts(
  config: ModelConfig,
  stored: readonly (readonly [string, number])[],
  tokenizer: TokenizerFiles,
): Omit<ModelDescription, 'path' | 'kind' | 'bytesOnDisk' | 'licence'> {
  const formats: Record<string, number> = {};
  for (const [format, count] of stored) formats[format] = (formats[format] ?? 0) + count;
  const parameters = modelParameters(config).reduce((sum, { shape }) => sum + sizeOf(shape), 0);
  return {
    config,
    parameters,
    formats,
    bytesInMemory: 4 * parameters,
    chatTemplate: chatTemplate(tokenizer.configJson) ?? null,
    endTokens: [...new Set(tokenizer.endTokens)],
  };
}

/** `license:` of a model card's front matter. */
function licenceOfCard(card: string): string | null {
  const front = /^---\r?\n([\s\S]*?)\r?\n---/.exec(card)?.[1] ?? '';
  return /^license:\s*["']?([^\s"'#]+)/m.exec(front)?.[1] ?? null;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
