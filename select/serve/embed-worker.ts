/** Thread of embed-aside.ts: fits lsa on the texts it was started with, answers the vectors, ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { toDocOptError } from '../../src/errors.ts';
import { fitLsa } from '../../src/models/embedders/mod.ts';
import { fittedOnPool } from '../pool.ts';
import type { EmbedTask } from './embed-aside.ts';

const { texts, query } = workerData as EmbedTask;
try {
  parentPort!.postMessage({ ok: await fittedOnPool((all) => fitLsa(all))(texts, query) });
} catch (thrown) {
  // Errors lose their class on the way between threads; the parts make it.
  const { code, message, hint } = toDocOptError(thrown);
  parentPort!.postMessage({ failed: { code, message, hint } });
}
