/**
 * Graphs on TensorFlow.js, node by node: the slow oracle of the tests (cpu backend), and a second way to run where a user
 * has installed another backend. Nothing is fused or reordered here, so what it computes is what the graph says.
 */
import type * as Tf from '@tensorflow/tfjs-core';
import { DocOptError } from '../../errors.ts';
import { type Graph, graphInputs, type Node, topologicalOrder } from '../../nn/graph.ts';
import type { Executable, GraphRuntime, TensorData, Tensors } from './graph-runtime.ts';

/** `tf` is the caller's TensorFlow.js with a backend registered: tfjs-core with tfjs-backend-cpu, or tfjs-node. */
export function createTfjsRuntime(tf: typeof Tf): GraphRuntime {
  return {
    id: `tfjs(${tf.getBackend()})`,
    async compile(graph) {
      return executable(tf, graph);
    },
  };
}

function executable(tf: typeof Tf, graph: Graph): Executable {
  const order = topologicalOrder(Object.values(graph.outputs));
  const inputs = graphInputs(graph);
  return {
    async run(given, into = {}) {
      for (const name of inputs.keys()) {
        if (given[name] === undefined) throw new DocOptError('INTERNAL', `graph input '${name}' is missing`);
      }
      const outputs: Record<string, TensorData> = {};
      tf.tidy(() => {
        const values = new Map<Node, Tf.Tensor>();
        for (const node of order)
          values.set(
            node,
            evaluate(tf, node, (input) => values.get(input)!, given),
          );
        for (const [name, node] of Object.entries(graph.outputs)) {
          const data = values.get(node)!.dataSync() as TensorData;
          if (name in into) into[name].set(data);
          outputs[name] = into[name] ?? data.slice();
        }
      });
      return outputs;
    },
    async release() {},
  };
}

function evaluate(tf: typeof Tf, node: Node, at: (node: Node) => Tf.Tensor, given: Tensors): Tf.Tensor {
  const { operation, inputs, type } = node;
  const shape = [...node.shape];
  const [a, b] = inputs.map(at);
  const lastAxis = shape.length - 1;
  switch (operation.kind) {
    case 'input':
      return tf.tensor(given[operation.name], shape, type);
    case 'constant':
      return tf.tensor(operation.data, shape, type);
    case 'add':
    case 'sub':
    case 'mul':
    case 'div':
      return tf[operation.kind](a, b);
    case 'neg':
    case 'exp':
    case 'log':
    case 'sqrt':
    case 'sigmoid':
      return tf[operation.kind](a);
    case 'matmul':
      return tf.mul(tf.matMul(a, b, operation.transposeA, operation.transposeB), operation.scale);
    case 'reshape':
      return tf.reshape(a, shape);
    case 'broadcast':
      return tf.broadcastTo(a, shape);
    case 'transpose':
      return tf.transpose(a, [...operation.permutation]);
    case 'slice': {
      const begin = shape.map((_, axis) => (axis === operation.axis ? operation.start : 0));
      return tf.slice(a, begin, shape);
    }
    case 'concat':
      return tf.concat(inputs.map(at), operation.axis);
    case 'pad':
      return tf.pad(
        a,
        shape.map((_, axis) => (axis === operation.axis ? [operation.before, operation.after] : [0, 0])),
      );
    case 'reduceSum':
      return tf.sum(a, [...operation.axes], true);
    case 'reduceMean':
      return tf.mean(a, [...operation.axes], true);
    case 'softmax':
      return tf.softmax(a, lastAxis);
    case 'logSumExp':
      return tf.logSumExp(a, lastAxis, true);
    case 'take':
      return tf.gather(a, b as Tf.Tensor1D, 0);
    case 'scatterRows':
      return tf.unsortedSegmentSum(a, b as Tf.Tensor1D, operation.rows);
    default:
      return operation satisfies never;
  }
}
