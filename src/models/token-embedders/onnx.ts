/**
 * Token embedder `onnx`: a ColBERT encoder in a folder of the Hugging Face layout. One unit vector per token: markers and
 * special tokens count, punctuation of documents does not, and queries may be filled up with mask tokens. The projection to
 * fewer dimensions is part of the graph, or a matrix of a safetensors file, or there is none.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DocOptError } from '../../errors.ts';
import type { Log, TokenEmbedder } from '../../ports.ts';
import type { Matrix } from '../../types.ts';
import { type ColbertConventions, colbertConventions } from '../onnx/colbert-folder.ts';
import { type OnnxEncoder, type OnnxFolderOptions, openedFor, type Sequence } from '../onnx/encoder.ts';
import { writeUnit } from '../onnx/pool.ts';
import { type FloatTensor, readSafetensor } from '../safetensors.ts';
import type { ModelServices } from '../services.ts';

export interface OnnxTokenEmbedderOptions extends OnnxFolderOptions, Partial<ColbertConventions> {
  /** A safetensors file with `linear.weight`, relative to the folder. Default: 1_Dense/model.safetensors where it exists. */
  readonly projection?: string;
}

export interface OnnxTokenEmbedder extends TokenEmbedder {
  readonly counts: { readonly texts: number; readonly cut: number };
  close(): Promise<void>;
}

type Role = 'query' | 'document';

const PUNCTUATION = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';

/** The model is opened when vectors are first wanted. */
export function onnxTokenEmbedder(
  options: OnnxTokenEmbedderOptions,
  services: ModelServices = {},
): { readonly id: string; load(): Promise<OnnxTokenEmbedder> } {
  return { id: `onnx(${basename(options.path)})`, load: () => openOnnxTokenEmbedder(options, services) };
}

/** Errors as openedFor has them; CONFIG when markers are unknown or are no tokens of the model. */
export function openOnnxTokenEmbedder(
  options: OnnxTokenEmbedderOptions,
  services: ModelServices = {},
): Promise<OnnxTokenEmbedder> {
  return openedFor(options, services, (encoder) => embedderOf(encoder, options, services.log));
}

/** A sequence, and which of its tokens get a vector. */
interface MarkedSequence extends Sequence {
  readonly kept: readonly number[];
}

async function embedderOf(
  encoder: OnnxEncoder,
  options: OnnxTokenEmbedderOptions,
  log?: Log,
): Promise<OnnxTokenEmbedder> {
  const { folder, facts, batchSize } = encoder;
  const conventions = colbertConventions(folder, options);
  const output = statesOf(encoder);
  const projection = await projectionOf(folder, options.projection);
  const counts = { texts: 0, cut: 0 };
  const sequence = sequencer(encoder, conventions, counts);

  const matrices = async (texts: readonly string[], role: Role): Promise<Matrix[]> => {
    const sequences = texts.map((text) => sequence(text, role));
    const asked = [...sequences.keys()].filter((i) => sequences[i].kept.length > 0);
    const out: Matrix[] = sequences.map(() => ({ rows: 0, columns: 0, data: new Float32Array(0) }));
    await encoder.run(
      asked.map((i) => sequences[i]),
      output,
      ({ tensor, sequences: batch }) => {
        const [, tokens, width] = tensor.dims;
        batch.forEach((at, row) => {
          const text = asked[at];
          const states = (tensor.data as Float32Array).subarray(row * tokens * width, (row + 1) * tokens * width);
          out[text] = unitRows(states, width, sequences[text].kept, projection, folder);
        });
      },
    );
    return out;
  };

  const dimensions = (await matrices(['width'], 'document'))[0].columns;
  counts.texts = 0;
  const settings = [facts.sha256, output, conventions, projection?.shape ?? null, batchSize];
  const fingerprint = createHash('sha256').update(JSON.stringify(settings));
  if (projection !== undefined) fingerprint.update(new Uint8Array(projection.data.buffer));
  let warned = false;
  return {
    id: `onnx-tokens(${basename(folder)},${dimensions},${fingerprint.digest('hex').slice(0, 12)})`,
    dimensions,
    counts,
    async embedTokens(texts, role) {
      const found = await matrices(texts, role);
      if (counts.cut > 0 && !warned) {
        warned = true;
        const { queryTokens, documentTokens } = conventions;
        log?.warn(
          `texts are cut for ${basename(folder)}: queries at ${queryTokens} tokens, documents at ${documentTokens} ` +
            '(keys queryTokens, documentTokens)',
        );
      }
      return found.map((matrix) => (matrix.rows === 0 ? { ...matrix, columns: dimensions } : matrix));
    },
    tokenCounts: (texts, role) => Int32Array.from(texts, (text) => sequence(text, role, false).kept.length),
    close: () => encoder.close(),
  };
}

