/**
 * Reranker `onnx`: a cross-encoder in a folder of the Hugging Face layout, run in process. Query and passage go in together
 * with their real token types. Only the passage is cut to fit; the query keeps at least its minimum. The logit becomes a
 * probability in float64, where float32 would saturate at 17 and make ties.
 */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { documentText } from '../../data/mod.ts';
import { DocOptError } from '../../errors.ts';
import type { Reranker } from '../../ports.ts';
import { type OnnxEncoder, type OnnxFolderOptions, openedFor, type Sequence } from '../onnx/encoder.ts';
import { longestInput } from '../onnx/sentence-folder.ts';
import type { TextTokenizer } from '../onnx/tokenizer.ts';
import type { OnnxTensor } from '../runtimes/onnxruntime.ts';
import type { ModelServices } from '../services.ts';

export interface OnnxRerankerOptions extends OnnxFolderOptions {
  /** Query, passage and special tokens together. Default: as the folder says. */
  readonly maxTokens?: number;
  /** A long query may take half of the input; it is never cut to fewer tokens than this. Default 64. */
  readonly minQueryTokens?: number;
  /** What is read of a passage that does not fit: its beginning, or the best of overlapping windows. Default first. */
  readonly maxPassage?: 'first' | 'best-of-windows';
  /** Windows of one passage, for best-of-windows. Default 8. */
  readonly maxWindows?: number;
  /** What the graph answers. Default logit. */
  readonly scoreSpace?: 'logit' | 'probability';
  /** Of a head with two labels, the one that means relevant. Default 1. */
  readonly positiveLabel?: 0 | 1;
}

/** Pairs whose score is remembered. */
const REMEMBERED = 200_000;

export interface OnnxReranker extends Reranker {
  /** Pairs that the model has read, and passages that did not fit. */
  readonly counts: { readonly pairs: number; readonly cut: number };
  close(): Promise<void>;
}

