/**
 * The blocks that name a driver. A new driver is a schema here, its names in names.ts and a case in the `mod.ts` of its
 * kind (index/create-retriever.ts, src/models/{embedders,rerankers,policies}/mod.ts).
 */
import { z } from 'zod';
import { DocOptError } from '../errors.ts';
import { ANALYZERS } from '../text/analyzer.ts';
import { didYouMean } from '../text/suggest.ts';
import {
  chatRerankerSchema,
  cohereEmbedderSchema,
  cohereRerankerSchema,
  infinityRerankerSchema,
  jinaEmbedderSchema,
  jinaRerankerSchema,
  jinaTokenEmbedderSchema,
  openAiEmbedderSchema,
  teiEmbedderSchema,
  teiRerankerSchema,
  teiTokenEmbedderSchema,
  vllmRerankerSchema,
  voyageEmbedderSchema,
  voyageRerankerSchema,
} from './api-specs.ts';
import { type Block, EMBEDDING_MODELS, NAMES, PREFIXES, RESERVED, type SpecKind } from './names.ts';
import { anthropicPolicySchema, chatServerPolicySchema, openAiPolicySchema } from './schemas/chat-policy.ts';
import { selectorSchema } from './selector-specs.ts';
import { splitSettings, withSettings } from './short-form.ts';

const analyzer = z.enum(ANALYZERS);

export const lsaEmbedderSchema = z.strictObject({
  driver: z.literal('lsa'),
  dimensions: z.int().min(1).max(2000).default(200),
  seed: z.int().min(0).default(1),
  analyzer: analyzer.default('english'),
});

/** Models in a folder of the Hugging Face layout, run in process. */
const onnxFolder = {
  driver: z.literal('onnx'),
  path: z.string().min(1),
  /** One of several .onnx files, relative to the folder. */
  file: z.string().min(1).optional(),
  precision: z.enum(['fp32', 'fp16', 'int8']).optional(),
  threads: z.int().min(1).max(512).optional(),
  /** Default: 32, and 1 for dynamically quantized models, whose answers depend on the company in a batch. */
  batchSize: z.int().min(1).max(4096).optional(),
};

export const onnxEmbedderSchema = z.strictObject({
  ...onnxFolder,
  pooling: z.enum(['mean', 'cls', 'last']).optional(),
  queryPrompt: z.string().optional(),
  documentPrompt: z.string().optional(),
  maxTokens: z.int().min(4).max(1_000_000).optional(),
});

export const embedderSchema = z.discriminatedUnion('driver', [
  lsaEmbedderSchema,
  onnxEmbedderSchema,
  openAiEmbedderSchema,
  cohereEmbedderSchema,
  voyageEmbedderSchema,
  jinaEmbedderSchema,
  teiEmbedderSchema,
]);

export const bm25Schema = z.strictObject({
  driver: z.literal('bm25'),
  // Anserini's regression settings, which the golden numbers use.
  k1: z.number().min(0).max(1000).default(0.9),
  b: z.number().min(0).max(1).default(0.4),
  analyzer: analyzer.default('english'),
  /** recompute: a counterfactual swap moves df and average length (exact); frozen: it does not (methods 1.1). */
  statistics: z.enum(['recompute', 'frozen']).default('recompute'),
});

export const winkSchema = z.strictObject({
  driver: z.literal('wink'),
  k1: z.number().min(0).max(1000).default(0.9),
  b: z.number().min(0).max(1).default(0.4),
  analyzer: analyzer.default('english'),
});

export const denseSchema = z.strictObject({ driver: z.literal('dense'), embedder: embedderSchema });

export const onnxTokenEmbedderSchema = z.strictObject({
  ...onnxFolder,
  queryMarker: z.string().min(1).optional(),
  documentMarker: z.string().min(1).optional(),
  queryTokens: z.int().min(4).max(8192).optional(),
  documentTokens: z.int().min(4).max(8192).optional(),
  maskPunctuation: z.boolean().optional(),
  expandQuery: z.boolean().optional(),
  attendToExpansion: z.boolean().optional(),
  projection: z.string().min(1).optional(),
});

