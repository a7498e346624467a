/** Blocks of policies that are chat models behind an API: OpenAI, Anthropic, and every server that speaks chat completions. */
import { z } from 'zod';

const shared = {
  model: z.string().min(1),
  /** Which prompt: for code, for prose, or by what most documents are. */
  domain: z.enum(['auto', 'code', 'prose']).default('auto'),
  /** The rewrite takes the document's place, or stands behind it as one more paragraph. */
  output: z.enum(['replace', 'append']).default('replace'),
  /** In place of the built-in prompt: what the model is to do with the document that follows. */
  instruction: z.string().min(1).max(100_000).optional(),
  /** Answers as JSON by a schema; default: where the model is known to keep one. */
  structured: z.boolean().optional(),
  /** Reasoning models: how hard they think. */
  effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional(),
  /** Tokens that thinking may take beyond those of the rewrite. Default: 2048 for models that think, else 0. */
  thinkingTokens: z.int().min(0).max(1_000_000).optional(),
  /** Requests in flight; the wire has its own limit. Default 16. */
  concurrency: z.int().min(1).max(1000).optional(),
  /** Environment variable that holds the key; default: the service's own. */
  authFrom: z.string().min(1).optional(),
};

export const openAiPolicySchema = z.strictObject({
  driver: z.literal('openai'),
  ...shared,
  url: z.string().min(1).optional(),
  api: z.enum(['responses', 'chat']).default('responses'),
});

export const anthropicPolicySchema = z.strictObject({
  driver: z.literal('anthropic'),
  ...shared,
  url: z.string().min(1).optional(),
});

export const chatServerPolicySchema = z.strictObject({
  driver: z.literal('chat'),
  ...shared,
  url: z.string().min(1),
});

export type ChatPolicySpec =
  | z.infer<typeof openAiPolicySchema>
  | z.infer<typeof anthropicPolicySchema>
  | z.infer<typeof chatServerPolicySchema>;
