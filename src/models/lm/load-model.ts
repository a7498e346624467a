/**
 * A local model by its name: a GGUF file, a Hugging Face folder, ORG/NAME (in the cache of Hugging Face's own tools, else
 * fetched from the hub), or hf:ORG/NAME[@REVISION] of the hub.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { DocOptError } from '../../errors.ts';
import { type ModelConfig, modelParameters } from '../../nn/model-config.ts';
import { hubFolder, isHubName } from '../hub.ts';
import { envOf, type ModelServices } from '../services.ts';
import { openGguf } from './gguf.ts';
import { ggufConfig, huggingFaceName, restoreRowOrder } from './gguf-model.ts';
import { ggufTokenizer } from './gguf-tokenizer.ts';
import { folderConfig, folderTokenizer, folderWeights } from './hugging-face-folder.ts';
import type { Weights } from './model-parts.ts';
import { createTokenizer, type LanguageTokenizer } from './tokenizer.ts';

export interface LoadedModel {
  readonly path: string;
  /** What finds it again, from any folder: its name on the hub, else its whole path. */
  readonly name: string;
  readonly config: ModelConfig;
  readonly weights: Weights;
  readonly tokenizer: LanguageTokenizer;
}

/** Throws MISSING when there is no such model, DATA when its files are damaged or of a kind that is not read. */
export async function loadModel(name: string, services: ModelServices = {}): Promise<LoadedModel> {
  const path = await locateModel(name, services);
  return { name: lastingName(name), path, ...(await (path.endsWith('.gguf') ? loadGguf(path) : loadFolder(path))) };
}

/** A path as a whole path, so that it means the same from another folder; a name of the hub as it is. */
export function lastingName(name: string): string {
  return existsSync(name) ? resolve(name) : name;
}

/** The GGUF file or folder that a name stands for, fetched when it is a name of the hub that nobody has fetched yet. */
export async function locateModel(name: string, services: ModelServices = {}): Promise<string> {
  if (existsSync(name)) return inFolder(name);
  const hubName = isHubName(name) ? name : `hf:${name}`;
  if (!isHubName(name)) {
    const cached = inHubCache(name, envOf(services));
    if (cached !== undefined) return cached;
    if (!/^[\w.-]+\/[\w.-]+$/.test(name) || /^\.\.?\//.test(name) || name.endsWith('.gguf')) {
      throw new DocOptError('MISSING', `there is no model at '${name}'`, {
        hint: "Give a Hugging Face folder, a GGUF file, or a model's name on the hub: ORG/NAME.",
      });
    }
  }
  try {
    return await hubFolder(hubName, neededFiles, services);
  } catch (error) {
    const { code, message, hint } = error as DocOptError;
    if (!['UPSTREAM', 'NOT_FOUND', 'UNAUTHORIZED', 'ENVIRONMENT'].includes(code)) throw error;
    throw new DocOptError('MISSING', `there is no model at '${name}', and the hub did not give it: ${message}`, {
      hint: `${hint} Without a connection give a Hugging Face folder or a GGUF file.`.trim(),
      cause: error,
    });
  }
}

function inFolder(name: string): string {
  const path = resolve(name);
  if (!statSync(path).isDirectory()) {
    if (path.endsWith('.gguf')) return path;
    throw new DocOptError('DATA', `'${name}' is a file, and no GGUF file by its name`, {
      hint: 'Give a file that ends in .gguf, a Hugging Face folder, or a name on the hub: ORG/NAME.',
    });
  }
  if (existsSync(join(path, 'config.json'))) return path;
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

/** Of a repository's files, what running and describing a language model needs. Throws DATA for one without safetensors. */
function neededFiles(names: readonly string[]): string[] {
  const needed = names.filter((name) =>
    /^((config|generation_config|tokenizer|tokenizer_config)\.json|chat_template\.jinja|README\.md|(?!adapter_)[^/]+\.safetensors)$/.test(
      name,
    ),
  );
  if (needed.includes('config.json') && needed.some((name) => name.endsWith('.safetensors'))) return needed;
  throw new DocOptError('DATA', `the repository holds no model in safetensors; its files: ${names.join(', ')}`, {
    hint: 'Take the repository of the original weights, or download one GGUF file and give its path.',
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

type ModelContent = Omit<LoadedModel, 'path' | 'name'>;

async function loadGguf(path: string): Promise<ModelContent> {
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
    return { config, weights, tokenizer: await createTokenizer(ggufTokenizer(file)) };
  } finally {
    await file.close();
  }
}

async function loadFolder(folder: string): Promise<ModelContent> {
  const config = folderConfig(folder);
  const wanted = new Set(modelParameters(config).map(({ name }) => name));
  const [weights, tokenizer] = await Promise.all([
    folderWeights(folder, wanted),
    createTokenizer(folderTokenizer(folder)),
  ]);
  return { config, weights, tokenizer };
}
