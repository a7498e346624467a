/** Options of `morph select` and `morph serve`. */
import { z } from 'zod';
import { network, option, path, reranker, seed, selector } from '../options.ts';

const count = z.int().min(1);

/** Documents, or tokens and how they are filled. */
const capacity = z.union([
  z.int().min(0),
  z.strictObject({
    tokens: z.int().min(0).max(10_000_000),
    /** density = by value / sqrt(length), skip and stop = by value, skipping or ending at what does not fit. */
    fill: z.enum(['density', 'skip', 'stop']).optional(),
  }),
]);
const returned = option(z.enum(['chunk', 'parent']).default('chunk'), {
  help: 'what comes back of documents that were cut: the chunks, or whole documents',
  value: 'chunk|parent',
});
const CAPACITY_HELP = 'documents returned, k (tokens: --set capacity.tokens=4000)';
const history = option(path.optional(), {
  path: true,
  help: 'earlier queries, a pool a line, that the log-rank selectors learn from',
  value: 'FILE',
});

export const selectSchema = z.strictObject({
  text: option(z.string().optional(), { help: 'the query', value: '"text"', positional: true }),
  index: option(path.optional(), { path: true, help: 'the index (default: the latest)', value: 'INDEX' }),
  pool: option(z.union([path, z.int()]).optional(), {
    help: 'a pool file, or the pool size N over an index',
    value: 'FILE|N',
  }),
  budget: option(z.int().min(0).default(50), { help: 'reranker calls, B', alias: 'B', value: 'B' }),
  capacity: option(capacity.default(10), { help: CAPACITY_HELP, alias: 'k', value: 'K' }),
  selector: selector(
    'how the budget is spent: NAME or NAME:key=value (default: morph-hybrid, or dense-log without words)',
  ),
  reranker: reranker(),
  history,
  all: option(z.boolean().default(false), { help: 'the whole final order, not only the first k' }),
  return: returned,
  deadlineMs: option(count.optional(), { help: 'answer with what is known after this long', value: 'MS' }),
  seed: seed(),
  ...network(),
});

export const serveSchema = z.strictObject({
  index: option(path.optional(), { path: true, help: 'the index (default: the latest)', value: 'INDEX' }),
  reranker: reranker(),
  selector: selector('default selector (default: morph-hybrid, or dense-log without words)'),
  history,
  budget: option(z.int().min(0).default(50), { help: 'default B', alias: 'B', value: 'B' }),
  capacity: option(capacity.default(10), { help: `default: ${CAPACITY_HELP}`, alias: 'k', value: 'K' }),
  pool: option(count.default(1000), { help: 'pool size N', value: 'N' }),
  return: returned,
  host: option(z.string().min(1).default('127.0.0.1'), { help: 'address to listen on', value: 'HOST' }),
  port: option(z.int().min(0).max(65535).default(7700), { help: 'port; 0 picks a free one', value: 'PORT' }),
  apiKey: option(z.string().min(1).optional(), { help: 'require this bearer token', value: 'KEY' }),
  maxBodyBytes: option(count.default(4_000_000), { help: 'largest request', value: 'N' }),
  ...network(),
});
