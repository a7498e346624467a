/** ONNX Runtime itself: one session, opened and run in whatever thread this is called from. `run` blocks that thread. */
import { DocOptError } from '../../errors.ts';
import { halvesToFloats } from '../../kernels/float16.ts';

/** What goes into a graph and comes out of it. Half precision comes out as float32. */
export interface OnnxTensor {
  readonly type: 'int64' | 'int32' | 'float32' | 'bool';
  readonly data: BigInt64Array | Int32Array | Float32Array | Uint8Array;
  readonly dims: readonly number[];
}

export type OnnxTensors = Readonly<Record<string, OnnxTensor>>;

/** What a graph says of one of its inputs or outputs; a dimension that is free has a name instead of a number. */
export interface OnnxValueInfo {
  readonly name: string;
  readonly type: string;
  readonly shape: readonly (number | string)[];
}

export interface OnnxSettings {
  /** Path of the .onnx file; external data is found beside it. */
  readonly model: string;
  /** Threads of one operator. Default: what ONNX Runtime takes, one per core. */
  readonly threads?: number;
}

export interface OnnxHost {
  readonly inputs: readonly OnnxValueInfo[];
  readonly outputs: readonly OnnxValueInfo[];
  run(feeds: OnnxTensors, outputs: readonly string[]): Promise<OnnxTensors>;
  close(): Promise<void>;
}

/** MISSING when onnxruntime-node is not installed, DATA when the file is no model that it can run. */
export async function openOnnxHost({ model, threads }: OnnxSettings): Promise<OnnxHost> {
  const ort = await loadRuntime();
  const session = await ort.InferenceSession.create(model, {
    executionProviders: ['cpu'],
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
    ...(threads === undefined ? {} : { intraOpNumThreads: threads }),
  }).catch((cause: unknown) => {
    throw new DocOptError('DATA', `${model} is no model that ONNX Runtime can open: ${firstLine(cause)}`, {
      hint: 'Is the file whole (no Git LFS pointer), and is its external data beside it?',
      cause,
    });
  });
  return {
    inputs: session.inputMetadata.map(valueInfo),
    outputs: session.outputMetadata.map(valueInfo),
    close: () => session.release(),
    async run(feeds, outputs) {
      const entries = Object.entries(feeds).map(([name, { type, data, dims }]) => [
        name,
        new ort.Tensor(type as 'float32', data as Float32Array, dims),
      ]);
      let results: Awaited<ReturnType<typeof session.run>>;
      try {
        results = await session.run(Object.fromEntries(entries), [...outputs]);
      } catch (cause) {
        throw new DocOptError('UPSTREAM', `${model} failed while running: ${firstLine(cause)}`, { cause });
      }
      return Object.fromEntries(outputs.map((name) => [name, toPlain(name, results[name])]));
    },
  };
}

async function loadRuntime(): Promise<typeof import('onnxruntime-node')> {
  try {
    return await import('onnxruntime-node');
  } catch (cause) {
    const { code } = cause as { code?: string };
    const absent = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
    throw new DocOptError(
      'MISSING',
      absent
        ? 'local models run on the package onnxruntime-node, which is not installed.'
        : `the package onnxruntime-node does not load here: ${firstLine(cause)}`,
      { hint: 'npm install onnxruntime-node', cause },
    );
  }
}

interface Metadata {
  readonly name: string;
  readonly isTensor: boolean;
  readonly type?: string;
  readonly shape?: readonly (number | string)[];
}

function valueInfo(metadata: unknown): OnnxValueInfo {
  const { name, type = 'no tensor', shape = [] } = metadata as Metadata;
  return { name, type, shape };
}

interface ResultTensor {
  readonly type: string;
  readonly data: unknown;
  readonly dims: readonly number[];
}

function toPlain(name: string, tensor: unknown): OnnxTensor {
  const { type, data, dims } = tensor as ResultTensor;
  if (type === 'float16') {
    const { buffer, byteOffset, length } = data as Uint16Array;
    return { type: 'float32', data: halvesToFloats(new Uint16Array(buffer, byteOffset, length)), dims };
  }
  if (type === 'float32' || type === 'int64' || type === 'int32' || type === 'bool') {
    return { type, data: data as Float32Array, dims };
  }
  throw new DocOptError('UPSTREAM', `the model's output '${name}' is of type ${type}, which is not read here`);
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0];
}
