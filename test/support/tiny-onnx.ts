/**
 * Model folders small enough to compute by hand, in the layout of real ones: each word has a row of numbers, each token
 * type adds one. Real graphs for the real runtime, so that drivers are tested without a download.
 */
import { createRng } from '../../src/kernels/rng.ts';
import { ProtobufWriter } from '../../src/nn/protobuf.ts';
import { folderWith } from './temp-folder.ts';

/** As in a real vocabulary, the first ones are special. */
const SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', '[unused0]', '[unused1]', '.', ','];

export interface TinyModel {
  readonly words: readonly string[];
  readonly width: number;
  /** states: token states; logits: their sum over the tokens, one number for each of `width` labels. */
  readonly output: 'states' | 'logits';
  /** States pass through 8 bits with a scale of the whole batch. */
  readonly dynamic?: boolean;
  readonly half?: boolean;
  readonly seed?: number;
}

export interface TinyFolder {
  readonly folder: string;
  /** The numbers of a token of type 0 and what type 1 adds. */
  readonly row: (token: string) => readonly number[];
  readonly second: readonly number[];
}

/** Writes a folder; `files` are added to it or replace what it has. */
export function tinyFolder(model: TinyModel, files: Readonly<Record<string, unknown>> = {}): TinyFolder {
  const tokens = [...SPECIAL, ...model.words];
  const rng = createRng(model.seed ?? 3);
  // Special tokens are in every text, so they say little.
  const weight = (i: number): number => (i < 5 * model.width ? 0.1 : 1);
  const table = Float32Array.from({ length: tokens.length * model.width }, (_, i) => weight(i) * rng.normal());
  const types = Float32Array.from({ length: 2 * model.width }, (_, i) =>
    i < model.width ? 0 : Math.fround(rng.normal()),
  );
  const contents = { 'model.onnx': tinyGraph(model, table, types), 'tokenizer.json': tokenizerJson(tokens), ...files };
  const folder = folderWith(
    Object.fromEntries(
      Object.entries(contents)
        .filter(([, content]) => content !== undefined)
        .map(([name, content]) => [
          name,
          typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content),
        ]),
    ),
  );
  const row = (token: string): readonly number[] => {
    const at = Math.max(1, tokens.indexOf(token)) * model.width;
    return [...table.subarray(at, at + model.width)];
  };
  return { folder, row, second: [...types.subarray(model.width)] };
}

function tokenizerJson(tokens: readonly string[]): unknown {
  const special = (id: string, type_id: number) => ({ SpecialToken: { id, type_id } });
  const sequence = (id: string, type_id: number) => ({ Sequence: { id, type_id } });
  const entry = (token: string) => [token, { id: token, ids: [tokens.indexOf(token)], tokens: [token] }];
  return {
    version: '1.0',
    // As exporters leave them: nobody should follow these two.
    truncation: { direction: 'Right', max_length: 4, strategy: 'LongestFirst', stride: 0 },
    padding: { strategy: { Fixed: 64 }, direction: 'Right', pad_id: 0, pad_type_id: 0, pad_token: '[PAD]' },
    added_tokens: [0, 1, 2, 3, 4].map((id) => ({
      id,
      content: tokens[id],
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: { type: 'Lowercase' },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [special('[CLS]', 0), sequence('A', 0), special('[SEP]', 0)],
      pair: [
        ...[special('[CLS]', 0), sequence('A', 0), special('[SEP]', 0)],
        ...[sequence('B', 1), special('[SEP]', 1)],
      ],
      special_tokens: Object.fromEntries(['[CLS]', '[SEP]'].map(entry)),
    },
    decoder: null,
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
    },
  };
}

const FLOAT = 1;
const INT64 = 7;
const HALF = 10;

function tinyGraph(model: TinyModel, table: Float32Array, types: Float32Array): Uint8Array {
  const graph = new ProtobufWriter();
  const node = (operator: string, inputs: readonly string[], outputs: readonly string[], integers = {}): void => {
    const proto = new ProtobufWriter();
    for (const input of inputs) proto.text(1, input);
    for (const output of outputs) proto.text(2, output);
    proto.text(4, operator);
    for (const [name, value] of Object.entries(integers))
      proto.message(
        5,
        new ProtobufWriter()
          .text(1, name)
          .integer(3, value as number)
          .integer(20, 2),
      );
    graph.message(1, proto);
  };
  const constant = (name: string, type: number, dims: readonly number[], data: Uint8Array): void => {
    const proto = new ProtobufWriter();
    for (const size of dims) proto.integer(1, size);
    graph.message(5, proto.integer(2, type).text(8, name).bytes(9, data));
  };
  const value = (name: string, type: number, dims: readonly (string | number)[]): ProtobufWriter => {
    const shape = new ProtobufWriter();
    for (const size of dims) {
      const dimension = new ProtobufWriter();
      shape.message(1, typeof size === 'number' ? dimension.integer(1, size) : dimension.text(2, size));
    }
    const tensor = new ProtobufWriter().integer(1, type).message(2, shape);
    return new ProtobufWriter().text(1, name).message(2, new ProtobufWriter().message(1, tensor));
  };

  node('Gather', ['table', 'input_ids'], ['words']);
  node('Gather', ['types', 'token_type_ids'], ['added']);
  node('Add', ['words', 'added'], ['sum']);
  node('Cast', ['attention_mask'], ['mask'], { to: FLOAT });
  node('Unsqueeze', ['mask', 'last'], ['column']);
  node('Mul', ['sum', 'column'], ['plain']);
  if (model.dynamic) {
    node('DynamicQuantizeLinear', ['plain'], ['bytes', 'scale', 'zero']);
    node('DequantizeLinear', ['bytes', 'scale', 'zero'], ['states']);
  } else node('Identity', ['plain'], ['states']);
  if (model.output === 'logits') node('ReduceSum', ['states', 'tokens'], ['answer'], { keepdims: 0 });
  else node('Identity', ['states'], ['answer']);
  const name = model.output === 'logits' ? 'logits' : 'last_hidden_state';
  node('Cast', ['answer'], [name], { to: model.half ? HALF : FLOAT });
  const bytesOf = (data: Float32Array | BigInt64Array): Uint8Array => new Uint8Array(data.buffer);
  constant('table', FLOAT, [table.length / model.width, model.width], bytesOf(table));
  constant('types', FLOAT, [2, model.width], bytesOf(types));
  constant('last', INT64, [1], bytesOf(BigInt64Array.of(2n)));
  constant('tokens', INT64, [1], bytesOf(BigInt64Array.of(1n)));
  for (const input of ['input_ids', 'attention_mask', 'token_type_ids'])
    graph.message(11, value(input, INT64, ['batch', 'sequence']));
  const dims = model.output === 'logits' ? ['batch', model.width] : ['batch', 'sequence', model.width];
  graph.message(12, value(name, model.half ? HALF : FLOAT, dims));
  graph.text(2, 'tiny');
  return new ProtobufWriter()
    .integer(1, 8)
    .message(7, graph)
    .message(8, new ProtobufWriter().text(1, '').integer(2, 17))
    .finish();
}
