/**
 * Embedder `onnx`: a sentence encoder in a folder of the Hugging Face layout, run in process. Tokenizer, pooling, prompts
 * and the longest input are read from the folder; options win. Vectors have length 1. Texts that are too long are cut at
 * the end, counted and reported.
 */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { DocOptError } from '../../errors.ts';
import type { Embedder, Log } from '../../ports.ts';
import type { OnnxEncoder, OnnxFolderOptions, Sequence } from '../onnx/encoder.ts';
import { openEncoder } from '../onnx/encoder.ts';
import { poolRow, writeUnit } from '../onnx/pool.ts';
import { longestInput, type Pooling, type Prompts, statedPooling, statedPrompts } from '../onnx/sentence-folder.ts';
import type { ModelServices } from '../services.ts';

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
  /** Texts since opening, and those of them that were cut. */
  readonly counts: { readonly texts: number; readonly cut: number };
  close(): Promise<void>;
}

/** DATA for a folder that is incomplete or of another kind, CONFIG for options that do not fit it, MISSING without the runtime. */
export async function openOnnxEmbedder(
  options: OnnxEmbedderOptions,
  services: ModelServices = {},
): Promise<OnnxEmbedder> {
  const encoder = await openEncoder(options, services);
  try {
    return await embedderOf(encoder, options, services.log);
  } catch (error) {
    await encoder.close();
    throw error;
  }
}

async function embedderOf(encoder: OnnxEncoder, options: OnnxEmbedderOptions, log?: Log): Promise<OnnxEmbedder> {
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
  const vectors = async (texts: readonly string[]): Promise<{ width: number; data: Float32Array }> => {
    const sequences = texts.map(sequence);
    const progress = texts.length > 64 ? log?.progress(`embedding with ${basename(folder)}`, texts.length) : undefined;
    let width = 0;
    let data = new Float32Array(0);
    await encoder
      .run(sequences, output, ({ tensor, sequences: batch }) => {
        const own = tensor.dims[tensor.dims.length - 1];
        if (width === 0) {
          width = own;
          data = new Float32Array(texts.length * width);
        }
        batch.forEach((text, row) => {
          const vector =
            pooling === undefined
              ? Float64Array.from((tensor.data as Float32Array).subarray(row * own, (row + 1) * own))
              : poolRow(tensor, row, sequences[text].ids.length, pooling);
          if (!writeUnit(vector, data, text * width)) throw noDirection(folder, texts[text]);
        });
        progress?.tick(batch.length);
      })
      .finally(() => progress?.end());
    return { width, data };
  };

  const { width } = await vectors(['width']);
  counts.texts = 0;
  const settings = [facts.sha256, output, pooling, prompts.query, prompts.document, maxTokens, batchSize];
  const fingerprint = createHash('sha256').update(JSON.stringify(settings)).digest('hex').slice(0, 12);
  let warned = false;
  return {
    id: `onnx(${basename(folder)},${pooling ?? output},${maxTokens},${fingerprint})`,
    dimensions: width,
    // Many at a time, so that texts of near lengths find together.
    batch: 2048,
    counts,
    async embed(texts, role) {
      if (texts.length === 0) return { rows: 0, columns: width, data: new Float32Array(0) };
      const { data } = await vectors(texts.map((text) => prompts[role] + text));
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
