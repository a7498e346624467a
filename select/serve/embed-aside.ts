/**
 * Embeds the documents of a request in a thread beside the service: fitting lsa on a few hundred texts takes about a second,
 * and nobody else's request should wait for it.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import { DocOptError, type ErrorCode } from '../../src/errors.ts';
import { fitLsa } from '../../src/models/embedders/mod.ts';
import { type EmbedTogether, fittedOnPool } from '../pool.ts';

export interface EmbedTask {
  readonly texts: readonly string[];
  readonly query: string;
}

type Answer =
  | { readonly ok: Awaited<ReturnType<EmbedTogether>> }
  | { readonly failed: { readonly code: ErrorCode; readonly message: string; readonly hint: string } };

/** Threads at once; each holds a model of its own. */
const limit = pLimit(2);
const entry = new URL('./embed-worker.js', import.meta.url);
/** Run from the sources there is no compiled thread to start; then it happens in place. */
const compiled = existsSync(fileURLToPath(entry));

export const embedAside: EmbedTogether = (texts, query) =>
  compiled ? limit(() => inThread({ texts, query })) : fittedOnPool((all) => fitLsa(all))(texts, query);

function inThread(task: EmbedTask): ReturnType<EmbedTogether> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(entry, { workerData: task });
    worker.once('message', (answer: Answer) => {
      if ('ok' in answer) resolve(answer.ok);
      else reject(new DocOptError(answer.failed.code, answer.failed.message, { hint: answer.failed.hint }));
    });
    worker.once('error', reject);
    worker.once('exit', (status) => reject(new Error(`the embedding thread ended with status ${status}`)));
  });
}
