/**
 * The graph that language models are written in: a directed acyclic graph of named operations over tensors of known
 * shape. Nodes are plain immutable values, so building a model is calling functions (ops.ts), a gradient is more nodes
 * (gradients.ts), and running is somebody else's work: onnx.ts writes a graph for ONNX Runtime, src/models/runtimes runs it.
 */
import { DocOptError } from '../errors.ts';

export type Shape = readonly number[];
export type TensorType = 'float32' | 'int32';

/** What a node computes. Operators without attributes are their name alone. */
export type Operation =
  | { readonly kind: 'input'; readonly name: string }
  | { readonly kind: 'constant'; readonly data: Float32Array | Int32Array }
  /** Elementwise with numpy's broadcasting. */
  | { readonly kind: 'add' | 'sub' | 'mul' | 'div' }
  | { readonly kind: 'neg' | 'exp' | 'log' | 'sqrt' | 'sigmoid' }
  /** scale * op(a) op(b) over the last two axes; the axes before them are equal. */
  | { readonly kind: 'matmul'; readonly transposeA: boolean; readonly transposeB: boolean; readonly scale: number }
  | { readonly kind: 'reshape' }
  /** Repeats axes of size 1, and adds leading ones, up to the node's shape. */
  | { readonly kind: 'broadcast' }
  | { readonly kind: 'transpose'; readonly permutation: readonly number[] }
  | { readonly kind: 'slice'; readonly axis: number; readonly start: number; readonly end: number }
  | { readonly kind: 'concat'; readonly axis: number }
  /** Zeros before and after along one axis: what a slice's gradient needs. */
  | { readonly kind: 'pad'; readonly axis: number; readonly before: number; readonly after: number }
  /** Reduced axes stay with size 1. */
  | { readonly kind: 'reduceSum' | 'reduceMean'; readonly axes: readonly number[] }
  /** Over the last axis; logSumExp keeps it with size 1. */
  | { readonly kind: 'softmax' | 'logSumExp' }
  /** Rows of a matrix by int32 index, and its gradient: rows added up at their index. */
  | { readonly kind: 'take' }
  | { readonly kind: 'scatterRows'; readonly rows: number };

export type OperationKind = Operation['kind'];

export interface Node {
  readonly operation: Operation;
  readonly inputs: readonly Node[];
  readonly shape: Shape;
  readonly type: TensorType;
}

/** What an executor is given: nodes to compute, by the name they come back under. */
export interface Graph {
  readonly outputs: Readonly<Record<string, Node>>;
}

export function sizeOf(shape: Shape): number {
  return shape.reduce((size, dimension) => size * dimension, 1);
}

export function sameShape(a: Shape, b: Shape): boolean {
  return a.length === b.length && a.every((dimension, axis) => dimension === b[axis]);
}

/** All nodes that the given ones depend on, each after its inputs, each once. Iterative: models are deep. */
export function topologicalOrder(roots: readonly Node[]): Node[] {
  const order: Node[] = [];
  const entered = new Set<Node>();
  const stack: { node: Node; next: number }[] = [];
  for (const root of roots) {
    if (!entered.has(root)) {
      entered.add(root);
      stack.push({ node: root, next: 0 });
    }
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      if (top.next === top.node.inputs.length) {
        order.push(top.node);
        stack.pop();
        continue;
      }
      const input = top.node.inputs[top.next++];
      if (!entered.has(input)) {
        entered.add(input);
        stack.push({ node: input, next: 0 });
      }
    }
  }
  return order;
}

/** The graph's inputs by name, in the order they are met. Throws INTERNAL when two different inputs share a name. */
export function graphInputs({ outputs }: Graph): Map<string, Node> {
  const found = new Map<string, Node>();
  for (const node of topologicalOrder(Object.values(outputs))) {
    if (node.operation.kind !== 'input') continue;
    const { name } = node.operation;
    const known = found.get(name);
    if (known !== undefined && known !== node) {
      throw new DocOptError('INTERNAL', `two different inputs of one graph are named '${name}'`);
    }
    found.set(name, node);
  }
  return found;
}

/**
 * The same outputs computed from other nodes: every node of `replacements` is exchanged for its value, everything that
 * depends on one is built anew. With inputs as replacements this cuts a graph: what lies behind them is not computed,
 * what lies between is computed again. Activation recomputation is nothing but this (block.ts).
 */
export function substitute(outputs: Readonly<Record<string, Node>>, replacements: ReadonlyMap<Node, Node>): Graph {
  const rebuilt = new Map<Node, Node>(replacements);
  for (const node of topologicalOrder(Object.values(outputs))) {
    if (rebuilt.has(node)) continue;
    const inputs = node.inputs.map((input) => rebuilt.get(input)!);
    const same = inputs.every((input, i) => input === node.inputs[i]);
    rebuilt.set(node, same ? node : { ...node, inputs });
  }
  return {
    outputs: Object.fromEntries(Object.entries(outputs).map(([name, node]) => [name, rebuilt.get(node)!])),
  };
}