export const lateInteractionSchema = z.strictObject({
  driver: z.literal('late-interaction'),
  embedder: z.discriminatedUnion('driver', [onnxTokenEmbedderSchema, teiTokenEmbedderSchema, jinaTokenEmbedderSchema]),
});

/** A retriever of somebody else's behind the protocol of docs/retrievers.md. */
export const httpSchema = z.strictObject({
  driver: z.literal('http'),
  url: z.string().min(1),
  authFrom: z.string().min(1).optional(),
  /** An index that is there already and is only ever searched; without it, one of ours is filled with the documents. */
  index: z.string().min(1).optional(),
});

const SINGLE = [bm25Schema, winkSchema, denseSchema, lateInteractionSchema, httpSchema] as const;

export const fusionSchema = z.strictObject({
  driver: z.literal('fusion'),
  retrievers: z.array(z.discriminatedUnion('driver', SINGLE)).min(2).max(10),
  /** rrf: by ranks, 1 / (rankConstant + rank); weighted: by scores, each ranking's spread over [0, 1]. */
  method: z.enum(['rrf', 'weighted']).default('rrf'),
  /** One per retriever; default: equal. */
  weights: z.array(z.number().min(0)).optional(),
  rankConstant: z.number().min(0).max(100_000).default(60),
  /** How deep each ranking is looked at. */
  depth: z.int().min(1).max(100_000).default(1000),
});

export const retrieverSchema = z.discriminatedUnion('driver', [...SINGLE, fusionSchema]);

export const identityPolicySchema = z.strictObject({ driver: z.literal('identity') });
export const editPolicySchema = z.strictObject({
  driver: z.literal('edit'),
  operations: z
    .array(z.enum(['title', 'abbr', 'verb', 'split', 'trans', 'self', 'rep', 'morph']))
    .min(1)
    .optional(),
  /** zero: the untrained policy keeps the original; shipped: pre-trained weights; or an EXPERIMENT to start from. */
  init: z.string().optional(),
});
/** A language model in this process: docs/language-model.md. */
export const lmPolicySchema = z.strictObject({
  driver: z.literal('lm'),
  /** A Hugging Face folder, a GGUF file, or a model's name on the hub: ORG/NAME, hf:ORG/NAME@REVISION. */
  path: z.string().min(1),
  /** append: the document stays and the model's text is added; replace: the model's text stands for it. */
  output: z.enum(['append', 'replace']).default('append'),
  /** What is asked for: `auto` decides between code and prose by the document; or an instruction of one's own. */
  prompt: z.string().min(1).default('auto'),
  training: z.enum(['lora', 'full']).default('lora'),
  rank: z.int().min(1).max(1024).default(8),
  alpha: z.number().gt(0).default(16),
  maxPromptTokens: z.int().min(16).default(1024),
  /** Completions that are decoded together. */
  batchSize: z.int().min(1).max(1024).default(32),
  /** Gigabytes for what a training step keeps; larger steps are made of several passes. */
  memoryGb: z.number().gt(0).default(2.5),
  /** Of the weights that answers are drawn with; learning is always in single precision. q4: a GGUF file's own bits. */
  precision: z.enum(['fp32', 'int8', 'q4']).default('fp32'),
  recomputation: z.enum(['cheap', 'all']).default('cheap'),
  maxGradNorm: z.number().min(0).default(1),
  weightDecay: z.number().min(0).max(1).default(0.01),
  threads: z.int().min(1).max(512).optional(),
});
export const policySchema = z.discriminatedUnion('driver', [
  identityPolicySchema,
  editPolicySchema,
  lmPolicySchema,
  openAiPolicySchema,
  anthropicPolicySchema,
  chatServerPolicySchema,
]);

