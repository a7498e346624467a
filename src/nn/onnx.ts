/**
 * A graph as an ONNX model: standard operators of opset 17, and FusedMatMul of ONNX Runtime for products of more than two
 * axes with a transposed side. Field numbers are those of onnx.proto3.
 */
import { type Graph, graphInputs, type Node, type Shape, type TensorType, topologicalOrder } from './graph.ts';
import { ProtobufWriter } from './protobuf.ts';

const OPSET = 17;
const IR_VERSION = 8;
const ELEMENT_TYPE: Record<TensorType, number> = { float32: 1, int32: 6 };
const INT64 = 7;
/** AttributeProto.type. */
const ATTRIBUTE = { float: 1, int: 2, text: 3, ints: 7 };

type Attribute = number | string | readonly number[] | { readonly float: number };

/** The bytes of an ONNX file that computes the graph's outputs from its inputs, under the same names. */
export function writeOnnx(graph: Graph): Uint8Array {
  const writer = new GraphWriter();
  for (const node of topologicalOrder(Object.values(graph.outputs))) writer.add(node);
  for (const [name, node] of graphInputs(graph)) writer.body.message(11, valueInfo(name, node));
  for (const [name, node] of Object.entries(graph.outputs)) {
    // An output may be an input, or stand under two names: a node of its own keeps every case alike.
    writer.emit('Identity', [writer.nameOf(node)], {}, name);
    writer.body.message(12, valueInfo(name, node));
  }
  writer.body.text(2, 'graph');
  const opset = (domain: string, version: number): ProtobufWriter =>
    new ProtobufWriter().text(1, domain).integer(2, version);
  return new ProtobufWriter()
    .integer(1, IR_VERSION)
    .text(2, 'docopt-ir')
    .message(7, writer.body)
    .message(8, opset('', OPSET))
    .message(8, opset('com.microsoft', 1))
    .finish();
}

class GraphWriter {
  /** GraphProto, open: nodes are added as they come. */
  readonly body = new ProtobufWriter();
  readonly #names = new Map<Node, string>();
  readonly #shapes = new Map<string, string>();
  #next = 0;

  nameOf(node: Node): string {
    const name = this.#names.get(node);
    if (name === undefined) throw new Error(`node ${node.operation.kind} before its inputs`);
    return name;
  }

  emit(type: string, inputs: readonly string[], attributes: Record<string, Attribute> = {}, output?: string): string {
    const name = output ?? `v${this.#next++}`;
    const proto = new ProtobufWriter();
    for (const input of inputs) proto.text(1, input);
    proto
      .text(2, name)
      .text(3, `n${this.#next++}`)
      .text(4, type);
    for (const [key, value] of Object.entries(attributes)) proto.message(5, attributeProto(key, value));
    if (type === 'FusedMatMul') proto.text(7, 'com.microsoft');
    this.body.message(1, proto);
    return name;
  }

  add(node: Node): void {
    this.#names.set(node, this.#express(node));
  }