/** Makes sequences: special token, marker, pieces, special token, and for queries mask tokens up to the full length. */
function sequencer(
  { tokenizer, folder, positions }: OnnxEncoder,
  conventions: ColbertConventions,
  counts: { texts: number; cut: number },
): (text: string, role: Role, counted?: boolean) => MarkedSequence {
  const idOf = (token: string): number => {
    const id = tokenizer.idOf(token);
    if (id !== undefined) return id;
    throw new DocOptError('CONFIG', `'${token}' is no token of ${folder}`, {
      hint: 'Say which are: queryMarker=..., documentMarker=...; the model card knows.',
    });
  };
  const markers = { query: idOf(conventions.queryMarker), document: idOf(conventions.documentMarker) };
  const mask = conventions.expandQuery ? idOf(tokenizer.idOf('[MASK]') === undefined ? '<mask>' : '[MASK]') : undefined;
  const limits = { query: conventions.queryTokens, document: conventions.documentTokens };
  const longest = Math.max(limits.query, limits.document);
  if (positions !== undefined && longest > positions) {
    throw new DocOptError('CONFIG', `${longest} tokens are more than the ${positions} positions of ${folder}`);
  }
  const skipped = new Set(
    conventions.maskPunctuation ? [...PUNCTUATION].flatMap((sign) => tokenizer.pieces(sign, 1).ids) : [],
  );
  const { before, after } = tokenizer.single;
  return (text, role, counted = true) => {
    if (text.trim() === '') return { ids: [], types: [], kept: [] };
    const room = Math.max(0, limits[role] - before.length - 1 - after.length);
    const pieces = tokenizer.pieces(text, room);
    if (counted) counts.texts++;
    if (counted && pieces.cut) counts.cut++;
    const ids = [...before.map(({ id }) => id), markers[role], ...pieces.ids, ...after.map(({ id }) => id)];
    let attended: number | undefined;
    if (role === 'query' && mask !== undefined) {
      if (!conventions.attendToExpansion) attended = ids.length;
      while (ids.length < limits.query) ids.push(mask);
    }
    const all = [...ids.keys()];
    const kept = role === 'query' ? all : all.filter((i) => !skipped.has(ids[i]));
    return { ids, types: ids.map(() => 0), attended, kept };
  };
}

function unitRows(
  states: Float32Array,
  width: number,
  kept: readonly number[],
  projection: FloatTensor | undefined,
  folder: string,
): Matrix {
  const columns = projection === undefined ? width : projection.shape[0];
  if (projection !== undefined && projection.shape[1] !== width) {
    throw new DocOptError(
      'DATA',
      `the projection of ${folder} takes ${projection.shape[1]} numbers, its states have ${width}`,
    );
  }
  const data = new Float32Array(kept.length * columns);
  const vector = new Float64Array(columns);
  kept.forEach((token, row) => {
    const start = token * width;
    for (let o = 0; o < columns; o++) {
      if (projection === undefined) vector[o] = states[start + o];
      else {
        let sum = 0;
        for (let j = 0, at = o * width; j < width; j++) sum += projection.data[at + j] * states[start + j];
        vector[o] = sum;
      }
    }
    if (!writeUnit(vector, data, row * columns)) {
      throw new DocOptError('UPSTREAM', `${folder} answered a token vector that is not finite or has no direction`);
    }
  });
  return { rows: kept.length, columns, data };
}

function statesOf({ outputs, folder }: OnnxEncoder): string {
  const named = outputs.find(({ name }) => name === 'contextual' || name === 'token_embeddings');
  const found = named ?? outputs.find(({ shape }) => shape.length === 3);
  if (found !== undefined) return found.name;
  const names = outputs.map(({ name, shape }) => `${name} [${shape.join(', ')}]`).join('; ');
  throw new DocOptError('DATA', `${folder} gives no vector per token; its outputs: ${names}`);
}

async function projectionOf(folder: string, file: string | undefined): Promise<FloatTensor | undefined> {
  const path = join(folder, file ?? '1_Dense/model.safetensors');
  if (!existsSync(path)) {
    if (file === undefined) return undefined;
    throw new DocOptError('DATA', `${folder} holds no ${file}`, { hint: 'Check the key `projection`.' });
  }
  const matrix = await readSafetensor(path, 'linear.weight');
  if (matrix.shape.length === 2) return matrix;
  throw new DocOptError('DATA', `${path}: linear.weight has ${matrix.shape.length} axes, a projection has two`);
}