export const rerankerSchema = z.discriminatedUnion('driver', [
  z.strictObject({ driver: z.literal('features') }),
  z.strictObject({ driver: z.literal('recorded') }),
  z.strictObject({
    driver: z.literal('qrels'),
    /** Deviation of the simulated score noise. */
    noise: z.number().min(0).max(10).default(0.12),
    seed: z.int().min(0).default(1),
  }),
  z.strictObject({
    ...onnxFolder,
    maxTokens: z.int().min(16).max(1_000_000).optional(),
    minQueryTokens: z.int().min(1).optional(),
    maxPassage: z.enum(['first', 'best-of-windows']).optional(),
    maxWindows: z.int().min(1).max(1000).optional(),
    scoreSpace: z.enum(['logit', 'probability']).optional(),
    positiveLabel: z.union([z.literal(0), z.literal(1)]).optional(),
  }),
  cohereRerankerSchema,
  jinaRerankerSchema,
  voyageRerankerSchema,
  teiRerankerSchema,
  vllmRerankerSchema,
  infinityRerankerSchema,
  chatRerankerSchema,
]);

export type RetrieverSpec = z.infer<typeof retrieverSchema>;
export type EmbedderSpec = z.infer<typeof embedderSchema>;
export type TokenEmbedderSpec = z.infer<typeof lateInteractionSchema>['embedder'];
export type PolicySpec = z.infer<typeof policySchema>;
export type RerankerSpec = z.infer<typeof rerankerSchema>;
export type { SpecKind } from './names.ts';

export const BLOCKS: Readonly<Record<SpecKind, z.ZodType>> = {
  retriever: retrieverSchema,
  embedder: embedderSchema,
  policy: policySchema,
  reranker: rerankerSchema,
  selector: selectorSchema,
};

/**
 * 'bm25' -> {driver: 'bm25'}, 'bm25:k1=1.2' -> {driver: 'bm25', k1: 1.2}, 'tei:URL' -> {driver: 'tei', url: URL}. Throws CONFIG
 * that lists what exists and the nearest name.
 */
export function expandShortForm(kind: SpecKind, text: string): Block {
  const { name, settings } = splitSettings(text);
  return withSettings(namedBlock(kind, name), settings, BLOCKS[kind], `${kind} '${text}'`);
}

/** The block that a short form without settings stands for. */
export function namedBlock(kind: SpecKind, name: string): Block {
  if (Object.hasOwn(NAMES[kind], name)) return structuredClone(NAMES[kind][name]);
  const prefix = prefixOf(kind, name);
  if (prefix !== undefined) {
    const { form, block } = PREFIXES[kind][prefix];
    const rest = name.slice(prefix.length + 1);
    if (rest.trim() !== '') return block(rest, (one) => namedBlock(kind, one));
    throw new DocOptError('CONFIG', `${kind} '${name}' stops after the colon`, { hint: `Expected: ${form}.` });
  }
  const reserved = RESERVED[kind].some((one) => (one.endsWith(':') ? name.startsWith(one) : name === one));
  const why = reserved ? `is not built into this version` : 'is not known';
  const known = shortForms(kind);
  throw new DocOptError('CONFIG', `${kind} '${name}' ${why}.${reserved ? '' : didYouMean(name, known)}`, {
    hint: `Available: ${fewForms(kind).join(', ')}${kind === 'policy' ? ', or the folder of an experiment' : ''}.`,
  });
}

function prefixOf(kind: SpecKind, name: string): string | undefined {
  const prefix = name.slice(0, Math.max(0, name.indexOf(':')));
  return Object.hasOwn(PREFIXES[kind], prefix) ? prefix : undefined;
}

/** Whether a text is meant as a short form of this kind, with or without settings; anything else may be a path. */
export function isShortForm(kind: SpecKind, text: string): boolean {
  const { name } = splitSettings(text);
  return Object.hasOwn(NAMES[kind], name) || prefixOf(kind, name) !== undefined;
}

/** The short forms without the single models that services offer, which are many: for --help and hints. */
export function fewForms(kind: SpecKind): readonly string[] {
  const isModel = (name: string): boolean => Object.hasOwn(EMBEDDING_MODELS, name);
  const few = shortForms(kind).filter((name) => !isModel(name));
  return few.length === shortForms(kind).length
    ? few
    : [...few, 'text-embedding-3-small and other models by their names'];
}

/** Every short form of a kind: the names, then the prefixed forms as --help shows them ('tei:URL'). */
export function shortForms(kind: SpecKind): readonly string[] {
  return [...Object.keys(NAMES[kind]), ...Object.values(PREFIXES[kind]).map(({ form }) => form)];
}
