/**
 * ONNX models on `onnxruntime-node`, an optional package. Its `run` blocks the thread that calls it for as long as the
 * model computes, so every session lives in a thread of its own and the event loop stays free.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { DocOptError, type ErrorCode } from '../../errors.ts';
import { type OnnxHost, type OnnxSettings, type OnnxTensors, openOnnxHost } from './onnx-host.ts';

export type { OnnxHost, OnnxSettings, OnnxTensor, OnnxTensors, OnnxValueInfo } from './onnx-host.ts';

export type OnnxRequest =
  | { readonly id: number; readonly kind: 'run'; readonly feeds: OnnxTensors; readonly outputs: readonly string[] }
  | { readonly id: number; readonly kind: 'close' };

export type OnnxReply = {
  readonly id: number;
  readonly ok?: unknown;
  readonly failed?: { readonly code: ErrorCode; readonly message: string; readonly hint: string };
};

const entry = new URL('./onnx-worker.js', import.meta.url);
/** Run from the sources there is no compiled thread to start; then the session runs in place. */
const compiled = existsSync(fileURLToPath(entry));

/** Opens a model. Calls are answered in order; after `close` there are none. Errors as openOnnxHost has them. */
export function openOnnx(settings: OnnxSettings): Promise<OnnxHost> {
  return compiled ? openInThread(settings) : openOnnxHost(settings);
}

async function openInThread(settings: OnnxSettings): Promise<OnnxHost> {
  const worker = new Worker(entry, { workerData: settings });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  let next = 0;
  let ended: DocOptError | undefined;

  /** The thread keeps the program running only while an answer is due. */
  const expect = <T>(post?: (id: number) => void): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      if (ended !== undefined) return reject(ended);
      const id = next++;
      waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      worker.ref();
      post?.(id);
    });
  const end = (error: DocOptError): void => {
    ended ??= error;
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
  };
  worker.on('message', ({ id, ok, failed }: OnnxReply) => {
    const call = waiting.get(id);
    waiting.delete(id);
    if (waiting.size === 0) worker.unref();
    if (failed === undefined) call?.resolve(ok);
    else call?.reject(new DocOptError(failed.code, failed.message, { hint: failed.hint }));
  });
  worker.on('error', (cause) => {
    end(new DocOptError('UPSTREAM', `the thread of ${settings.model} failed: ${cause.message}`, { cause }));
  });
  worker.on('exit', (status) => {
    end(new DocOptError('UPSTREAM', `the thread of ${settings.model} has ended (status ${status})`));
  });

  try {
    const { inputs, outputs } = await expect<Pick<OnnxHost, 'inputs' | 'outputs'>>();
    return {
      inputs,
      outputs,
      run: (feeds, names) =>
        expect((id) => worker.postMessage({ id, kind: 'run', feeds, outputs: names } satisfies OnnxRequest)),
      close: () => expect((id) => worker.postMessage({ id, kind: 'close' } satisfies OnnxRequest)),
    };
  } catch (error) {
    await worker.terminate();
    throw error;
  }
}