  #express(node: Node): string {
    const { operation, shape } = node;
    const inputs = node.inputs.map((input) => this.nameOf(input));
    switch (operation.kind) {
      case 'input':
        return operation.name;
      case 'constant':
        return this.#tensor(ELEMENT_TYPE[node.type], shape, operation.data);
      case 'add':
      case 'sub':
      case 'mul':
      case 'div':
      case 'neg':
      case 'exp':
      case 'log':
      case 'sqrt':
        return this.emit(capitalised(operation.kind), inputs);
      case 'sigmoid': {
        // Not Sigmoid, whose approximation is off by 1e-7 everywhere: for x = -18 that is four times the value.
        const one = this.#tensor(ELEMENT_TYPE.float32, [], Float32Array.of(1));
        const negative = this.emit('Neg', inputs);
        return this.emit('Div', [one, this.emit('Add', [this.emit('Exp', [negative]), one])]);
      }
      case 'matmul': {
        const { transposeA, transposeB, scale } = operation;
        const attributes = { transA: Number(transposeA), transB: Number(transposeB), alpha: { float: scale } };
        return this.emit(shape.length === 2 ? 'Gemm' : 'FusedMatMul', inputs, attributes);
      }
      case 'reshape':
        return this.emit('Reshape', [...inputs, this.#integers(shape)]);
      case 'broadcast':
        return this.emit('Expand', [...inputs, this.#integers(shape)]);
      case 'transpose':
        return this.emit('Transpose', inputs, { perm: operation.permutation });
      case 'slice': {
        const range = [[operation.start], [operation.end], [operation.axis]].map((value) => this.#integers(value));
        return this.emit('Slice', [...inputs, ...range]);
      }
      case 'concat':
        return this.emit('Concat', inputs, { axis: operation.axis });
      case 'pad': {
        const pads = [operation.before, operation.after].flatMap((amount) =>
          shape.map((_, axis) => (axis === operation.axis ? amount : 0)),
        );
        return this.emit('Pad', [...inputs, this.#integers(pads)]);
      }
      case 'reduceSum':
        return this.emit('ReduceSum', [...inputs, this.#integers(operation.axes)], { keepdims: 1 });
      case 'reduceMean':
        return this.emit('ReduceMean', inputs, { axes: operation.axes, keepdims: 1 });
      case 'softmax':
        return this.emit('Softmax', inputs, { axis: -1 });
      case 'logSumExp': {
        // Not ReduceLogSumExp, which adds one by one: over fifty thousand terms the small ones are lost (1e-4 too low).
        // In runs, so that terms meet sums of their own size.
        const largest = this.emit('ReduceMax', inputs, { axes: [-1], keepdims: 1 });
        const powers = this.emit('Exp', [this.emit('Sub', [inputs[0], largest])]);
        const width = node.inputs[0].shape[shape.length - 1];
        const parts = this.emit('Reshape', [powers, this.#integers([...shape.slice(0, -1), -1, runLength(width)])]);
        const partial = this.emit('ReduceSum', [parts, this.#integers([-1])], { keepdims: 0 });
        const sum = this.emit('ReduceSum', [partial, this.#integers([-1])], { keepdims: 1 });
        return this.emit('Add', [this.emit('Log', [sum]), largest]);
      }
      case 'take':
        return this.emit('Gather', inputs, { axis: 0 });
      case 'scatterRows': {
        const zeros = this.emit('ConstantOfShape', [this.#integers(shape)]);
        const column = this.emit('Cast', [inputs[1]], { to: INT64 });
        const indexes = this.emit('Reshape', [column, this.#integers([-1, 1])]);
        return this.emit('ScatterND', [zeros, indexes, inputs[0]], { reduction: 'add' });
      }
      default:
        return operation satisfies never;
    }
  }

  #tensor(elementType: number, shape: Shape, data: ArrayBufferView): string {
    const name = `c${this.#next++}`;
    const proto = new ProtobufWriter();
    for (const dimension of shape) proto.integer(1, dimension);
    proto.integer(2, elementType).text(8, name);
    proto.bytes(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    this.body.message(5, proto);
    return name;
  }

  /** Shapes, axes and pads are int64 tensors; equal ones are shared. */
  #integers(values: readonly number[]): string {
    const key = values.join(' ');
    const name = this.#shapes.get(key) ?? this.#tensor(INT64, [values.length], BigInt64Array.from(values, BigInt));
    this.#shapes.set(key, name);
    return name;
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

function valueInfo(name: string, { type, shape }: Node): ProtobufWriter {
  const dimensions = new ProtobufWriter();
  for (const dimension of shape) dimensions.message(1, new ProtobufWriter().integer(1, dimension));
  const tensor = new ProtobufWriter().integer(1, ELEMENT_TYPE[type]).message(2, dimensions);
  return new ProtobufWriter().text(1, name).message(2, new ProtobufWriter().message(1, tensor));
}

/** The divisor of a width that is nearest to its root from below. */
function runLength(width: number): number {
  let length = Math.floor(Math.sqrt(width));
  while (width % length !== 0) length--;
  return length;
}

function capitalised(kind: string): string {
  return kind[0].toUpperCase() + kind.slice(1);
}
