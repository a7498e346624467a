/**
 * The blocks that name a driver. A new driver is a schema here, its names in names.ts and a case in the `mod.ts` of its
 * kind (index/create-retriever.ts, src/models/{embedders,rerankers,policies}/mod.ts).
 */
import { z } from 'zod';
import { DocOptError } from '../errors.ts';
import { didYouMean } from '../text/suggest.ts';
import { type Block, NAMES, PREFIXES, RESERVED, type SpecKind } from './names.ts';

const analyzer = z.enum(['standard', 'english', 'code']);

export const lsaEmbedderSchema = z.strictObject({
  driver: z.literal('lsa'),
  dimensions: z.int().min(1).max(2000).default(200),
  seed: z.int().min(0).default(1),
  analyzer: analyzer.default('english'),
});

export const embedderSchema = z.discriminatedUnion('driver', [lsaEmbedderSchema]);

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

export const retrieverSchema = z.discriminatedUnion('driver', [bm25Schema, winkSchema, denseSchema]);

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
export const policySchema = z.discriminatedUnion('driver', [identityPolicySchema, editPolicySchema]);

export const rerankerSchema = z.discriminatedUnion('driver', [
  z.strictObject({ driver: z.literal('features') }),
  z.strictObject({ driver: z.literal('recorded') }),
  z.strictObject({
    driver: z.literal('qrels'),
    /** Deviation of the simulated score noise. */
    noise: z.number().min(0).max(10).default(0.12),
    seed: z.int().min(0).default(1),
  }),
]);

export type RetrieverSpec = z.infer<typeof retrieverSchema>;
export type EmbedderSpec = z.infer<typeof embedderSchema>;
export type PolicySpec = z.infer<typeof policySchema>;
export type RerankerSpec = z.infer<typeof rerankerSchema>;
export type { SpecKind } from './names.ts';

/** 'bm25' -> {driver: 'bm25'}, 'tei:URL' -> {driver: 'tei', url: URL}. Throws CONFIG that lists what exists and the nearest name. */
export function expandShortForm(kind: SpecKind, text: string): Block {
  if (Object.hasOwn(NAMES[kind], text)) return structuredClone(NAMES[kind][text]);
  const colon = text.indexOf(':');
  const prefix = text.slice(0, Math.max(0, colon));
  if (colon > 0 && Object.hasOwn(PREFIXES[kind], prefix)) {
    const { form, block } = PREFIXES[kind][prefix];
    const rest = text.slice(colon + 1);
    if (rest.trim() !== '') return block(rest);
    throw new DocOptError('CONFIG', `${kind} '${text}' stops after the colon`, { hint: `Expected: ${form}.` });
  }
  const names = shortForms(kind);
  const reserved = RESERVED[kind].some((name) => (name.endsWith(':') ? text.startsWith(name) : text === name));
  const why = reserved ? `is not built into this version` : 'is not known';
  throw new DocOptError('CONFIG', `${kind} '${text}' ${why}.${reserved ? '' : didYouMean(text, names)}`, {
    hint: `Available: ${names.join(', ')}${kind === 'policy' ? ', or the folder of an experiment' : ''}.`,
  });
}

/** Every short form of a kind: the names, then the prefixed forms as --help shows them ('tei:URL'). */
export function shortForms(kind: SpecKind): readonly string[] {
  return [...Object.keys(NAMES[kind]), ...Object.values(PREFIXES[kind]).map(({ form }) => form)];
}

/** The shortest honest name of a block, for tables and logs: 'bm25 k1=0.9 b=0.4 english'. */
export function describeSpec(block: Readonly<Record<string, unknown>>): string {
  const parts: string[] = [];
  for (const [key, value] of Object.entries(block)) {
    if (key === 'driver') parts.unshift(String(value));
    else if (typeof value === 'object' && value !== null && !Array.isArray(value))
      parts.push(describeSpec(value as Record<string, unknown>));
    else if (typeof value === 'string') parts.push(value);
    else if (value !== undefined) parts.push(`${key}=${value}`);
  }
  return parts.join(' ');
}
