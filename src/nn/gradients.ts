/**
 * Reverse-mode differentiation: the gradient of a graph is another graph. One rule per operation, each the vector-Jacobian
 * product written in the same operations, so that a rule can be differentiated, cut and run like everything else.
 */
import { DocOptError } from '../errors.ts';
import { type Node, type OperationKind, type Shape, sameShape, topologicalOrder } from './graph.ts';
import {
  add,
  broadcast,
  div,
  filled,
  matmul,
  mul,
  neg,
  pad,
  reduceSum,
  reshape,
  scalar,
  scatterRows,
  slice,
  softmax,
  sub,
  take,
  transpose,
} from './ops.ts';

/** Gradient by each input; undefined where none flows (indexes). */
type Rule = (gradient: Node, node: Node) => (Node | undefined)[];

/**
 * d (sum of outputs * seeds) / d wrt, one node per entry of `wrt` (zeros where nothing flows). `seeds` are the gradients
 * that arrive at the outputs, of the outputs' shapes.
 */
export function gradients(outputs: readonly Node[], seeds: readonly Node[], wrt: readonly Node[]): Node[] {
  const order = topologicalOrder(outputs);
  const needed = reachedFrom(order, wrt);
  const flowing = new Map<Node, Node>();
  const flow = (node: Node, gradient: Node): void => {
    if (!sameShape(node.shape, gradient.shape)) {
      throw new DocOptError(
        'INTERNAL',
        `the gradient of ${node.operation.kind} [${node.shape}] came as [${gradient.shape}]`,
      );
    }
    const sum = flowing.get(node);
    flowing.set(node, sum === undefined ? gradient : add(sum, gradient));
  };
  for (const [i, output] of outputs.entries()) flow(output, seeds[i]);
  for (let i = order.length - 1; i >= 0; i--) {
    const node = order[i];
    const gradient = flowing.get(node);
    if (gradient === undefined || !needed.has(node) || node.inputs.length === 0) continue;
    RULES[node.operation.kind](gradient, node).forEach((part, j) => {
      if (part !== undefined && needed.has(node.inputs[j])) flow(node.inputs[j], part);
    });
  }
  return wrt.map((node) => flowing.get(node) ?? filled(0, node.shape));
}

/** The nodes of `order` that depend on one of `sources`, the sources included: only they carry gradient. */
function reachedFrom(order: readonly Node[], sources: readonly Node[]): Set<Node> {
  const reached = new Set<Node>(sources);
  for (const node of order) if (node.inputs.some((input) => reached.has(input))) reached.add(node);
  return reached;
}

/** Sums a gradient back to the shape that was broadcast. */
function unbroadcast(gradient: Node, shape: Shape): Node {
  if (sameShape(gradient.shape, shape)) return gradient;
  const missing = gradient.shape.length - shape.length;
  const axes = gradient.shape.flatMap((dimension, axis) =>
    axis < missing || (shape[axis - missing] === 1 && dimension !== 1) ? [axis] : [],
  );
  return reshape(reduceSum(gradient, axes), shape);
}

const RULES: Record<OperationKind, Rule> = {
  input: () => [],
  constant: () => [],
  add: (g, { inputs: [a, b] }) => [unbroadcast(g, a.shape), unbroadcast(g, b.shape)],
  sub: (g, { inputs: [a, b] }) => [unbroadcast(g, a.shape), unbroadcast(neg(g), b.shape)],
  mul: (g, { inputs: [a, b] }) => [unbroadcast(mul(g, b), a.shape), unbroadcast(mul(g, a), b.shape)],
  div: (g, node) => {
    const [a, b] = node.inputs;
    const byA = div(g, b);
    return [unbroadcast(byA, a.shape), unbroadcast(neg(mul(byA, node)), b.shape)];
  },
  neg: (g) => [neg(g)],
  exp: (g, y) => [mul(g, y)],
  log: (g, { inputs: [x] }) => [div(g, x)],
  sqrt: (g, y) => [div(mul(g, scalar(0.5)), y)],
  sigmoid: (g, y) => [mul(g, mul(y, sub(scalar(1), y)))],
  matmul: matmulRule,
  reshape: (g, { inputs: [x] }) => [reshape(g, x.shape)],
  transpose: (g, { operation }) => {
    if (operation.kind !== 'transpose') return [];
    const inverse = operation.permutation.map((_, axis) => operation.permutation.indexOf(axis));
    return [transpose(g, inverse)];
  },
  slice: (g, { operation, inputs: [x] }) => {
    if (operation.kind !== 'slice') return [];
    return [pad(g, operation.axis, operation.start, x.shape[operation.axis] - operation.end)];
  },
  concat: (g, { operation, inputs }) => {
    if (operation.kind !== 'concat') return [];
    let start = 0;
    return inputs.map((part) => {
      const end = start + part.shape[operation.axis];
      const piece = slice(g, operation.axis, start, end);
      start = end;
      return piece;
    });
  },
  pad: (g, { operation, inputs: [x] }) => {
    if (operation.kind !== 'pad') return [];
    return [slice(g, operation.axis, operation.before, operation.before + x.shape[operation.axis])];
  },
  broadcast: (g, { inputs: [x] }) => [unbroadcast(g, x.shape)],
  reduceSum: (g, { inputs: [x] }) => [broadcast(g, x.shape)],
  reduceMean: (g, { inputs: [x], shape }) => {
    const count = x.shape.reduce((product, dimension, axis) => (product * dimension) / shape[axis], 1);
    return [broadcast(mul(g, scalar(1 / count)), x.shape)];
  },
  softmax: (g, y) => {
    const weighted = mul(g, y);
    return [sub(weighted, mul(y, reduceSum(weighted, [y.shape.length - 1])))];
  },
  logSumExp: (g, { inputs: [x] }) => [mul(g, softmax(x))],
  take: (g, { inputs: [table, indexes] }) => [scatterRows(g, indexes, table.shape[0]), undefined],
  scatterRows: (g, { inputs: [, indexes] }) => [take(g, indexes), undefined],
};

/** y = s op(a) op(b): each side's gradient is one product, its transposes chosen so that nothing is ever transposed apart. */
function matmulRule(g: Node, { operation, inputs: [a, b] }: Node): Node[] {
  if (operation.kind !== 'matmul') return [];
  const { transposeA, transposeB, scale } = operation;
  const byA = transposeA
    ? matmul(b, g, { transposeA: transposeB, transposeB: true, scale })
    : matmul(g, b, { transposeB: !transposeB, scale });
  const byB = transposeB
    ? matmul(g, a, { transposeA: true, transposeB: transposeA, scale })
    : matmul(a, g, { transposeA: !transposeA, scale });
  return [byA, byB];
}
