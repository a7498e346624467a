/** Options of the studies: `morph compare`, `morph analyze`, `morph doctor`. */
import { z } from 'zod';
import {
  devShare,
  documentText,
  dryRun,
  network,
  option,
  path,
  policy,
  retrievers,
  seed,
  splitSeed,
  trainShare,
} from '../options.ts';
import { rerankerSchema } from '../specs.ts';

const count = z.int().min(1);
const counts = (least: number) => z.array(z.int().min(least).max(1_000_000)).min(1);
const paths = z.union([z.array(path), path]);

/** What is studied: collections, retrievers, rerankers, and which queries. */
const subject = {
  data: option(paths.optional(), { path: true, help: 'a judged collection; repeatable', value: 'DATA', repeat: true }),
  index: option(paths.optional(), {
    path: true,
    help: 'an index artefact in place of --data and --retriever; repeatable',
    value: 'INDEX',
    repeat: true,
  }),
  retriever: retrievers(),
  reranker: option(z.array(rerankerSchema).optional(), {
    help: 'a reranker: features, recorded, qrels, or any other; repeatable',
    value: 'C',
    spec: 'reranker',
  }),
  scores: option(path.optional(), {
    path: true,
    help: 'recorded scores as a TREC run, for --reranker recorded',
    value: 'RUN',
  }),
  split: option(z.string().default('all'), { help: 'test, train, dev, all, or a file of query ids', value: 'SPLIT' }),
  minRelevant: option(count.default(1), { help: 'only queries with at least N relevant documents', value: 'N' }),
  queries: option(count.optional(), { help: 'only N of them, drawn by --seed', value: 'N' }),
  cache: option(path.optional(), {
    path: true,
    help: 'where scores are kept (default: .docopt/scores)',
    value: 'DIR',
  }),
  batchSize: option(z.int().min(1).max(4096).default(32), { help: 'pairs per reranker call', value: 'N' }),
  train: trainShare(),
  dev: devShare(),
  splitSeed: splitSeed(),
  documentText: documentText(),
  lexical: option(
    z.strictObject({ k1: z.number().min(0).default(0.9), b: z.number().min(0).max(1).default(0.4) }).optional(),
    {
      help: 'BM25 behind lexical ranks; the paper: --set lexical.k1=1.5 --set lexical.b=0.75 (default: the first stage, else k1 0.9, b 0.4)',
      value: 'JSON',
    },
  ),
  seed: seed(),
  ...network(),
};

const budgets = (standard: number[]) =>
  option(counts(0).default(standard), { help: 'reranker calls, B', value: 'B,B' });
const capacities = (standard: number[]) =>
  option(counts(1).default(standard), { help: 'documents that reach the generator, k', value: 'K,K' });
const pool = option(count.default(1000), { help: 'candidates per query, N', value: 'N' });
const selectors = option(z.array(z.string().min(1)).min(1).optional(), {
  help: 'selectors, with options as name:option=value (default: all)',
  value: 'S,S',
});
const sweep = option(z.boolean().default(true), {
  help: 'try the settings of the swept baselines and keep the best, as the paper does',
});

const out = option(path.optional(), { path: true, help: 'also write report.json and report.md there', value: 'DIR' });

/** The agentic loop (BoundaryMORPH C.2), where a chat policy is named. */
const agentic = {
  policy: policy(),
  agenticDepths: option(counts(1).default([5, 10, 20, 50, 100]), { help: 'documents per hop', value: 'N,N' }),
  agenticHops: option(counts(1).default([1, 2, 3, 4, 6, 8]), { help: 'hops', value: 'N,N' }),
};

export const compareSchema = z.strictObject({
  ...subject,
  selectors,
  budgets: budgets([25, 50]),
  capacities: capacities([50, 100]),
  pool,
  sweep,
  focus: option(z.string().optional(), {
    help: 'the selector all others are tested against (default: the first)',
    value: 'S',
  }),
  ...agentic,
  out,
  dryRun: dryRun(),
});

export const FIGURES = [
  'coverage',
  'capacity',
  'allocation',
  'multimodality',
  'latency',
  'frontier',
  'kernels',
  'robustness',
  'audit',
] as const;

export const analyzeSchema = z.strictObject({
  ...subject,
  figures: option(z.array(z.enum(FIGURES)).min(1).optional(), {
    help: 'which figures (default: all that need no chat policy)',
    value: 'NAME,NAME',
  }),
  selectors,
  budgets: budgets([25, 50]),
  capacities: capacities([50, 100]),
  pool,
  sweep,
  ...agentic,
  out,
  dryRun: dryRun(),
});

export const morphDoctorSchema = z.strictObject({
  ...subject,
  queries: option(count.default(50), { help: 'at most N queries, drawn by --seed', value: 'N' }),
  pool: option(count.default(100), { help: 'candidates per query that are judged', value: 'N' }),
});
