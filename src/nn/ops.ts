/** The operations of graph.ts as functions, with the rules of their shapes. A wrong shape is a bug of ours: INTERNAL. */
import { DocOptError } from '../errors.ts';
import { type Node, type Operation, type Shape, sameShape, sizeOf, type TensorType } from './graph.ts';

function node(operation: Operation, inputs: readonly Node[], shape: Shape, type: TensorType = 'float32'): Node {
  return { operation, inputs, shape, type };
}

function refuse(what: string, ...shapes: readonly Shape[]): never {
  throw new DocOptError('INTERNAL', `${what}: shapes ${shapes.map((shape) => `[${shape.join(', ')}]`).join(' and ')}`);
}

/** Fed by name at every run. */
export function input(name: string, shape: Shape, type: TensorType = 'float32'): Node {
  return node({ kind: 'input', name }, [], shape, type);
}

/** Fixed values inside the graph; meant for small ones. */
export function constant(data: Float32Array | Int32Array, shape: Shape): Node {
  if (data.length !== sizeOf(shape)) refuse(`a constant of ${data.length} values`, shape);
  return node({ kind: 'constant', data }, [], shape, data instanceof Int32Array ? 'int32' : 'float32');
}

export function scalar(value: number): Node {
  return constant(Float32Array.of(value), []);
}

export function filled(value: number, shape: Shape): Node {
  return constant(new Float32Array(sizeOf(shape)).fill(value), shape);
}

/** numpy's rule: aligned at the last axis, equal or 1. */
export function broadcastShape(a: Shape, b: Shape): Shape {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, axis) => {
    const left = a[axis - rank + a.length] ?? 1;
    const right = b[axis - rank + b.length] ?? 1;
    if (left !== right && left !== 1 && right !== 1) refuse('broadcast', a, b);
    return left === 1 ? right : left;
  });
}

const binary =
  (kind: 'add' | 'sub' | 'mul' | 'div') =>
  (a: Node, b: Node): Node =>
    node({ kind }, [a, b], broadcastShape(a.shape, b.shape));
export const add = binary('add');
export const sub = binary('sub');
export const mul = binary('mul');
export const div = binary('div');

const unary =
  (kind: 'neg' | 'exp' | 'log' | 'sqrt' | 'sigmoid') =>
  (x: Node): Node =>
    node({ kind }, [x], x.shape);
export const neg = unary('neg');
export const exp = unary('exp');
export const log = unary('log');
export const sqrt = unary('sqrt');
export const sigmoid = unary('sigmoid');

export interface MatmulOptions {
  readonly transposeA?: boolean;
  readonly transposeB?: boolean;
  readonly scale?: number;
}

/** scale * a b, [..., m, k] x [..., k, n] -> [..., m, n]; each side may be given transposed. Leading axes are equal. */
export function matmul(a: Node, b: Node, options: MatmulOptions = {}): Node {
  const { transposeA = false, transposeB = false, scale = 1 } = options;
  const rank = a.shape.length;
  const batch = a.shape.slice(0, -2);
  if (rank < 2 || !sameShape(batch, b.shape.slice(0, -2))) refuse('matmul', a.shape, b.shape);
  const [m, k] = transposeA ? [a.shape[rank - 1], a.shape[rank - 2]] : [a.shape[rank - 2], a.shape[rank - 1]];
  const [k2, n] = transposeB ? [b.shape[rank - 1], b.shape[rank - 2]] : [b.shape[rank - 2], b.shape[rank - 1]];
  if (k !== k2) refuse('matmul', a.shape, b.shape);
  return node({ kind: 'matmul', transposeA, transposeB, scale }, [a, b], [...batch, m, n]);
}

export function reshape(x: Node, shape: Shape): Node {
  if (sizeOf(shape) !== sizeOf(x.shape)) refuse('reshape', x.shape, shape);
  return sameShape(x.shape, shape) ? x : node({ kind: 'reshape' }, [x], shape, x.type);
}

/** Repeats axes of size 1, and adds leading ones, up to `shape`. */
export function broadcast(x: Node, shape: Shape): Node {
  if (!sameShape(broadcastShape(x.shape, shape), shape)) refuse('broadcast', x.shape, shape);
  return sameShape(x.shape, shape) ? x : node({ kind: 'broadcast' }, [x], shape);
}

/** Axis i of the result is axis permutation[i] of x. */
export function transpose(x: Node, permutation: readonly number[]): Node {
  const valid = permutation.length === x.shape.length && new Set(permutation).size === permutation.length;
  if (!valid) refuse(`transpose by ${permutation.join(' ')}`, x.shape);
  if (permutation.every((axis, i) => axis === i)) return x;
  return node(
    { kind: 'transpose', permutation },
    [x],
    permutation.map((axis) => x.shape[axis]),
    x.type,
  );
}

function resized(shape: Shape, axis: number, size: number): Shape {
  return shape.map((dimension, i) => (i === axis ? size : dimension));
}

/** Elements start..end-1 along one axis. */
export function slice(x: Node, axis: number, start: number, end: number): Node {
  if (start === 0 && end === x.shape[axis]) return x;
  if (!(start >= 0 && start < end && end <= x.shape[axis])) refuse(`slice ${start}..${end} of axis ${axis}`, x.shape);
  return node({ kind: 'slice', axis, start, end }, [x], resized(x.shape, axis, end - start), x.type);
}

export function concat(parts: readonly Node[], axis: number): Node {
  const [first] = parts;
  if (parts.length === 1) return first;
  for (const part of parts) {
    if (!sameShape(resized(part.shape, axis, 0), resized(first.shape, axis, 0))) {
      refuse(`concat along ${axis}`, first.shape, part.shape);
    }
  }
  const size = parts.reduce((sum, part) => sum + part.shape[axis], 0);
  return node({ kind: 'concat', axis }, parts, resized(first.shape, axis, size), first.type);
}

export function pad(x: Node, axis: number, before: number, after: number): Node {
  if (before === 0 && after === 0) return x;
  return node({ kind: 'pad', axis, before, after }, [x], resized(x.shape, axis, before + x.shape[axis] + after));
}

const reduction =
  (kind: 'reduceSum' | 'reduceMean') =>
  (x: Node, axes: readonly number[]): Node => {
    if (axes.length === 0) return x;
    return node(
      { kind, axes },
      [x],
      x.shape.map((dimension, axis) => (axes.includes(axis) ? 1 : dimension)),
    );
  };
/** Sums over these axes, which stay with size 1. */
export const reduceSum = reduction('reduceSum');
export const reduceMean = reduction('reduceMean');

export function softmax(x: Node): Node {
  return node({ kind: 'softmax' }, [x], x.shape);
}

/** log sum exp over the last axis, which stays with size 1. */
export function logSumExp(x: Node): Node {
  return node({ kind: 'logSumExp' }, [x], resized(x.shape, x.shape.length - 1, 1));
}

/** table [n, d], indexes int32 [r] -> [r, d]. */
export function take(table: Node, indexes: Node): Node {
  if (table.shape.length !== 2 || indexes.shape.length !== 1 || indexes.type !== 'int32') {
    refuse('take', table.shape, indexes.shape);
  }
  return node({ kind: 'take' }, [table, indexes], [indexes.shape[0], table.shape[1]]);
}

/** rows [r, d] added up at indexes [r] of a matrix of zeros [n, d]. */
export function scatterRows(rows: Node, indexes: Node, n: number): Node {
  return node({ kind: 'scatterRows', rows: n }, [rows, indexes], [n, rows.shape[1]]);
}

/** x sigmoid(x). */
export function silu(x: Node): Node {
  return mul(x, sigmoid(x));
}