/** The model is opened with the first pair. Errors as openedFor has them; DATA when the head is none of a reranker. */
export function createOnnxReranker(options: OnnxRerankerOptions, services: ModelServices = {}): OnnxReranker {
  let opened: Promise<CrossEncoder> | undefined;
  const counts = { pairs: 0, cut: 0 };
  const remembered = new Map<string, number>();
  const open = (): Promise<CrossEncoder> => {
    opened ??= openCrossEncoder(options, counts, services).catch((error) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  let warned = false;
  return {
    id: `onnx(${basename(options.path)})`,
    counts,
    async score(query, documents) {
      const texts = documents.map((document) => documentText(document));
      const keys = texts.map((text) => pairKey(query.text, text));
      const fresh = new Map<string, string>();
      keys.forEach((key, i) => {
        if (!remembered.has(key)) fresh.set(key, texts[i]);
      });
      if (fresh.size > 0) {
        const scores = await (await open()).score(query.text, [...fresh.values()]);
        [...fresh.keys()].forEach((key, i) => {
          remembered.set(key, scores[i]);
        });
      }
      const out = Float64Array.from(keys, (key) => remembered.get(key)!);
      for (const key of remembered.keys()) {
        if (remembered.size <= REMEMBERED) break;
        remembered.delete(key);
      }
      if (counts.cut > 0 && !warned) {
        warned = true;
        const how = options.maxPassage === 'best-of-windows' ? 'read in windows' : 'cut';
        services.log?.warn(`passages that are too long for ${basename(options.path)} are ${how} (key maxPassage)`);
      }
      return out;
    },
    async close() {
      await (await opened?.catch(() => undefined))?.close();
      opened = undefined;
    },
  };
}

interface CrossEncoder {
  /** Probabilities; NaN where the model gave no number. */
  score(query: string, passages: readonly string[]): Promise<Float64Array>;
  close(): Promise<void>;
}

function openCrossEncoder(
  options: OnnxRerankerOptions,
  counts: { pairs: number; cut: number },
  services: ModelServices,
): Promise<CrossEncoder> {
  return openedFor(options, services, async (encoder) => crossEncoderOf(encoder, options, counts));
}

function crossEncoderOf(
  encoder: OnnxEncoder,
  options: OnnxRerankerOptions,
  counts: { pairs: number; cut: number },
): CrossEncoder {
  const output = headOf(encoder);
  const maxTokens = longestInput(encoder.folder, options.maxTokens, encoder.positions);
  const frame = encoder.tokenizer.pair;
  const room = maxTokens - frame.before.length - frame.between.length - frame.after.length;
  const queryRoom = Math.max(options.minQueryTokens ?? 64, room >> 1);
  if (queryRoom >= room) {
    throw new DocOptError('CONFIG', `minQueryTokens ${queryRoom} leaves no room for a passage in ${maxTokens} tokens`);
  }
  const windowCount = options.maxPassage === 'best-of-windows' ? (options.maxWindows ?? 8) : 1;
  return {
    close: () => encoder.close(),
    async score(query, passages) {
      const queryIds = encoder.tokenizer.pieces(query, queryRoom).ids;
      const size = room - queryIds.length;
      const sequences: Sequence[] = [];
      const owner: number[] = [];
      passages.forEach((passage, i) => {
        const windows = windowsOf(encoder.tokenizer, passage, size, windowCount);
        counts.pairs++;
        if (windows.cut) counts.cut++;
        for (const ids of windows.ids) {
          owner.push(i);
          sequences.push(pairSequence(encoder.tokenizer, queryIds, ids));
        }
      });
      const best = new Float64Array(passages.length).fill(Number.NaN);
      await encoder.run(sequences, output, ({ tensor, sequences: batch }) => {
        batch.forEach((sequence, row) => {
          const score = probability(tensor, row, options, encoder.folder);
          const i = owner[sequence];
          if (!(best[i] >= score)) best[i] = Number.isNaN(score) ? best[i] : score;
        });
      });
      return best;
    },
  };
}

/** Windows overlap by a quarter, so that a sentence on a border stands whole in one of them. */
function windowsOf(
  tokenizer: TextTokenizer,
  passage: string,
  size: number,
  count: number,
): { readonly ids: readonly (readonly number[])[]; readonly cut: boolean } {
  const stride = size - (size >> 2);
  const all = tokenizer.pieces(passage, size + (count - 1) * stride);
  const ids = [all.ids.slice(0, size)];
  for (let start = stride; start + size - stride < all.ids.length; start += stride)
    ids.push(all.ids.slice(start, start + size));
  return { ids, cut: all.cut || ids.length > 1 };
}

function pairSequence({ pair }: TextTokenizer, query: readonly number[], passage: readonly number[]): Sequence {
  const { before, between, after, firstType, secondType } = pair;
  return {
    ids: [
      ...before.map(({ id }) => id),
      ...query,
      ...between.map(({ id }) => id),
      ...passage,
      ...after.map(({ id }) => id),
    ],
    types: [
      ...before.map(({ type }) => type),
      ...query.map(() => firstType),
      ...between.map(({ type }) => type),
      ...passage.map(() => secondType),
      ...after.map(({ type }) => type),
    ],
  };
}

/** The output with one or two numbers a pair. */
function headOf({ outputs, folder }: OnnxEncoder): string {
  const width = ({ shape }: OnnxEncoder['outputs'][number]): number | string | undefined =>
    shape.length === 1 ? 1 : shape.length === 2 ? shape[1] : undefined;
  const named = outputs.find(({ name }) => name === 'logits' || name === 'scores');
  const head = named ?? (outputs.length === 1 ? outputs[0] : undefined);
  const labels = head === undefined ? undefined : width(head);
  if (head !== undefined && (labels === 1 || labels === 2 || typeof labels === 'string')) return head.name;
  const names = outputs.map(({ name, shape }) => `${name} [${shape.join(', ')}]`).join('; ');
  throw new DocOptError('DATA', `${folder} is no reranker: its outputs are ${names}`, {
    hint: 'Expected `logits` with one label, or two of which one means relevant.',
  });
}

function probability(tensor: OnnxTensor, row: number, options: OnnxRerankerOptions, folder: string): number {
  const data = tensor.data as Float32Array;
  const labels = data.length / tensor.dims[0];
  if (labels !== 1 && labels !== 2) {
    throw new DocOptError('DATA', `${folder} answers ${labels} numbers a pair, where a reranker has one label or two`);
  }
  const positive = options.positiveLabel ?? 1;
  const value = labels === 1 ? data[row] : data[2 * row + positive];
  if (options.scoreSpace === 'probability') {
    if (value >= 0 && value <= 1) return value;
    if (Number.isNaN(value)) return value;
    throw new DocOptError('CONFIG', `${folder} answered ${value}, which is no probability`, {
      hint: 'Its answers are logits: leave scoreSpace at logit.',
    });
  }
  const logit = labels === 1 ? value : value - data[2 * row + 1 - positive];
  return 1 / (1 + Math.exp(-logit));
}

function pairKey(query: string, passage: string): string {
  return createHash('sha256').update(query).update('\u0000').update(passage).digest('base64');
}
