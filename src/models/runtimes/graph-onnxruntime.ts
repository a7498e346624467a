/**
 * Graphs on ONNX Runtime. Weights are inputs, not part of the model, and are read where they lie: any number of graphs
 * (shapes, forward and backward, one per layer or one for all layers) share one copy of them, and an update of a weight
 * needs no new session.
 */
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { DocOptError } from '../../errors.ts';
import { type Graph, graphInputs, sizeOf } from '../../nn/graph.ts';
import { writeOnnx } from '../../nn/onnx.ts';
import type { Executable, GraphRuntime, OnnxSession, OnnxTensor, TensorData, Tensors } from './graph-runtime.ts';

export interface OnnxRuntimeOptions {
  /** Threads of one operator; default: ONNX Runtime's own choice, the physical cores. */
  readonly threads?: number;
  /** Execution providers in order of preference; default cpu. */
  readonly providers?: readonly string[];
}

/** Throws MISSING when the package onnxruntime-node is not installed. */
export async function createOnnxRuntime(options: OnnxRuntimeOptions = {}): Promise<GraphRuntime> {
  const { providers = ['cpu'], threads } = options;
  const ort = await loadOnnxRuntime();
  const sessionOptions: InferenceSession.SessionOptions = {
    executionProviders: [...providers],
    intraOpNumThreads: threads ?? 0,
    // A session runs one graph of one shape; an arena would keep its largest moment for good.
    enableCpuMemArena: false,
    logSeverityLevel: 3,
    // Threads that wait by spinning take the processor from everybody else between two runs.
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  };
  return {
    id: `onnxruntime(${providers.join(',')})`,
    async compile(graph) {
      const session = await ort.InferenceSession.create(writeOnnx(graph), sessionOptions);
      return executable(ort.Tensor, session, graph);
    },
    async open(file) {
      // A step is a few milliseconds of many small operators: waking threads for each would cost more than they do.
      const extra = { session: { intra_op: { allow_spinning: '1' }, force_spinning_stop: '1' } };
      return sessionOf(ort.Tensor, await ort.InferenceSession.create(file, { ...sessionOptions, extra }));
    },
  };
}

function executable(TensorClass: typeof Tensor, session: InferenceSession, graph: Graph): Executable {
  const inputs = [...graphInputs(graph)].map(([name, { shape, type }]) => ({ name, shape, type, size: sizeOf(shape) }));
  const wrap = (type: 'float32' | 'int32', data: TensorData, shape: readonly number[]): Tensor =>
    type === 'float32'
      ? new TensorClass(type, data as Float32Array, shape)
      : new TensorClass(type, data as Int32Array, shape);
  return {
    async run(given, into = {}) {
      const feeds: Record<string, Tensor> = {};
      for (const { name, shape, type, size } of inputs) {
        const data = given[name];
        if (data?.length !== size) {
          const got = data === undefined ? 'is missing' : `has ${data.length} values`;
          throw new DocOptError('INTERNAL', `graph input '${name}' [${shape.join(', ')}] ${got}`);
        }
        feeds[name] = wrap(type, data, shape);
      }
      const fetches: Record<string, Tensor | null> = {};
      for (const [name, { shape, type }] of Object.entries(graph.outputs)) {
        fetches[name] = name in into ? wrap(type, into[name], shape) : null;
      }
      const results = await session.run(feeds, fetches);
      const outputs: Record<string, TensorData> = {};
      for (const name of Object.keys(graph.outputs)) outputs[name] = into[name] ?? (results[name].data as TensorData);
      return outputs satisfies Tensors;
    },
    release: () => session.release(),
  };
}

function sessionOf(TensorClass: typeof Tensor, session: InferenceSession): OnnxSession {
  const converted = new WeakMap<OnnxTensor, Tensor>();
  const convert = (given: Readonly<Record<string, OnnxTensor>>): Record<string, Tensor> => {
    const tensors: Record<string, Tensor> = {};
    for (const name in given) {
      const { data, shape } = given[name];
      let tensor = converted.get(given[name]);
      if (tensor === undefined) {
        tensor =
          data instanceof Int32Array
            ? new TensorClass('int32', data, shape)
            : new TensorClass('float32', data as Float32Array, shape);
        converted.set(given[name], tensor);
      }
      tensors[name] = tensor;
    }
    return tensors;
  };
  return {
    async run(inputs, outputs) {
      await session.run(convert(inputs), convert(outputs));
    },
    release: () => session.release(),
  };
}

async function loadOnnxRuntime(): Promise<typeof import('onnxruntime-node')> {
  try {
    const module = await import('onnxruntime-node');
    return 'default' in module ? (module.default as typeof module) : module;
  } catch (error) {
    throw new DocOptError(
      'MISSING',
      'local language models run on the package onnxruntime-node, which is not installed',
      {
        hint: 'npm install onnxruntime-node (on a machine that cannot reach the host of its GPU files: ONNXRUNTIME_NODE_INSTALL=skip npm install onnxruntime-node)',
        cause: error,
      },
    );
  }
}
