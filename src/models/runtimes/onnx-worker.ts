/** Thread of onnxruntime.ts: opens one session and answers its calls in order, until it is told to close. */
import { parentPort, workerData } from 'node:worker_threads';
import { toDocOptError } from '../../errors.ts';
import { type OnnxHost, type OnnxSettings, openOnnxHost } from './onnx-host.ts';
import type { OnnxReply, OnnxRequest } from './onnxruntime.ts';

const port = parentPort!;
const opened = openOnnxHost(workerData as OnnxSettings);
let queue: Promise<void> = answer(0, async () => {
  const { inputs, outputs } = await opened;
  return { inputs, outputs };
});

port.on('message', (request: OnnxRequest) => {
  queue = queue.then(() =>
    answer(request.id, async () => {
      const host: OnnxHost = await opened;
      if (request.kind === 'run') return host.run(request.feeds, request.outputs);
      await host.close();
      port.close();
      return undefined;
    }),
  );
});

async function answer(id: number, work: () => Promise<unknown>): Promise<void> {
  let reply: OnnxReply;
  try {
    reply = { id, ok: await work() };
  } catch (thrown) {
    // Errors lose their class on the way between threads; the parts make it.
    const { code, message, hint } = toDocOptError(thrown);
    reply = { id, failed: { code, message, hint } };
  }
  port.postMessage(reply);
}
