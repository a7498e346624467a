/** One schema per command; the keys are the flags (kebab-case), the configuration keys and the environment twins. */
import { z } from 'zod';
import {
  data,
  devShare,
  documentText,
  dryRun,
  force,
  network,
  option,
  out,
  path,
  policy,
  reranker,
  resume,
  retriever,
  retrievers,
  seed,
  splitSeed,
  trainShare,
} from '../options.ts';
import { datasetImportSchema } from './dataset-import.ts';
import {
  cacheClearSchema,
  cacheStatsSchema,
  experimentsCompareSchema,
  experimentsListSchema,
  experimentsRemoveSchema,
  experimentsShowSchema,
} from './experiments.ts';
import { exportSchema } from './export.ts';
import { modelExportSchema, modelShowSchema } from './model.ts';
import { reportSchema } from './report.ts';
import { reproduceSchema } from './reproduce.ts';
import { selectSchema, serveSchema } from './select.ts';
import { analyzeSchema, compareSchema, morphDoctorSchema } from './study.ts';
import { trainSchema } from './train.ts';

export {
  cacheClearSchema,
  cacheStatsSchema,
  experimentsCompareSchema,
  experimentsListSchema,
  experimentsRemoveSchema,
  experimentsShowSchema,
} from './experiments.ts';
export { EXPORT_FORMATS, exportSchema } from './export.ts';
export { modelExportSchema, modelShowSchema } from './model.ts';
export { reportSchema } from './report.ts';
export { reproduceSchema } from './reproduce.ts';
export { selectSchema, serveSchema } from './select.ts';
export { trainSchema } from './train.ts';

const count = z.int().min(1);

export const initSchema = z.strictObject({
  dir: option(path.default('.'), { help: 'folder to create the files in', value: 'DIR', positional: true }),
  template: option(z.enum(['code', 'prose', 'beir']).default('code'), {
    help: 'what kind of collection',
    value: 'code|prose|beir',
  }),
  yes: option(z.boolean().default(false), { help: 'overwrite existing files without asking', alias: 'y' }),
});

export const doctorSchema = z.strictObject({
  data: data(),
  retriever: retriever(),
  policy: policy(),
  reranker: reranker(),
  ...network(),
});

export const demoSchema = z.strictObject({
  out: out('where the artefacts go'),
  seed: seed(),
  steps: option(count.optional(), { help: 'training steps', value: 'N' }),
});

export const validateSchema = z.strictObject({
  data: option(path.optional(), { path: true, help: 'the data set', value: 'DATA', positional: true }),
  documentText: documentText(),
});

export const datasetFromCodeSchema = z.strictObject({
  dir: option(path, { path: true, help: 'folder with source code', value: 'DIR', positional: true }),
  out: option(path, { path: true, help: 'the data set to write', value: 'DATA' }),
  languages: option(z.array(z.enum(['javascript', 'typescript', 'python'])).optional(), {
    help: 'only these languages',
    value: 'LIST',
  }),
  minWords: option(count.default(3), { help: 'shortest query, in words', value: 'N' }),
  maxFileBytes: option(count.default(2_000_000), { help: 'larger files are skipped', value: 'N' }),
  force: force(),
});

export const datasetSplitSchema = z.strictObject({
  data: option(path.optional(), { path: true, help: 'the data set', value: 'DATA', positional: true }),
  train: trainShare(),
  dev: devShare(),
  seed: seed(),
  by: option(z.enum(['query', 'document']).default('query'), {
    help: 'split queries, or groups that share documents',
    value: 'query|document',
  }),
  out: option(path.optional(), { path: true, help: 'folder of the split files (default: DATA/splits)', value: 'DIR' }),
  force: force(),
});

export const indexSchema = z.strictObject({
  data: data(),
  corpus: option(path.optional(), { path: true, help: 'a rewritten corpus, or any corpus file', value: 'CORPUS' }),
  retriever: retriever(),
  out: out('the index artefact'),
  previous: option(path.optional(), {
    path: true,
    help: 'an earlier index to reuse unchanged parts of',
    value: 'INDEX',
  }),
  documentText: documentText(),
  embedder: option(z.enum(['lsa', 'none']).default('lsa'), {
    help: 'vectors for morph when the retriever has none',
    value: 'lsa|none',
  }),
  lsaDimensions: option(z.int().min(1).max(2000).default(200), { help: 'dimensions of those vectors', value: 'N' }),
  train: trainShare(),
  dev: devShare(),
  splitSeed: splitSeed(),
  seed: seed(),
  force: force(),
  dryRun: dryRun(),
  ...network(),
});

