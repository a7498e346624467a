/** What runs the graphs of src/nn. Two executors of one graph: ONNX Runtime for work, tfjs to hold it against. */
import type { Graph } from '../../nn/graph.ts';

export type TensorData = Float32Array | Int32Array;
/** Tensors by name; their shapes are the graph's. */
export type Tensors = Readonly<Record<string, TensorData>>;

export interface GraphRuntime {
  readonly id: string;
  compile(graph: Graph): Promise<Executable>;
  /** Opens an ONNX file; absent where files cannot be run. */
  open?(file: Uint8Array): Promise<OnnxSession>;
}

export interface Executable {
  /**
   * Computes every output. `into` gives arrays that results are written to (and returned as); the others are new. Inputs
   * are read in place, never copied or changed.
   */
  run(inputs: Tensors, into?: Tensors): Promise<Tensors>;
  /** Frees what the executor holds; the executable is not used afterwards. */
  release(): Promise<void>;
}

/** A tensor that is used again is the same object again: it is converted once. */
export interface OnnxTensor {
  readonly data: TensorData;
  readonly shape: readonly number[];
}

export interface OnnxSession {
  /** Inputs are read in place, outputs written in place; the same tensor may be both where an operator allows it. */
  run(inputs: Readonly<Record<string, OnnxTensor>>, outputs: Readonly<Record<string, OnnxTensor>>): Promise<void>;
  release(): Promise<void>;
}
