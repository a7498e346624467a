/** A local model by its path: a GGUF file, a Hugging Face folder, or the name of a model in Hugging Face's cache. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { DocOptError } from '../../errors.ts';
import { type ModelConfig, modelParameters } from '../../nn/model-config.ts';
import { openGguf } from './gguf.ts';
import { ggufConfig, huggingFaceName, restoreRowOrder } from './gguf-model.ts';
import { ggufTokenizer } from './gguf-tokenizer.ts';
import { folderConfig, folderTokenizer, folderWeights } from './hugging-face-folder.ts';
import type { Weights } from './model-parts.ts';
import { createTokenizer, type LanguageTokenizer } from './tokenizer.ts';

export interface LoadedModel {
  readonly path: string;
  readonly config: ModelConfig;
  readonly weights: Weights;
  readonly tokenizer: LanguageTokenizer;
}

/** Throws MISSING when there is no such model, DATA when its files are damaged or of a kind that is not read. */
export async function loadModel(name: string): Promise<LoadedModel> {
  const path = locateModel(name);
  return path.endsWith('.gguf') ? loadGguf(path) : loadFolder(path);
}

/** The GGUF file or folder that a name stands for. */
export function locateModel(
  name: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string {
  if (existsSync(name)) {
    const path = resolve(name);
    if (!statSync(path).isDirectory() || existsSync(join(path, 'config.json'))) return path;
    const files = readdirSync(path).filter((file) => file.endsWith('.gguf'));
    if (files.length === 1) return join(path, files[0]);
    throw new DocOptError(
      'DATA',
      `${name} is no model folder: ${files.length === 0 ? 'it holds neither config.json nor a GGUF file' : `it holds ${files.length} GGUF files`}`,
      {
        hint: 'Give the folder of a Hugging Face model, or one GGUF file.',
      },
    );
  }
  const cached = inHubCache(name, environment);
  if (cached !== undefined) return cached;
  throw new DocOptError('MISSING', `there is no model at '${name}'`, {
    hint: /^[\w.-]+\/[\w.-]+$/.test(name)
      ? `Neither a path nor in Hugging Face's cache. Get it with: hf download ${name}`
      : 'Give a Hugging Face folder, a GGUF file, or the name of a model that was downloaded with `hf download`.',
  });
}

/** Where Hugging Face's own tools keep what they downloaded. */
function inHubCache(name: string, environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const home = environment.HF_HOME ?? join(environment.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'huggingface');
  const snapshots = join(
    environment.HF_HUB_CACHE ?? join(home, 'hub'),
    `models--${name.replaceAll('/', '--')}`,
    'snapshots',
  );
  if (!existsSync(snapshots)) return undefined;
  return readdirSync(snapshots)
    .map((revision) => join(snapshots, revision))
    .filter((folder) => existsSync(join(folder, 'config.json')))
    .sort((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs)
    .at(-1);
}

async function loadGguf(path: string): Promise<LoadedModel> {
  const file = await openGguf(path);
  try {
    const factors = file.tensors.has('rope_freqs.weight') ? await file.read('rope_freqs.weight') : undefined;
    const config = ggufConfig(file, factors);
    const weights = new Map<string, Float32Array>();
    for (const name of file.tensors.keys()) {
      const known = huggingFaceName(name);
      if (known === undefined) continue;
      const values = await file.read(name);
      restoreRowOrder(known, values, config);
      weights.set(known, values);
    }
    return { path, config, weights, tokenizer: await createTokenizer(ggufTokenizer(file)) };
  } finally {
    await file.close();
  }
}

async function loadFolder(folder: string): Promise<LoadedModel> {
  const config = folderConfig(folder);
  const wanted = new Set(modelParameters(config).map(({ name }) => name));
  const [weights, tokenizer] = await Promise.all([
    folderWeights(folder, wanted),
    createTokenizer(folderTokenizer(folder)),
  ]);
  return { path: folder, config, weights, tokenizer };
}
