/** Options that several commands share, so that a flag means the same everywhere. */
import { z } from 'zod';
import type { OptionMeta } from './inspect.ts';
import { selectorSchema } from './selector-specs.ts';
import { fewForms, policySchema, rerankerSchema, retrieverSchema, type SpecKind } from './specs.ts';

/** Documents an option: always the outermost call, because zod keeps metadata per instance. */
export function option<T extends z.ZodType>(schema: T, meta: OptionMeta): T {
  return schema.meta({ ...meta } as Record<string, unknown>) as T;
}

const named = (kind: SpecKind): string => fewForms(kind).join(', ');
const EXAMPLE = 'bm25:analyzer=code,k1=1.2';

export const path = z.string().min(1);
export const data = (): z.ZodOptional<z.ZodString> =>
  option(path.optional(), {
    help: 'the data set: a BEIR folder or any format that `docopt validate` accepts',
    value: 'DATA',
    path: true,
  });
export const retriever = () =>
  option(retrieverSchema.optional(), {
    help: `the retriever: ${named('retriever')}; settings behind it, ${EXAMPLE}`,
    value: 'R',
    spec: 'retriever',
  });
export const retrievers = () =>
  option(z.array(retrieverSchema).optional(), {
    help: `a retriever to evaluate, repeatable: ${named('retriever')}; settings behind it, ${EXAMPLE}`,
    value: 'R',
    spec: 'retriever',
  });
export const reranker = () =>
  option(rerankerSchema.optional(), {
    help: `the reranker: ${named('reranker')}`,
    value: 'C',
    spec: 'reranker',
  });
export const selector = (help: string) => option(selectorSchema.optional(), { help, value: 'S', spec: 'selector' });
/** A policy short form, a block, or the folder of an experiment. */
export const policy = () =>
  option(z.union([z.string(), policySchema]).optional(), {
    help: `the policy: ${named('policy')}, or an EXPERIMENT folder`,
    value: 'P',
    spec: 'policy',
  });
export const out = (what: string) =>
  option(path.optional(), { path: true, help: `${what} (default: a new folder under .docopt/)`, value: 'DIR' });
export const seed = () =>
  option(
    z
      .int()
      .min(0)
      .max(2 ** 32 - 1)
      .default(1),
    { help: 'seed of everything random', value: 'S' },
  );
export const force = () =>
  option(z.boolean().default(false), { help: 'replace what this project wrote to --out before' });
export const documentText = () =>
  option(z.enum(['title+text', 'text']).default('title+text'), {
    help: 'what is indexed and rewritten',
    value: 'title+text|text',
  });
export const trainShare = () =>
  option(z.number().gt(0).lte(1).default(0.2), { help: 'share of the queries that train', value: 'SHARE' });
export const devShare = () =>
  option(z.number().min(0).lt(1).default(0.25), {
    help: 'share of the train side that chooses the checkpoint; 0 = none',
    value: 'SHARE',
  });
export const dryRun = () => option(z.boolean().default(false), { help: 'print the estimate and stop' });
export const maxCost = () =>
  option(z.number().min(0).optional(), {
    help: 'stop before spending more than this (exit 3, resumable)',
    value: 'USD',
  });
export const resume = () => option(z.boolean().default(false), { help: 'go on where an interrupted run stopped' });
/** What a command has that may speak to services: money, hosts, limits. src/run/wire/command-wire.ts reads them. */
export const network = () => ({
  maxCost: maxCost(),
  price: option(z.array(z.number().min(0)).min(1).max(2).optional(), {
    help: 'US dollars per million tokens, for models without a listed price',
    value: 'IN,OUT',
  }),
  cost: option(z.strictObject({ projectMax: z.number().min(0).optional() }).optional(), {
    help: 'caps over all commands of the project: --set cost.projectMax=20',
    value: 'JSON',
  }),
  offline: option(z.boolean().default(false), { help: 'no connection to any service (DOCOPT_OFFLINE=1)' }),
  wire: option(
    z
      .strictObject({
        /** The only hosts that may be spoken to: api.openai.com, localhost:8080, *.example.com. */
        hosts: z.array(z.string().min(1)).optional(),
        concurrency: z.int().min(1).max(1000).optional(),
        requestsPerMinute: z.number().gt(0).optional(),
        tokensPerMinute: z.number().gt(0).optional(),
        attempts: z.int().min(1).max(100).optional(),
        timeoutSeconds: z.number().gt(0).optional(),
        deadlineSeconds: z.number().gt(0).optional(),
        /** false: no answers on record, neither read nor kept. */
        cache: z.boolean().optional(),
      })
      .optional(),
    { help: 'how services are spoken to: --set wire.concurrency=4', value: 'JSON' },
  ),
});
/** Seed of the query split, apart from the training seed: several training seeds share one split. */
export const splitSeed = () =>
  option(
    z
      .int()
      .min(0)
      .max(2 ** 32 - 1)
      .default(1),
    { help: 'seed of splits that must be made', value: 'S' },
  );
