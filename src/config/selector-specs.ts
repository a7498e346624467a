/** Blocks of selectors: what `--selector NAME:key=value` and `--set selector.key=value` may say. */
import { z } from 'zod';

const seed = z.int().min(0).optional();
const batch = z.int().min(1).optional();
/** Ends early once the smallest standardised gap across the border is larger than this. */
const stopAt = z.number().min(0).optional();
const prior = z.enum(['percentile', 'fusion']).optional();
const kernel = z.enum(['vmf', 'rbf', 'matern52']).optional();
const acquisition = z.enum(['boundary', 'entropy', 'kg-own']).optional();
const beta0 = z.number().min(0).max(1000).optional();
const boundary = { gap: z.enum(['standardised', 'additive']).optional(), pairCovariance: z.boolean().optional() };
const process = { kernel, seed, batch, stopAt, prior };
const logRank = {
  acquisition,
  ...boundary,
  seed,
  batch,
  stopAt,
  /** Observation noise as a multiple of s^2; auto fits it on labelled queries of --history. */
  noise: z.union([z.literal('auto'), z.number().gt(0).max(1e6)]).optional(),
  scoredBy: z.enum(['score', 'posterior']).optional(),
};

export const selectorSchema = z.discriminatedUnion('driver', [
  z.strictObject({
    driver: z.literal('morph-hybrid'),
    ...logRank,
    /** Prior weights of BM25, dense and fused ranks. */
    weights: z.array(z.number()).length(3).optional(),
  }),
  z.strictObject({ driver: z.literal('dense-log'), ...logRank }),
  z.strictObject({
    driver: z.literal('boundary-morph'),
    acquisition,
    ...boundary,
    ...process,
    queryResidual: z.union([z.literal(0), z.literal(1)]).optional(),
  }),
  z.strictObject({ driver: z.literal('single-stage'), prior }),
  z.strictObject({ driver: z.literal('bm25-rerank') }),
  z.strictObject({ driver: z.literal('bagel'), beta0, ...process }),
  z.strictObject({
    driver: z.literal('rgs'),
    degree: z.int().min(1).max(1000).optional(),
    seedDiv: z.number().min(1).optional(),
    frac: z.number().min(0).optional(),
    listSize: z.int().min(1).max(10_000).optional(),
    alpha: z.number().min(1).optional(),
    seed,
    prior,
  }),
  z.strictObject({ driver: z.literal('gar'), neighbours: z.int().min(1).max(1000).optional(), batch, prior }),
  z.strictObject({
    driver: z.literal('acurank'),
    deviation: z.number().gt(0).optional(),
    batch,
    tolerance: z.number().min(0).lt(0.5).optional(),
    prior,
  }),
  z.strictObject({ driver: z.literal('morph-ucb'), beta0, ...process }),
  z.strictObject({ driver: z.literal('morph-zero-prior'), ...boundary, ...process }),
]);

export type SelectorBlock = z.infer<typeof selectorSchema>;

/** In the order of help and tables: the defaults first. */
export const SELECTOR_NAMES: readonly SelectorBlock['driver'][] = selectorSchema.options.map(
  ({ shape }) => shape.driver.value,
);
