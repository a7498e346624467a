/**
 * A graph as an ONNX model: standard operators of opset 17, and FusedMatMul of ONNX Runtime for products of more than two
 * axes with a transposed side.
 */
import { type Graph, graphInputs, type Node, topologicalOrder } from './graph.ts';
import { ELEMENT, OnnxFile } from './onnx-file.ts';

/** The bytes of an ONNX file that computes the graph's outputs from its inputs, under the same names. */
export function writeOnnx(graph: Graph): Uint8Array {
  const writer = new GraphWriter();
  for (const node of topologicalOrder(Object.values(graph.outputs))) writer.add(node);
  for (const [name, { type, shape }] of graphInputs(graph)) writer.file.input(name, type, shape);
  for (const [name, node] of Object.entries(graph.outputs)) {
    // An output may be an input, or stand under two names: a node of its own keeps every case alike.
    writer.file.emit('Identity', [writer.nameOf(node)], {}, name);
    writer.file.output(name, node.type, node.shape);
  }
  return writer.file.finish();
}

class GraphWriter {
  readonly file = new OnnxFile();
  readonly #names = new Map<Node, string>();

  nameOf(node: Node): string {
    const name = this.#names.get(node);
    if (name === undefined) throw new Error(`node ${node.operation.kind} before its inputs`);
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
        return this.file.tensor(node.type, shape, operation.data);
      case 'add':
      case 'sub':
      case 'mul':
      case 'div':
      case 'neg':
      case 'exp':
      case 'log':
      case 'sqrt':
        return this.file.emit(capitalised(operation.kind), inputs);
      case 'sigmoid': {
        // Not Sigmoid, whose approximation is off by 1e-7 everywhere: for x = -18 that is four times the value.
        const one = this.file.tensor('float32', [], Float32Array.of(1));
        const negative = this.file.emit('Neg', inputs);
        return this.file.emit('Div', [one, this.file.emit('Add', [this.file.emit('Exp', [negative]), one])]);
      }
      case 'matmul': {
        const { transposeA, transposeB, scale } = operation;
        const attributes = { transA: Number(transposeA), transB: Number(transposeB), alpha: { float: scale } };
        return this.file.emit(shape.length === 2 ? 'Gemm' : 'FusedMatMul', inputs, attributes);
      }
      case 'reshape':
        return this.file.emit('Reshape', [...inputs, this.file.integers(shape)]);
      case 'broadcast':
        return this.file.emit('Expand', [...inputs, this.file.integers(shape)]);
      case 'transpose':
        return this.file.emit('Transpose', inputs, { perm: operation.permutation });
      case 'slice': {
        const range = [[operation.start], [operation.end], [operation.axis]].map((value) => this.file.integers(value));
        return this.file.emit('Slice', [...inputs, ...range]);
      }
      case 'concat':
        return this.file.emit('Concat', inputs, { axis: operation.axis });
      case 'pad': {
        const pads = [operation.before, operation.after].flatMap((amount) =>
          shape.map((_, axis) => (axis === operation.axis ? amount : 0)),
        );
        return this.file.emit('Pad', [...inputs, this.file.integers(pads)]);
      }
      case 'reduceSum':
        return this.file.emit('ReduceSum', [...inputs, this.file.integers(operation.axes)], { keepdims: 1 });
      case 'reduceMean':
        return this.file.emit('ReduceMean', inputs, { axes: operation.axes, keepdims: 1 });
      case 'softmax':
        return this.file.emit('Softmax', inputs, { axis: -1 });
      case 'logSumExp': {
        // Not ReduceLogSumExp, which adds one by one: over fifty thousand terms the small ones are lost (1e-4 too low).
        // In runs, so that terms meet sums of their own size.
        const largest = this.file.emit('ReduceMax', inputs, { axes: [-1], keepdims: 1 });
        const powers = this.file.emit('Exp', [this.file.emit('Sub', [inputs[0], largest])]);
        const width = node.inputs[0].shape[shape.length - 1];
        const parts = this.file.emit('Reshape', [
          powers,
          this.file.integers([...shape.slice(0, -1), -1, runLength(width)]),
        ]);
        const partial = this.file.emit('ReduceSum', [parts, this.file.integers([-1])], { keepdims: 0 });
        const sum = this.file.emit('ReduceSum', [partial, this.file.integers([-1])], { keepdims: 1 });
        return this.file.emit('Add', [this.file.emit('Log', [sum]), largest]);
      }
      case 'take':
        return this.file.emit('Gather', inputs, { axis: 0 });
      case 'scatterRows': {
        const zeros = this.file.emit('ConstantOfShape', [this.file.integers(shape)]);
        const column = this.file.emit('Cast', [inputs[1]], { to: ELEMENT.int64 });
        const indexes = this.file.emit('Reshape', [column, this.file.integers([-1, 1])]);
        return this.file.emit('ScatterND', [zeros, indexes, inputs[0]], { reduction: 'add' });
      }
      default:
        return operation satisfies never;
    }
  }
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
