/**
 * A transformer encoder as a graph: token ids in, named tensors out. Sequences are run in batches of near lengths; a model
 * whose quantization looks at the whole batch is run one sequence at a time, so that every answer depends on its own
 * sequence alone.
 */
import { DocOptError } from '../../errors.ts';
import { hubFolder, isHubName } from '../hub.ts';
import { type OnnxHost, type OnnxTensor, openOnnx } from '../runtimes/onnxruntime.ts';
import type { ModelServices } from '../services.ts';
import { countIn, type JsonObject, readFolderJson } from './folder-json.ts';
import { locateModel, type ModelFacts, neededFiles, type Precision, readModelFacts } from './model-file.ts';
import { openTokenizer, type TextTokenizer } from './tokenizer.ts';

export interface OnnxFolderOptions {
  /** A folder in the Hugging Face layout, a .onnx file inside one, or hf:ORG/NAME[@REVISION] of the hub. */
  readonly path: string;
  /** One of several .onnx files, relative to the folder. */
  readonly file?: string;
  readonly precision?: Precision;
  readonly threads?: number;
  /** Sequences per run. Default: 1 for dynamically quantized models, else 32. */
  readonly batchSize?: number;
}

/** Token ids with their types, special tokens included. */
export interface Sequence {
  readonly ids: readonly number[];
  readonly types: readonly number[];
  /** The first so many are looked at by the others. Default all. */
  readonly attended?: number;
}

/** One output of one run: rows of a batch. */
export interface OutputRows {
  readonly tensor: OnnxTensor;
  /** Which sequences these are, in the order of the rows. */
  readonly sequences: readonly number[];
}

export interface OnnxEncoder {
  readonly folder: string;
  readonly facts: ModelFacts;
  readonly tokenizer: TextTokenizer;
  readonly config: JsonObject | undefined;
  /** The longest sequence that the model has positions for; undefined when its config does not say. */
  readonly positions: number | undefined;
  readonly outputs: OnnxHost['outputs'];
  readonly batchSize: number;
  /** Runs all sequences; `take` gets every batch as it comes. */
  run(sequences: readonly Sequence[], output: string, take: (rows: OutputRows) => void): Promise<void>;
  close(): Promise<void>;
}

/** Tokens of one run, padding included: bounds its memory. */
const BATCH_TOKENS = 16_384;

/** Opens a model and makes of it what is wanted; a model that does not fit is closed again. */
export async function openedFor<T>(
  options: OnnxFolderOptions,
  services: ModelServices,
  make: (encoder: OnnxEncoder) => Promise<T>,
): Promise<T> {
  const encoder = await openEncoder(options, services);
  try {
    return await make(encoder);
  } catch (error) {
    await encoder.close();
    throw error;
  }
}

async function openEncoder(options: OnnxFolderOptions, services: ModelServices = {}): Promise<OnnxEncoder> {
  const place = isHubName(options.path)
    ? await hubFolder(options.path, (names) => neededFiles(options.path, names, options), services)
    : options.path;
  const { folder, path } = locateModel(place, options);
  const tokenizer = await openTokenizer(folder);
  const config = readFolderJson(folder, 'config.json');
  const facts = await readModelFacts(path);
  const host = await openOnnx({ model: path, threads: options.threads });
  const unknown = host.inputs.map(({ name }) => name).filter((name) => !INPUTS.includes(name));
  if (unknown.length > 0 || !host.inputs.some(({ name }) => name === 'input_ids')) {
    await host.close();
    const names = host.inputs.map(({ name }) => name).join(', ');
    throw new DocOptError('DATA', `${path} takes the inputs ${names}; expected some of ${INPUTS.join(', ')}`, {
      hint: 'Export the model as a feature extractor, without a cache of past keys.',
    });
  }
  const batchSize = options.batchSize ?? (facts.dynamic ? 1 : 32);
  return {
    folder,
    facts,
    tokenizer,
    config,
    positions: positionsOf(config),
    outputs: host.outputs,
    batchSize,
    close: () => host.close(),
    async run(sequences, output, take) {
      for (const batch of batches(sequences, batchSize)) {
        const feeds = Object.fromEntries(
          host.inputs.map(({ name, type }) => [name, inputTensor(name, type, batch, sequences, tokenizer.padId)]),
        );
        take({ tensor: (await host.run(feeds, [output]))[output], sequences: batch });
      }
    },
  };
}

const INPUTS = ['input_ids', 'attention_mask', 'token_type_ids', 'position_ids'];

/** RoBERTa and its kin start counting positions after the padding id. */
function positionsOf(config: JsonObject | undefined): number | undefined {
  const positions = countIn(config, 'max_position_embeddings', 'n_positions');
  const type = config?.model_type;
  const offset = type === 'roberta' || type === 'xlm-roberta' || type === 'camembert' || type === 'mpnet' ? 2 : 0;
  return positions === undefined ? undefined : positions - offset;
}

/** Positions of sequences, longest first so that a batch that does not fit fails at once; near lengths together. */
function* batches(sequences: readonly Sequence[], batchSize: number): Generator<readonly number[]> {
  const length = (i: number): number => sequences[i].ids.length;
  const order = Array.from(sequences.keys()).sort((a, b) => length(b) - length(a) || a - b);
  for (let start = 0; start < order.length; ) {
    const fitting = Math.max(1, Math.floor(BATCH_TOKENS / Math.max(1, length(order[start]))));
    const batch = order.slice(start, start + Math.min(batchSize, fitting));
    yield batch;
    start += batch.length;
  }
}

function inputTensor(
  name: string,
  type: string,
  batch: readonly number[],
  sequences: readonly Sequence[],
  padId: number,
): OnnxTensor {
  const width = sequences[batch[0]].ids.length;
  const narrow = type === 'int32';
  const data = narrow ? new Int32Array(batch.length * width) : new BigInt64Array(batch.length * width);
  const put = (at: number, value: number): void => {
    if (narrow) data[at] = value as never;
    else data[at] = BigInt(value) as never;
  };
  batch.forEach((sequence, row) => {
    const { ids, types, attended = ids.length } = sequences[sequence];
    for (let i = 0; i < width; i++) {
      const inside = i < ids.length;
      const at = row * width + i;
      if (name === 'input_ids') put(at, inside ? ids[i] : padId);
      else if (name === 'attention_mask') put(at, i < attended ? 1 : 0);
      else if (name === 'token_type_ids') put(at, inside ? types[i] : 0);
      else put(at, inside ? i : 0);
    }
  });
  return { type: narrow ? 'int32' : 'int64', data, dims: [batch.length, width] };
}