export const searchSchema = z.strictObject({
  text: option(z.string().optional(), { help: 'the query', value: '"text"', positional: true }),
  index: option(path.optional(), { path: true, help: 'the index (default: the latest)', value: 'INDEX' }),
  k: option(z.int().min(1).max(100_000).default(10), { help: 'how many results', alias: 'k', value: 'K' }),
  ...network(),
});

export const rewriteCorpusSchema = z.strictObject({
  data: data(),
  corpus: option(path.optional(), { path: true, help: 'any corpus file or folder, in place of DATA', value: 'FILE' }),
  policy: policy(),
  out: out('the rewritten corpus'),
  previous: option(path.optional(), { path: true, help: 'an earlier rewritten corpus to reuse', value: 'CORPUS' }),
  limit: option(count.optional(), { help: 'only the first N documents', value: 'N' }),
  diff: option(z.boolean().default(false), { help: 'show what changed, document by document' }),
  onEmpty: option(z.enum(['keep', 'retry', 'fail']).default('keep'), {
    help: 'when a rewrite is empty',
    value: 'keep|retry|fail',
  }),
  onOverlong: option(z.enum(['keep', 'retry', 'fail']).default('keep'), {
    help: 'when a rewrite is too long',
    value: 'keep|retry|fail',
  }),
  maxGrowth: option(z.number().gt(1).default(10), {
    help: 'too long = longer than this many times the original (and 2,000 characters)',
    value: 'X',
  }),
  onDropped: option(z.enum(['keep', 'retry', 'fail', 'allow']).default('keep'), {
    help: 'when too much of the original is gone',
    value: 'keep|retry|fail|allow',
  }),
  minKept: option(z.number().min(0).max(1).default(0.5), {
    help: 'too much gone = less than this share of its words left',
    value: 'SHARE',
  }),
  onLinks: option(z.enum(['keep', 'retry', 'fail', 'allow']).default('keep'), {
    help: 'when a rewrite has a link that the original has not',
    value: 'keep|retry|fail|allow',
  }),
  onLanguage: option(z.enum(['keep', 'retry', 'fail', 'allow']).default('keep'), {
    help: 'when a rewrite is in another language than the original',
    value: 'keep|retry|fail|allow',
  }),
  onTruncated: option(z.enum(['keep', 'retry', 'fail', 'allow']).optional(), {
    help: 'when the policy was cut off at its limit (default: for chat models retry, with twice the room; else allow)',
    value: 'keep|retry|fail|allow',
  }),
  onRefused: option(z.enum(['keep', 'retry', 'fail']).default('keep'), {
    help: 'when the policy or the filter of its service refuses',
    value: 'keep|retry|fail',
  }),
  retries: option(z.int().min(0).max(10).default(1), { help: 'how often `retry` asks again', value: 'N' }),
  batchSize: option(count.default(64), { help: 'documents per policy call', value: 'N' }),
  concurrency: option(count.default(2), { help: 'policy calls at once', value: 'N' }),
  documentText: documentText(),
  seed: seed(),
  force: force(),
  resume: resume(),
  dryRun: dryRun(),
  ...network(),
  batch: option(z.boolean().default(false), {
    help: 'through the batch API of the policy, where it has one: half the price',
  }),
  batchPoll: option(z.number().gt(0).lte(3600).default(120), {
    help: 'longest wait between two looks at a batch job',
    value: 'SECONDS',
  }),
  batchPart: option(count.optional(), {
    help: 'most requests of one batch job (default: what the vendor takes)',
    value: 'N',
  }),
});

export const runsListSchema = z.strictObject({ ...network() });

export const runsCancelSchema = z.strictObject({
  batch: option(z.string().min(1).optional(), {
    help: 'the batch job, as `docopt runs list` names it (default: all that are open)',
    value: 'BATCH',
    positional: true,
  }),
  ...network(),
});

