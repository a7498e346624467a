/**
 * The HTTP service as a function from Request to Response: no sockets, so tests call it as it is.
 *   POST /v1/select   budgeted selection over the index, or over the request's own documents
 *   POST /v1/search   first-stage search
 *   GET  /v1/info     what is served: the manifest chain, the reranker, the defaults
 *   GET  /healthz /readyz /metrics
 * What comes back is always the ORIGINAL document, as data: nothing in it is interpreted.
 */
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { DocOptError, toDocOptError } from '../../src/errors.ts';
import type { Log, Reranker } from '../../src/ports.ts';
import { redact } from '../../src/run/redact.ts';
import type { Corpus, Document, Pool } from '../../src/types.ts';
import type { Learned } from '../history.ts';
import { type EmbedTogether, type PoolSource, poolFromDocuments, poolFromIndex } from '../pool.ts';
import type { PoolDocuments } from '../pool-file.ts';
import { type Returned, requireReturnable, withDocuments, withParents } from '../returned.ts';
import { type SelectAnswer, select } from '../select.ts';
import { chooseSelector, createSelector, type SelectorSpec } from '../selectors/registry.ts';
import type { TokenCapacity } from '../selectors/token-capacity.ts';
import { bearerCheck } from './bearer.ts';
import { createMetrics } from './metrics.ts';
import { parseSearchRequest, parseSelectRequest, type SelectRequest } from './request.ts';

