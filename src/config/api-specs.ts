/** Blocks of models that are services. Where a service is and its key come from the environment; a block never holds a key. */
import { z } from 'zod';

const endpoint = {
  /** Default: OPENAI_BASE_URL and its like, else the vendor's address. */
  url: z.string().min(1).optional(),
  /** Environment variable that holds the key, where it is not the service's own (OPENAI_API_KEY, COHERE_API_KEY, ...). */
  authFrom: z.string().min(1).optional(),
};

const apiEmbedder = {
  ...endpoint,
  /** Default: what the model has by itself. */
  dimensions: z.int().min(1).max(100_000).optional(),
  /** Put before every query or document. */
  queryPrompt: z.string().optional(),
  documentPrompt: z.string().optional(),
  /** skip: an empty text has no vector and is never found; placeholder: it stands for "[empty]"; error. */
  emptyTexts: z.enum(['skip', 'placeholder', 'error']).optional(),
  /** Most texts in one request; the service's own limit is the default. */
  batchSize: z.int().min(1).max(10_000).optional(),
};
const model = z.string().min(1);
const encoding = z.enum(['base64', 'float']).optional();

export const openAiEmbedderSchema = z.strictObject({
  driver: z.literal('openai'),
  model,
  ...apiEmbedder,
  encoding,
  /** Of one text, counted by cl100k_base; 8192 is the service's limit. */
  maxTokens: z.int().min(1).max(1_000_000).optional(),
  /** What becomes of longer texts: cut off, or split and their vectors averaged. */
  overlong: z.enum(['truncate', 'split']).optional(),
});
export const cohereEmbedderSchema = z.strictObject({ driver: z.literal('cohere'), model, ...apiEmbedder });
export const voyageEmbedderSchema = z.strictObject({ driver: z.literal('voyage'), model, ...apiEmbedder, encoding });
export const jinaEmbedderSchema = z.strictObject({ driver: z.literal('jina'), model, ...apiEmbedder, encoding });
/** Text Embeddings Inference serves one model, which it names itself. */
export const teiEmbedderSchema = z.strictObject({
  driver: z.literal('tei'),
  model: model.optional(),
  ...apiEmbedder,
});

const apiTokenEmbedder = {
  ...endpoint,
  /** Of one token. Default: what the model has by itself. */
  dimensions: z.int().min(1).max(10_000).optional(),
  /** Put before every query or document, as late-interaction models want their markers. */
  queryPrompt: z.string().optional(),
  documentPrompt: z.string().optional(),
  batchSize: z.int().min(1).max(10_000).optional(),
};
/** TEI's /embed_all. */
export const teiTokenEmbedderSchema = z.strictObject({
  driver: z.literal('tei'),
  model: model.optional(),
  ...apiTokenEmbedder,
});
/** Jina's /v1/multi-vector. */
export const jinaTokenEmbedderSchema = z.strictObject({ driver: z.literal('jina'), model, ...apiTokenEmbedder });

const apiReranker = {
  ...endpoint,
  /** What the service answers: probabilities, or logits, which are put through the logistic function in float64. */
  scoreSpace: z.enum(['probability', 'logit']).optional(),
  /** Most documents in one request. */
  batchSize: z.int().min(1).max(1000).optional(),
};
export const cohereRerankerSchema = z.strictObject({ driver: z.literal('cohere'), model, ...apiReranker });
export const jinaRerankerSchema = z.strictObject({ driver: z.literal('jina'), model, ...apiReranker });
export const voyageRerankerSchema = z.strictObject({ driver: z.literal('voyage'), model, ...apiReranker });
export const teiRerankerSchema = z.strictObject({
  driver: z.literal('tei'),
  model: model.optional(),
  ...apiReranker,
});
export const vllmRerankerSchema = z.strictObject({ driver: z.literal('vllm'), model, ...apiReranker });
export const infinityRerankerSchema = z.strictObject({ driver: z.literal('infinity'), model, ...apiReranker });
/** Yes or no by a chat model, from the log-probabilities of its first token. */
export const chatRerankerSchema = z.strictObject({
  driver: z.literal('chat'),
  url: z.string().min(1),
  model,
  authFrom: z.string().min(1).optional(),
  instruction: z.string().min(1).optional(),
});