export const evalSchema = z.strictObject({
  data: data(),
  retriever: retrievers(),
  index: option(z.array(path).optional(), {
    path: true,
    help: 'an index artefact to evaluate; repeatable',
    value: 'INDEX',
    repeat: true,
  }),
  run: option(z.array(path).optional(), {
    path: true,
    help: 'a TREC run to evaluate; repeatable',
    value: 'RUN',
    repeat: true,
  }),
  qrels: option(path.optional(), { path: true, help: 'judgements, in place of DATA', value: 'FILE' }),
  split: option(z.string().default('test'), { help: 'test, train, dev, all, or a file of query ids', value: 'SPLIT' }),
  metrics: option(z.array(z.string()).default(['nDCG@5', 'nDCG@10', 'R@100']), {
    help: 'measures in ir_measures syntax',
    value: '"M M"',
  }),
  agreement: option(z.array(z.string()).optional(), {
    help: 'also how far each system ranks like the first: overlap@10, rbo, rbo(p=0.95)',
    value: 'M,M',
  }),
  depth: option(count.default(1000), { help: 'how deep to search', value: 'K' }),
  aggregate: option(z.enum(['max', 'first']).optional(), {
    help: 'score the documents that chunks are of: by their best chunk, or their first',
    value: 'max|first',
  }),
  ties: option(z.enum(['id', 'trec']).default('id'), { help: 'order of equal scores in runs', value: 'id|trec' }),
  test: option(z.enum(['randomisation', 't', 'wilcoxon']).default('randomisation'), {
    help: 'paired significance test',
    value: 'NAME',
  }),
  resamples: option(z.int().min(100).max(10_000_000).default(10_000), {
    help: 'of the randomisation test and the bootstrap',
    value: 'N',
  }),
  level: option(z.number().gt(0).lt(1).default(0.95), { help: 'of the intervals', value: 'LEVEL' }),
  saveRuns: option(path.optional(), { path: true, help: 'write each system as a TREC run', value: 'DIR' }),
  ignoreSelf: option(z.boolean().default(false), { help: 'drop the document whose id is the query id' }),
  minRelevant: option(count.optional(), { help: 'only queries with at least N relevant documents', value: 'N' }),
  failUnder: option(z.array(z.string()).optional(), {
    help: 'exit 100 when the last system is below: nDCG@5=0.6',
    value: 'M=X',
  }),
  train: trainShare(),
  dev: devShare(),
  splitSeed: splitSeed(),
  by: option(z.enum(['query', 'document']).default('query'), {
    help: 'how missing splits are made',
    value: 'query|document',
  }),
  documentText: documentText(),
  seed: seed(),
  dryRun: dryRun(),
  ...network(),
});

/** Every command's schema by its name; the configuration file may hold any key of any of them. */
export const SCHEMAS = {
  docopt: {
    demo: demoSchema,
    init: initSchema,
    doctor: doctorSchema,
    validate: validateSchema,
    'dataset from-code': datasetFromCodeSchema,
    'dataset import': datasetImportSchema,
    'dataset split': datasetSplitSchema,
    index: indexSchema,
    search: searchSchema,
    train: trainSchema,
    'rewrite-corpus': rewriteCorpusSchema,
    'runs list': runsListSchema,
    'runs cancel': runsCancelSchema,
    eval: evalSchema,
    'model show': modelShowSchema,
    'model export': modelExportSchema,
    export: exportSchema,
    report: reportSchema,
    reproduce: reproduceSchema,
    'experiments list': experimentsListSchema,
    'experiments show': experimentsShowSchema,
    'experiments compare': experimentsCompareSchema,
    'experiments rm': experimentsRemoveSchema,
    'cache stats': cacheStatsSchema,
    'cache clear': cacheClearSchema,
  },
  morph: {
    select: selectSchema,
    serve: serveSchema,
    compare: compareSchema,
    analyze: analyzeSchema,
    doctor: morphDoctorSchema,
  },
} as const satisfies Record<'docopt' | 'morph', Record<string, z.ZodObject>>;