/** An index that is open for service. */
export interface ServedIndex extends PoolSource {
  readonly corpus: Corpus;
  /** The index first, then what it was made from. */
  readonly chain: readonly { readonly kind: string; readonly fingerprint: string }[];
  /** More for /v1/info: retriever, vectors, ... */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Without an index (none) the service takes requests that bring their documents. */
export type IndexState =
  | { readonly state: 'loading' }
  | { readonly state: 'none' }
  | { readonly state: 'ready'; readonly index: ServedIndex };

export interface ServiceOptions {
  readonly version: string;
  readonly log: Log;
  readonly index: () => IndexState;
  /** The reranker of one request: over its own documents, or over the index. Throws USAGE when it cannot serve it. */
  readonly rerankerFor: (documents: PoolDocuments | undefined) => Reranker;
  /** For documents that came without embeddings. */
  readonly embed: EmbedTogether;
  readonly selector?: string | SelectorSpec;
  /** From earlier queries. */
  readonly learned?: Learned;
  readonly budget: number;
  readonly capacity: number | TokenCapacity;
  /** What comes back of documents that were cut; default: the chunks. */
  readonly return?: Returned;
  /** Adds the length of every document to a pool. */
  readonly countTokens: (pool: Pool, documentAt: (position: number) => Document) => Promise<Pool>;
  /** Candidates taken from the index, N. */
  readonly poolSize: number;
  readonly maxBodyBytes: number;
  readonly apiKey?: string;
}

const ROUTES: Readonly<Record<string, 'GET' | 'POST'>> = {
  '/v1/select': 'POST',
  '/v1/search': 'POST',
  '/v1/info': 'GET',
  '/healthz': 'GET',
  '/readyz': 'GET',
  '/metrics': 'GET',
};

/** Answered without a token, so that a supervisor needs none. They tell nothing of the documents. */
const OPEN_ROUTES = new Set(['/healthz', '/readyz']);

export function createService(options: ServiceOptions): Hono {
  const app = new Hono();
  const metrics = createMetrics();
  const allowed = options.apiKey === undefined ? undefined : bearerCheck(options.apiKey);
  // An unknown default is a mistake of whoever starts the service, not of its first caller.
  if (options.selector !== undefined) createSelector(options.selector);

  app.use(async (c, next) => {
    const started = performance.now();
    metrics.requestStarted();
    await next();
    const seconds = (performance.now() - started) / 1000;
    const route = Object.hasOwn(ROUTES, c.req.path) ? c.req.path : 'other';
    metrics.requestEnded(route, c.res.status, seconds);
    options.log.debug(`${c.req.method} ${route} ${c.res.status} ${(seconds * 1000).toFixed(1)} ms`);
    c.header('X-Content-Type-Options', 'nosniff');
    c.header('Cache-Control', 'no-store');
  });

  app.use(async (c, next) => {
    if (allowed !== undefined && !OPEN_ROUTES.has(c.req.path) && !allowed(c.req.header('authorization'))) {
      c.header('WWW-Authenticate', 'Bearer');
      throw new DocOptError('UNAUTHORIZED', 'The bearer token is missing or wrong.', {
        hint: 'Send the header Authorization: Bearer KEY, with the key that the service was started with.',
      });
    }
    await next();
  });

  app.use(
    bodyLimit({
      maxSize: options.maxBodyBytes,
      onError: () => {
        throw new DocOptError('TOO_LARGE', `The request body is larger than ${options.maxBodyBytes} bytes.`, {
          hint: 'Send fewer documents, or start the service with a larger --max-body-bytes.',
        });
      },
    }),
  );

  app.get('/healthz', (c) => c.json({ ok: true }));

  app.get('/readyz', (c) => {
    const state = options.index();
    if (state.state === 'loading') {
      return c.json({ ready: false, ...notReady(state).toJSON() }, 503);
    }
    return c.json({ ready: true, chain: state.state === 'ready' ? state.index.chain : [] });
  });

  app.get('/metrics', (c) => {
    const state = options.index();
    const documents = state.state === 'ready' ? state.index.corpus.size : 0;
    c.header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
    return c.body(metrics.render({ index_documents: documents }));
  });

  app.get('/v1/info', (c) => {
    const state = options.index();
    const ready = state.state === 'ready' ? state.index : undefined;
    return c.json({
      service: 'morph',
      version: options.version,
      state: state.state,
      chain: ready?.chain ?? [],
      documents: ready?.corpus.size ?? 0,
      ...ready?.facts,
      selector: nameOf(options.selector),
      budget: options.budget,
      capacity: options.capacity,
      return: options.return ?? 'chunk',
      pool: options.poolSize,
    });
  });

  app.post('/v1/search', async (c) => {
    const { text, k } = parseSearchRequest(await c.req.text());
    const { index, corpus } = requireIndex(options.index());
    const [ranking] = await index.search([{ id: 'query', text }], k);
    const results = ranking.ids.map((id, i) => {
      const { title, text, metadata } = originalOf(corpus, id);
      return { id, rank: i + 1, score: ranking.scores[i], title, text, metadata: metadata ?? {} };
    });
    return c.json({ query: text, results });
  });

  app.post('/v1/select', async (c) => {
    const request = parseSelectRequest(await c.req.text());
    const answer = await answerSelect(request, c.req.raw.signal);
    metrics.selection(answer.calls.length, answer.failed.length);
    return c.json(answer);
  });

  const answerSelect = async (request: SelectRequest, signal: AbortSignal) => {
    const started = performance.now();
    const deadline = request.deadlineMs === undefined ? undefined : AbortSignal.timeout(request.deadlineMs);
    if (request.selector !== undefined) createSelector(request.selector);
    const capacity = request.capacity ?? options.capacity;
    // A default of the service is about its index; only who asks for it is refused.
    const how = request.return ?? (request.documents === undefined ? (options.return ?? 'chunk') : 'chunk');
    requireReturnable(how, request.documents === undefined, capacity);
    const { pool, documentAt, corpus, embeddings, warnings } = await takePool(request);
    const { selector, reason } = chooseSelector(request.selector ?? options.selector, pool, undefined, options.learned);
    const reranker = options.rerankerFor(request.documents);
    const poolMs = Math.round((performance.now() - started) * 1000) / 1000;
    const answer: SelectAnswer = await select({
      pool: typeof capacity === 'number' ? pool : await options.countTokens(pool, documentAt),
      documentAt,
      reranker,
      selector,
      budget: request.budget ?? options.budget,
      capacity,
      all: request.all,
      signal,
      deadline,
    });
    return {
      ...answer,
      selectorReason: reason,
      selected: how === 'parent' ? withParents(answer.selected, corpus!) : withDocuments(answer.selected, documentAt),
      embeddings,
      pool: pool.ids.length,
      timings: { ...answer.timings, poolMs },
      warnings: [...warnings, ...answer.warnings],
    };
  };

  const takePool = async (request: SelectRequest) => {
    if (request.documents !== undefined) {
      const own = await poolFromDocuments(request.documents, options.embed);
      return { ...own, corpus: undefined, documentAt: (position: number): Document => own.documents[position] };
    }
    const index = requireIndex(options.index());
    const { id, text } = request.query;
    if (text === undefined) {
      throw new DocOptError('USAGE', 'The request: an index is searched by text, and query.text is missing.', {
        hint: 'Send query.text, or documents with embeddings beside query.embedding.',
      });
    }
    const pool = await poolFromIndex(index, { id, text, embedding: request.queryEmbedding }, options.poolSize);
    return {
      pool,
      documentAt: (position: number): Document => originalOf(index.corpus, pool.ids[position]),
      corpus: index.corpus,
      embeddings: `${index.facts.vectors ?? 'of the index'}`,
      warnings: [],
    };
  };

  app.notFound((c) => {
    const method = Object.hasOwn(ROUTES, c.req.path) ? ROUTES[c.req.path] : undefined;
    if (method !== undefined) {
      c.header('Allow', method);
      return respond(c, new DocOptError('USAGE', `${c.req.path} takes ${method}, not ${c.req.method}.`), 405);
    }
    return respond(
      c,
      new DocOptError('NOT_FOUND', `There is no ${c.req.path.slice(0, 200)} here.`, {
        hint: `Routes: ${Object.entries(ROUTES)
          .map(([path, verb]) => `${verb} ${path}`)
          .join(', ')}.`,
      }),
    );
  });

  app.onError((thrown, c) => {
    const error = toDocOptError(thrown);
    if (error.code === 'NOT_READY') c.header('Retry-After', '2');
    if (error.code !== 'INTERNAL') return respond(c, error);
    // The caller learns that it is not their fault; what exactly broke is for the log.
    options.log.warn(redact(`${c.req.method} ${c.req.path}: ${(thrown as Error).stack ?? thrown}`));
    return respond(c, new DocOptError('INTERNAL', 'The service failed on this request.', { hint: 'See its log.' }));
  });

  return app;
}

function nameOf(selector: ServiceOptions['selector']): string {
  if (selector === undefined) return 'morph-hybrid where a pool has lexical ranks, else dense-log';
  return typeof selector === 'string' ? selector : selector.driver;
}

function respond(c: Context, error: DocOptError, status = error.httpStatus): Response {
  const { code, message, hint } = error;
  return c.json({ error: { code, message: redact(message), hint: redact(hint) } }, status as ContentfulStatusCode);
}

function notReady(state: IndexState): DocOptError {
  return state.state === 'none'
    ? new DocOptError('NOT_READY', 'No index is served.', {
        hint: 'Send documents with the request, or start with --index INDEX.',
      })
    : new DocOptError('NOT_READY', 'The index is still being opened.', {
        hint: 'Try again in a moment; /readyz tells when.',
      });
}

function requireIndex(state: IndexState): ServedIndex {
  if (state.state !== 'ready') throw notReady(state);
  return state.index;
}

function originalOf(corpus: Corpus, id: string): Document {
  const position = corpus.positionOf(id);
  if (position === undefined) throw new DocOptError('INTERNAL', `The index knows '${id}' and its corpus does not.`);
  return corpus.original(position);
}
