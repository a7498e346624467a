/** An ONNX file as it is written: nodes, tensors, inputs and outputs as they come. Field numbers are those of onnx.proto3. */
import { ProtobufWriter } from './protobuf.ts';

const OPSET = 17;
const IR_VERSION = 8;
/** TensorProto.DataType. */
export const ELEMENT = { float32: 1, uint8: 2, int32: 6, int64: 7 } as const;
/** AttributeProto.type. */
const ATTRIBUTE = { float: 1, int: 2, text: 3, ints: 7 };
/** Operators of ONNX Runtime that are in no standard. */
const CONTRIBUTED = new Set([
  'FusedMatMul',
  'GroupQueryAttention',
  'MatMulNBits',
  'QuickGelu',
  'SkipSimplifiedLayerNormalization',
]);

export type Attribute = number | string | readonly number[] | { readonly float: number };
/** A name stands for a size that is known only when it runs. */
export type Dimension = number | string;

export class OnnxFile {
  /** GraphProto, open: nodes are added as they come. */
  readonly #graph = new ProtobufWriter();
  readonly #integers = new Map<string, string>();
  #next = 0;

  /** A node with one output; its name, made up unless it is given. */
  emit(type: string, inputs: readonly string[], attributes: Record<string, Attribute> = {}, output?: string): string {
    const name = output ?? `v${this.#next++}`;
    this.emitAll(type, inputs, [name], attributes);
    return name;
  }

  /** A node with several outputs; '' = not wanted, and as an input: not given. */
  emitAll(
    type: string,
    inputs: readonly string[],
    outputs: readonly string[],
    attributes: Record<string, Attribute> = {},
  ): void {
    const proto = new ProtobufWriter();
    for (const input of inputs) proto.text(1, input);
    for (const output of outputs) proto.text(2, output);
    proto.text(3, `n${this.#next++}`).text(4, type);
    for (const [key, value] of Object.entries(attributes)) proto.message(5, attributeProto(key, value));
    if (CONTRIBUTED.has(type)) proto.text(7, 'com.microsoft');
    this.#graph.message(1, proto);
  }

  /** A fixed tensor inside the file; its name. */
  tensor(type: keyof typeof ELEMENT, shape: readonly number[], data: ArrayBufferView): string {
    const name = `c${this.#next++}`;
    const proto = new ProtobufWriter();
    for (const dimension of shape) proto.integer(1, dimension);
    proto.integer(2, ELEMENT[type]).text(8, name);
    proto.bytes(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    this.#graph.message(5, proto);
    return name;
  }

  /** Shapes, axes and pads are int64 tensors; equal ones are shared. */
  integers(values: readonly number[]): string {
    const key = values.join(' ');
    const name = this.#integers.get(key) ?? this.tensor('int64', [values.length], BigInt64Array.from(values, BigInt));
    this.#integers.set(key, name);
    return name;
  }

  input(name: string, type: keyof typeof ELEMENT, shape: readonly Dimension[]): string {
    this.#graph.message(11, valueInfo(name, type, shape));
    return name;
  }

  output(name: string, type: keyof typeof ELEMENT, shape: readonly Dimension[]): void {
    this.#graph.message(12, valueInfo(name, type, shape));
  }

  finish(): Uint8Array {
    this.#graph.text(2, 'graph');
    const opset = (domain: string, version: number): ProtobufWriter =>
      new ProtobufWriter().text(1, domain).integer(2, version);
    return new ProtobufWriter()
      .integer(1, IR_VERSION)
      .text(2, 'docopt-ir')
      .message(7, this.#graph)
      .message(8, opset('', OPSET))
      .message(8, opset('com.microsoft', 1))
      .finish();
  }
}

function attributeProto(name: string, value: Attribute): ProtobufWriter {
  const proto = new ProtobufWriter().text(1, name);
  if (typeof value === 'string') return proto.text(4, value).integer(20, ATTRIBUTE.text);
  if (typeof value === 'number') return proto.integer(3, value).integer(20, ATTRIBUTE.int);
  if ('float' in value) return proto.float(2, value.float).integer(20, ATTRIBUTE.float);
  for (const item of value) proto.integer(8, item);
  return proto.integer(20, ATTRIBUTE.ints);
}

function valueInfo(name: string, type: keyof typeof ELEMENT, shape: readonly Dimension[]): ProtobufWriter {
  const dimensions = new ProtobufWriter();
  for (const size of shape) {
    dimensions.message(
      1,
      typeof size === 'string' ? new ProtobufWriter().text(2, size) : new ProtobufWriter().integer(1, size),
    );
  }
  const tensor = new ProtobufWriter().integer(1, ELEMENT[type]).message(2, dimensions);
  return new ProtobufWriter().text(1, name).message(2, new ProtobufWriter().message(1, tensor));
}
