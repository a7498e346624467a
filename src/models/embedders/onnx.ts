/**
 * Embedder `onnx`: a sentence encoder in a folder of the Hugging Face layout, run in process. Tokenizer, pooling, prompts
 * and the longest input are read from the folder; options win. Vectors have length 1. Texts that are too long are cut at
 * the end, counted and reported.
 */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { DocOptError } from '../../errors.ts';
import type { Embedder } from '../../ports.ts';
import type { OnnxEncoder, OnnxFolderOptions, Sequence } from '../onnx/encoder.ts';
import { openedFor } from '../onnx/encoder.ts';
import { poolRow, writeUnit } from '../onnx/pool.ts';
import { longestInput, type Pooling, type Prompts, statedPooling, statedPrompts } from '../onnx/sentence-folder.ts';
import type { ModelServices } from '../services.ts';
import { keptVectors } from './kept-vectors.ts';

export interface OnnxEmbedderOptions extends OnnxFolderOptions {
  /** Default: as 1_Pooling/config.json says. */
  readonly pooling?: Pooling;
  /** Put before every text of the role. Default: as config_sentence_transformers.json says. */
  readonly queryPrompt?: string;
  readonly documentPrompt?: string;
  /** Special tokens and prompt included. Default: as the folder says. */
  readonly maxTokens?: number;
}

/** The model is opened when vectors are first wanted. */
export function onnxEmbedder(
  options: OnnxEmbedderOptions,
  services: ModelServices = {},
): { readonly id: string; load(): Promise<OnnxEmbedder> } {
  return { id: `onnx(${basename(options.path)})`, load: () => openOnnxEmbedder(options, services) };
}

/** An embedder with its model open; `close` frees it. */
export interface OnnxEmbedder extends Embedder {
  /** Texts computed since opening, and those of them that were cut. */
  readonly counts: { readonly texts: number; readonly cut: number };
  close(): Promise<void>;
}

/** DATA for a folder that is incomplete or of another kind, CONFIG for options that do not fit it, MISSING without the runtime. */
export function openOnnxEmbedder(options: OnnxEmbedderOptions, services: ModelServices = {}): Promise<OnnxEmbedder> {
  return openedFor(options, services, (encoder) => embedderOf(encoder, options, services));
}

