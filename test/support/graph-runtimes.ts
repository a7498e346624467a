/** Both executors, made once per test file. */
import '@tensorflow/tfjs-backend-cpu';
import * as tf from '@tensorflow/tfjs-core';
import { createOnnxRuntime } from '../../src/models/runtimes/graph-onnxruntime.ts';
import type { GraphRuntime, Tensors } from '../../src/models/runtimes/graph-runtime.ts';
import { createTfjsRuntime } from '../../src/models/runtimes/graph-tfjs.ts';
import type { Graph } from '../../src/nn/graph.ts';

await tf.setBackend('cpu');
export const tfjsRuntime: GraphRuntime = createTfjsRuntime(tf);
export const onnxRuntime: GraphRuntime = await createOnnxRuntime({ threads: 1 });

/** One run, nothing kept. */
export async function runOnce(runtime: GraphRuntime, graph: Graph, inputs: Tensors): Promise<Tensors> {
  const executable = await runtime.compile(graph);
  try {
    return await executable.run(inputs);
  } finally {
    await executable.release();
  }
}

/** Largest absolute difference of two arrays of one length. */
export function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) throw new Error(`${a.length} values against ${b.length}`);
  let largest = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs(a[i] - b[i]);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}
