/** Every operation: its value in both executors against the definition, its gradient against finite differences. */
import { describe, expect, it } from 'vitest';
import { createRng } from '../../../src/kernels/rng.ts';
import { gradients } from '../../../src/nn/gradients.ts';
import { type Graph, type Node, type OperationKind, sizeOf } from '../../../src/nn/graph.ts';
import * as ops from '../../../src/nn/ops.ts';
import { interpret } from '../../support/graph-interpreter.ts';
import { largestDifference, onnxRuntime, runOnce, tfjsRuntime } from '../../support/graph-runtimes.ts';

const input = (name: string, ...shape: number[]): Node => ops.input(name, shape);
const rows = ops.input('rows', [4], 'int32');
const ROWS = Int32Array.of(2, 0, 2, 1);

const CASES: Record<OperationKind, Record<string, () => Node>> = {
  input: { 'handed on': () => input('a', 2, 3) },
  constant: { 'a small one': () => ops.mul(input('a', 2), ops.constant(Float32Array.of(3, -2), [2])) },
  add: { broadcasts: () => ops.add(input('a', 2, 1, 3), input('b', 4, 1)) },
  sub: { broadcasts: () => ops.sub(input('a', 3), input('b', 2, 3)) },
  mul: {
    broadcasts: () => ops.mul(input('a', 2, 3), input('b', 1, 3)),
    'by itself': () => ops.mul(input('a', 3), input('a', 3)),
  },
  div: { broadcasts: () => ops.div(input('a', 2, 3), input('positive', 2, 1)) },
  neg: { plain: () => ops.neg(input('a', 5)) },
  exp: { plain: () => ops.exp(input('a', 5)) },
  log: { plain: () => ops.log(input('positive', 5)) },
  sqrt: { plain: () => ops.sqrt(input('positive', 5)) },
  sigmoid: { plain: () => ops.sigmoid(input('a', 5)), silu: () => ops.silu(input('a', 5)) },
  matmul: Object.fromEntries(
    [false, true].flatMap((transposeA) =>
      [false, true].flatMap((transposeB) =>
        [[], [2, 3]].map((batch) => [
          `${batch.length + 2} axes${transposeA ? ', a transposed' : ''}${transposeB ? ', b transposed' : ''}`,
          () =>
            ops.matmul(
              ops.input('a', [...batch, ...(transposeA ? [5, 2] : [2, 5])]),
              ops.input('b', [...batch, ...(transposeB ? [4, 5] : [5, 4])]),
              { transposeA, transposeB, scale: 0.7 },
            ),
        ]),
      ),
    ),
  ),
  reshape: { plain: () => ops.reshape(input('a', 2, 6), [3, 2, 2]) },
  broadcast: { 'an axis of one, and a leading axis': () => ops.broadcast(input('a', 3, 1), [2, 3, 4]) },
  transpose: { 'three axes': () => ops.transpose(input('a', 2, 3, 4), [2, 0, 1]) },
  slice: { 'middle axis': () => ops.slice(input('a', 2, 5, 3), 1, 1, 4) },
  concat: { 'middle axis': () => ops.concat([input('a', 2, 2, 3), input('b', 2, 1, 3), input('a', 2, 2, 3)], 1) },
  pad: { 'both sides': () => ops.pad(input('a', 2, 3), 1, 2, 1) },
  reduceSum: { 'two axes': () => ops.reduceSum(input('a', 2, 3, 4), [0, 2]) },
  reduceMean: { 'last axis': () => ops.reduceMean(input('a', 3, 4), [1]) },
  softmax: { 'last axis': () => ops.softmax(input('a', 2, 3, 5)) },
  logSumExp: { 'last axis': () => ops.logSumExp(input('a', 3, 5)) },
  take: { 'repeated rows': () => ops.take(input('a', 3, 5), rows) },
  scatterRows: { 'repeated rows': () => ops.scatterRows(input('a', 4, 2), rows, 3) },
};

function drawn(node: Node, seed: number): Record<string, Float32Array | Int32Array> {
  const rng = createRng(seed);
  const values: Record<string, Float32Array | Int32Array> = {};
  const visit = (at: Node): void => {
    at.inputs.forEach(visit);
    if (at.operation.kind !== 'input') return;
    const { name } = at.operation;
    values[name] ??=
      name === 'rows'
        ? ROWS
        : Float32Array.from({ length: sizeOf(at.shape) }, () =>
            name === 'positive' ? 0.5 + rng.next() : rng.normal(),
          );
  };
  visit(node);
  return values;
}

/** The inputs of a node by name; equal inputs are one node, as in a model. */
function shared(node: Node, known = new Map<string, Node>()): Node {
  if (node.operation.kind === 'input') {
    const { name } = node.operation;
    if (!known.has(name)) known.set(name, node);
    return known.get(name)!;
  }
  return { ...node, inputs: node.inputs.map((at) => shared(at, known)) };
}

describe.each(Object.entries(CASES))('%s', (_, cases) => {
  it.each(Object.entries(cases))('%s', async (_, make) => {
    const node = shared(make());
    const values = drawn(node, 7);
    const names = Object.keys(values).filter((name) => name !== 'rows');
    const inputs = names.map((name) => {
      const found = new Map<string, Node>();
      shared(node, found);
      return found.get(name)!;
    });
    const seedValues = Float32Array.from({ length: sizeOf(node.shape) }, (_, i) => Math.cos(3 * i + 1));
    const byInput = gradients([node], [ops.input('seed', node.shape)], inputs);
    const graph: Graph = {
      outputs: { value: node, ...Object.fromEntries(names.map((name, i) => [`d ${name}`, byInput[i]])) },
    };
    const fed = { ...values, seed: seedValues };
    const exact = interpret(graph, fed);

    for (const runtime of [onnxRuntime, tfjsRuntime]) {
      const got = await runOnce(runtime, graph, fed);
      for (const [name, value] of Object.entries(got)) {
        expect(largestDifference(value, exact[name]), `${runtime.id} ${name}`).toBeLessThan(2e-6);
      }
    }

    for (const name of names) {
      const numeric = Float64Array.from(values[name], (_, i) => {
        const moved = (by: number): number => {
          const changed = Float64Array.from(values[name]);
          changed[i] += by;
          const { value } = interpret({ outputs: { value: node } }, { ...values, [name]: changed });
          return value.reduce((sum, x, j) => sum + x * seedValues[j], 0);
        };
        return (moved(1e-5) - moved(-1e-5)) / 2e-5;
      });
      expect(largestDifference(exact[`d ${name}`], numeric), `d ${name}`).toBeLessThan(1e-7);
    }
  });
});

describe('shapes', () => {
  it.each([
    ['broadcast', () => ops.add(input('a', 2, 3), input('b', 2, 2))],
    ['matmul', () => ops.matmul(input('a', 2, 3), input('b', 2, 3))],
    ['matmul of different batches', () => ops.matmul(input('a', 2, 3, 3), input('b', 1, 3, 3))],
    ['reshape', () => ops.reshape(input('a', 2, 3), [4])],
    ['slice', () => ops.slice(input('a', 2, 3), 1, 2, 5)],
    ['concat', () => ops.concat([input('a', 2, 3), input('b', 3, 3)], 1)],
    ['take by floats', () => ops.take(input('a', 2, 3), input('b', 2))],
    ['constant', () => ops.constant(new Float32Array(3), [4])],
    ['transpose', () => ops.transpose(input('a', 2, 3), [0, 0])],
  ])('%s refuses what does not fit', (_, make) => {
    expect(make).toThrow(/shapes \[/);
  });
});