async function embedderOf(
  encoder: OnnxEncoder,
  options: OnnxEmbedderOptions,
  { log, vectors: store, signal }: ModelServices,
): Promise<OnnxEmbedder> {
  const { folder, facts, tokenizer, batchSize } = encoder;
  const { output, pooling } = outputOf(encoder, options.pooling);
  const stated = statedPrompts(folder);
  const prompts: Prompts = {
    query: options.queryPrompt ?? stated.query,
    document: options.documentPrompt ?? stated.document,
  };
  const maxTokens = longestInput(folder, options.maxTokens, encoder.positions);
  if (facts.dynamic && batchSize > 1) {
    log?.warn(
      `${basename(folder)} is quantized dynamically: in batches of ${batchSize} a text's vector depends on its company. ` +
        'For training leave batchSize at 1, or an unchanged text earns a reward.',
    );
  }
  const counts = { texts: 0, cut: 0 };
  const sequence = (text: string): Sequence => {
    const { before, after, firstType } = tokenizer.single;
    const { ids, cut } = tokenizer.pieces(text, Math.max(0, maxTokens - before.length - after.length));
    counts.texts++;
    if (cut) counts.cut++;
    return {
      ids: [...before.map(({ id }) => id), ...ids, ...after.map(({ id }) => id)],
      types: [...before.map(({ type }) => type), ...ids.map(() => firstType), ...after.map(({ type }) => type)],
    };
  };
  /** A unit vector of every text, handed out as its batch is done. */
  const compute = async (
    texts: readonly string[],
    take: (text: number, vector: Float32Array) => void,
  ): Promise<void> => {
    const sequences = texts.map(sequence);
    const progress = texts.length > 64 ? log?.progress(`embedding with ${basename(folder)}`, texts.length) : undefined;
    await encoder
      .run(sequences, output, ({ tensor, sequences: batch }) => {
        signal?.throwIfAborted();
        const own = tensor.dims[tensor.dims.length - 1];
        batch.forEach((text, row) => {
          const pooled =
            pooling === undefined
              ? Float64Array.from((tensor.data as Float32Array).subarray(row * own, (row + 1) * own))
              : poolRow(tensor, row, sequences[text].ids.length, pooling);
          const vector = new Float32Array(own);
          if (!writeUnit(pooled, vector, 0)) throw noDirection(folder, texts[text]);
          take(text, vector);
        });
        progress?.tick(batch.length);
      })
      .finally(() => progress?.end());
  };

  let width = 0;
  await compute(['width'], (_, vector) => {
    width = vector.length;
  });
  counts.texts = 0;
  const settings = [facts.sha256, output, pooling, prompts.query, prompts.document, maxTokens, batchSize];
  const digest = createHash('sha256').update(JSON.stringify(settings)).digest('hex');
  const fingerprint = digest.slice(0, 12);
  const kept = store === undefined ? undefined : keptVectors(await store(), digest, width, basename(folder));

  const vectorsOf = async (texts: readonly string[]): Promise<Float32Array> => {
    const data = new Float32Array(texts.length * width);
    const missing: number[] = [];
    texts.forEach((text, i) => {
      const found = kept?.get(text);
      if (found === undefined) missing.push(i);
      else data.set(found, i * width);
    });
    await compute(
      missing.map((i) => texts[i]),
      (i, vector) => {
        data.set(vector, missing[i] * width);
        kept?.put(texts[missing[i]], vector);
      },
    ).finally(() => kept?.flush());
    return data;
  };

  let warned = false;
  return {
    id: `onnx(${basename(folder)},${pooling ?? output},${maxTokens},${fingerprint})`,
    dimensions: width,
    // Many at a time, so that texts of near lengths find together.
    batch: 2048,
    counts,
    async embed(texts, role) {
      if (texts.length === 0) return { rows: 0, columns: width, data: new Float32Array(0) };
      const data = await vectorsOf(texts.map((text) => prompts[role] + text));
      if (counts.cut > 0 && !warned) {
        warned = true;
        log?.warn(
          `texts of more than ${maxTokens} tokens are cut for ${basename(folder)} (key maxTokens); the debug log counts them`,
        );
      }
      if (counts.cut > 0) log?.debug(`${basename(folder)}: ${counts.cut} of ${counts.texts} texts cut so far`);
      return { rows: texts.length, columns: width, data };
    },
    close: () => encoder.close(),
  };
}

/** The graph's own sentence vector when nothing else is said, else token states with a pooling. */
function outputOf(
  { outputs, folder }: OnnxEncoder,
  asked: Pooling | undefined,
): { readonly output: string; readonly pooling: Pooling | undefined } {
  const states = outputs.find(({ name }) => name === 'last_hidden_state' || name === 'token_embeddings');
  const sentence = outputs.find(({ name }) => name === 'sentence_embedding');
  const pooling = asked ?? (sentence === undefined ? statedPooling(folder) : undefined);
  if (pooling === undefined && sentence !== undefined) return { output: sentence.name, pooling };
  const tokens = states ?? outputs.find(({ shape }) => shape.length === 3);
  if (tokens === undefined) {
    const names = outputs.map(({ name, shape }) => `${name} [${shape.join(', ')}]`).join('; ');
    throw new DocOptError('DATA', `${folder} gives no token states; its outputs: ${names}`, {
      hint: 'An embedder needs last_hidden_state [batch, tokens, width] or sentence_embedding. Is it a classifier?',
    });
  }
  if (pooling === undefined) {
    throw new DocOptError(
      'CONFIG',
      `${folder} does not say how its tokens are pooled (it has no 1_Pooling/config.json)`,
      {
        hint: 'Say so: --set retriever.embedder.pooling=mean, cls or last; the model card knows which.',
      },
    );
  }
  return { output: tokens.name, pooling };
}

function noDirection(folder: string, text: string): DocOptError {
  const excerpt = JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
  return new DocOptError('UPSTREAM', `${folder} answered no finite vector with a direction for ${excerpt}`, {
    hint: 'Half precision overflows in some models: try the fp32 file.',
  });
}
