/**
 * Graphs in double precision, one element at a time, straight from the definition of each operation: what finite
 * differences are taken of, and what both executors are held against.
 */
import { type Graph, type Node, type Shape, sizeOf, topologicalOrder } from '../../src/nn/graph.ts';

export type Values = Readonly<Record<string, ArrayLike<number>>>;

export function interpret(graph: Graph, inputs: Values): Record<string, Float64Array> {
  const values = new Map<Node, Float64Array>();
  for (const node of topologicalOrder(Object.values(graph.outputs))) {
    values.set(
      node,
      evaluate(node, (input) => values.get(input)!, inputs),
    );
  }
  return Object.fromEntries(Object.entries(graph.outputs).map(([name, node]) => [name, values.get(node)!]));
}

/** Position of each index tuple of `shape` in an array of `source` shape, aligned at the last axis, size 1 repeated. */
function positions(shape: Shape, source: Shape): Int32Array {
  const strides = stridesOf(source);
  const shift = shape.length - source.length;
  return Int32Array.from({ length: sizeOf(shape) }, (_, flat) => {
    const index = unflatten(flat, shape);
    return source.reduce((sum, size, axis) => sum + (size === 1 ? 0 : index[axis + shift] * strides[axis]), 0);
  });
}

function stridesOf(shape: Shape): number[] {
  const strides = new Array<number>(shape.length).fill(1);
  for (let axis = shape.length - 2; axis >= 0; axis--) strides[axis] = strides[axis + 1] * shape[axis + 1];
  return strides;
}

function unflatten(flat: number, shape: Shape): number[] {
  return stridesOf(shape).map((stride, axis) => Math.floor(flat / stride) % shape[axis]);
}

function flatten(index: readonly number[], shape: Shape): number {
  return stridesOf(shape).reduce((sum, stride, axis) => sum + stride * index[axis], 0);
}

function evaluate(node: Node, at: (node: Node) => Float64Array, given: Values): Float64Array {
  const { operation, inputs, shape } = node;
  const out = new Float64Array(sizeOf(shape));
  const [a, b] = inputs.map(at);
  const each = (value: (index: number[], flat: number) => number): Float64Array => {
    for (let flat = 0; flat < out.length; flat++) out[flat] = value(unflatten(flat, shape), flat);
    return out;
  };
  const binary = (apply: (x: number, y: number) => number): Float64Array => {
    const left = positions(shape, inputs[0].shape);
    const right = positions(shape, inputs[1].shape);
    return each((_, flat) => apply(a[left[flat]], b[right[flat]]));
  };
  switch (operation.kind) {
    case 'input':
      return Float64Array.from(given[operation.name]);
    case 'constant':
      return Float64Array.from(operation.data);
    case 'add':
      return binary((x, y) => x + y);
    case 'sub':
      return binary((x, y) => x - y);
    case 'mul':
      return binary((x, y) => x * y);
    case 'div':
      return binary((x, y) => x / y);
    case 'neg':
      return a.map((x) => -x);
    case 'exp':
      return a.map(Math.exp);
    case 'log':
      return a.map(Math.log);
    case 'sqrt':
      return a.map(Math.sqrt);
    case 'sigmoid':
      return a.map((x) => 1 / (1 + Math.exp(-x)));
    case 'matmul': {
      const { transposeA, transposeB, scale } = operation;
      const rank = shape.length;
      const inner = inputs[0].shape[transposeA ? rank - 2 : rank - 1];
      return each((index) => {
        const [row, column] = index.slice(-2);
        const batch = index.slice(0, -2);
        let sum = 0;
        for (let k = 0; k < inner; k++) {
          const left = transposeA ? [k, row] : [row, k];
          const right = transposeB ? [column, k] : [k, column];
          sum += a[flatten([...batch, ...left], inputs[0].shape)] * b[flatten([...batch, ...right], inputs[1].shape)];
        }
        return scale * sum;
      });
    }
    case 'reshape':
      return a;
    case 'broadcast': {
      const source = positions(shape, inputs[0].shape);
      return each((_, flat) => a[source[flat]]);
    }
    case 'transpose': {
      const { permutation } = operation;
      return each((index) => {
        const source: number[] = [];
        permutation.forEach((axis, i) => {
          source[axis] = index[i];
        });
        return a[flatten(source, inputs[0].shape)];
      });
    }
    case 'slice':
      return each((index) => {
        index[operation.axis] += operation.start;
        return a[flatten(index, inputs[0].shape)];
      });
    case 'concat':
      return each((index) => {
        let part = 0;
        while (index[operation.axis] >= inputs[part].shape[operation.axis]) {
          index[operation.axis] -= inputs[part++].shape[operation.axis];
        }
        return at(inputs[part])[flatten(index, inputs[part].shape)];
      });
    case 'pad':
      return each((index) => {
        index[operation.axis] -= operation.before;
        const along = index[operation.axis];
        return along >= 0 && along < inputs[0].shape[operation.axis] ? a[flatten(index, inputs[0].shape)] : 0;
      });
    case 'reduceSum':
    case 'reduceMean': {
      const source = inputs[0].shape;
      for (let flat = 0; flat < a.length; flat++) {
        const index = unflatten(flat, source).map((i, axis) => (operation.axes.includes(axis) ? 0 : i));
        out[flatten(index, shape)] += a[flat];
      }
      return operation.kind === 'reduceSum' ? out : out.map((sum) => (sum * out.length) / a.length);
    }
    case 'softmax':
    case 'logSumExp': {
      const width = inputs[0].shape.at(-1)!;
      for (let start = 0; start < a.length; start += width) {
        const row = a.subarray(start, start + width);
        const max = row.reduce((m, x) => Math.max(m, x), Number.NEGATIVE_INFINITY);
        const sum = row.reduce((s, x) => s + Math.exp(x - max), 0);
        if (operation.kind === 'logSumExp') out[start / width] = max + Math.log(sum);
        else for (let i = 0; i < width; i++) out[start + i] = Math.exp(row[i] - max) / sum;
      }
      return out;
    }
    case 'take':
      return each(([row, column]) => a[b[row] * shape[1] + column]);
    case 'scatterRows': {
      for (let row = 0; row < b.length; row++)
        for (let i = 0; i < shape[1]; i++) out[b[row] * shape[1] + i] += a[row * shape[1] + i];
      return out;
    }
    default:
      return operation satisfies never;
  }
}
