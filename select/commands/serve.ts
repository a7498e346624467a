/** `morph serve`: the HTTP service over an index. */
import type { z } from 'zod';
import { type CommandContext, type CommandResult, defineCommand } from '../../src/config/command.ts';
import { serveSchema } from '../../src/config/schemas/mod.ts';
import { createReranker, type RerankerBlock } from '../../src/models/rerankers/mod.ts';
import { version } from '../../src/run/version.ts';
import type { Learned } from '../history.ts';
import type { PoolDocuments } from '../pool-file.ts';
import { embedAside } from '../serve/embed-aside.ts';
import { listen } from '../serve/listen.ts';
import { createService, type IndexState } from '../serve/service.ts';
import { withTokenCounts } from './count-tokens.ts';
import { findIndex, missingIndex } from './find-index.ts';
import { type OpenedIndex, openServedIndex } from './open-served-index.ts';
import { learnFrom, readHistory } from './read-history.ts';

/** How long a stop waits for requests that are being answered. */
const GRACE_MS = 10_000;
const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);

export const serveCommand = defineCommand({
  name: 'serve',
  summary: 'Serves selection and search over an index by HTTP.',
  details:
    'POST /v1/select {"query": "...", "budget": 50, "capacity": 10} and POST /v1/search {"query": "...", "k": 10} answer with\n' +
    'the original documents; GET /healthz, /readyz, /metrics, /v1/info. A request may bring its own "documents" in place of\n' +
    'the index. Prints `listening on http://HOST:PORT` once ready. With --api-key every request but the health checks\n' +
    'needs the header Authorization: Bearer KEY (or MORPH_API_KEY in the environment).',
  schema: serveSchema,
  examples: [
    ['morph serve', 'the latest index on 127.0.0.1:7700'],
    ['morph serve --index INDEX --port 0', 'a given index on any free port'],
    ['MORPH_API_KEY=... morph serve --host 0.0.0.0 -B 100 -k 50', 'for other machines, with a key and larger defaults'],
  ],
  onStop: 'answering what was asked, then stopping',
  async run(options, context): Promise<CommandResult> {
    const block: RerankerBlock = options.reranker ?? { driver: 'features' };
    const folder = await findIndex(options.index, context);
    // Recorded scores come with each request, so that reranker needs no index.
    if (folder === undefined && block.driver !== 'recorded') throw missingIndex();
    if (options.apiKey === undefined && !LOOPBACK.has(options.host)) {
      context.log.warn(`anyone who reaches ${options.host} may ask: there is no --api-key`);
    }

    const learned = await learn(options, context);
    let opened: OpenedIndex | undefined;
    let state: IndexState = folder === undefined ? { state: 'none' } : { state: 'loading' };
    const service = createService({
      version,
      log: context.log,
      index: () => state,
      rerankerFor: (documents?: PoolDocuments) =>
        createReranker(block, { embedded: opened?.embedded, scores: documents?.scores, services: context }),
      embed: embedAside,
      selector: options.selector,
      learned,
      countTokens: withTokenCounts,
      budget: options.budget,
      capacity: options.capacity,
      return: options.return,
      poolSize: options.pool,
      maxBodyBytes: options.maxBodyBytes,
      apiKey: options.apiKey,
    });

    // The socket comes first, so that a supervisor can watch /readyz while a large index is opened.
    const listening = await listen(service, options.host, options.port);
    try {
      if (folder !== undefined) {
        opened = await openServedIndex(folder, context);
        state = { state: 'ready', index: opened };
        context.log.info(
          `serving ${opened.corpus.size} documents of ${folder}: ${opened.facts.retriever}, vectors: ${opened.facts.vectors}, reranker: ${options.reranker?.driver ?? opened.facts.reranker}`,
        );
      }
      const message = `listening on ${listening.url}`;
      context.print(context.json ? JSON.stringify({ message, url: listening.url }) : message);
      await stopped(context);
    } finally {
      await listening.close(GRACE_MS);
    }
    context.log.info('stopped');
    return {};
  },
});

/** What --history teaches, once, before the first request. */
async function learn(options: z.infer<typeof serveSchema>, context: CommandContext): Promise<Learned | undefined> {
  if (options.history === undefined) return undefined;
  const learned = learnFrom(await readHistory(options.history, embedAside), options, true);
  for (const note of learned.notes) context.log.info(note);
  return learned;
}

function stopped({ signal }: CommandContext): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
