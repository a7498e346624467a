/**
 * A language model as a reranker: it is asked whether the document answers the query, and the score is the probability of
 * "yes" against "no" as the first token of its answer, from the log-probabilities. In the form that Qwen3-Reranker and its
 * like were trained on; any chat model with log-probabilities will do.
 */
import { createHash } from 'node:crypto';
import type { Reranker } from '../../../ports.ts';
import { costOf, priceOf, type Wire, WireError } from '../../../run/wire/mod.ts';
import { noPrice } from '../../embedders/api/api-embedder.ts';
import { endpointOf, versioned } from '../../endpoint.ts';
import { envOf, type ModelServices, wireOf } from '../../services.ts';
import { type PairScorer, pairReranker, unusable } from './scored-pairs.ts';

export interface ChatRerankerOptions {
  readonly driver: 'chat';
  readonly url: string;
  readonly model: string;
  readonly authFrom?: string;
  /** What makes a document relevant, in a sentence. */
  readonly instruction?: string;
}

const SYSTEM =
  'Judge whether the Document meets the requirements based on the Query and the Instruct provided. ' +
  'The answer is a single word, "yes" or "no".';
const INSTRUCTION = 'Given a search query, retrieve the passages that answer it';
/** Alternatives to the first token that are looked at: the most that servers give. */
const ALTERNATIVES = 20;

export function createChatReranker(options: ChatRerankerOptions, services: ModelServices): Reranker {
  const id = `chat(${options.model})`;
  const wire = (): Promise<Wire> => wireOf(services);
  return pairReranker(id, wire, async () => openScorer(id, options, services, await wire()));
}

function openScorer(id: string, options: ChatRerankerOptions, services: ModelServices, wire: Wire): PairScorer {
  const { model, instruction = INSTRUCTION } = options;
  const endpoint = endpointOf('chat', options, envOf(services));
  const price = priceOf('openai', model, wire.price);
  if (price === undefined && wire.capped) throw noPrice('chat', model);
  return {
    identity: ['chat', endpoint.url, model, createHash('sha256').update(`${SYSTEM}\0${instruction}`).digest('hex')],
    model,
    // One pair is one request.
    inputs: 1,
    scoreSpace: 'probability',
    async score(query, [text]) {
      // The document is data; it comes last, so that nothing of the question stands behind it.
      const user = `<Instruct>: ${instruction}\n<Query>: ${query.replace(/\s+/g, ' ')}\n<Document>: ${text}`;
      const body = {
        model,
        messages: [
          { role: 'system', content: SYSTEM },
          { role: 'user', content: user },
        ],
        max_tokens: 1,
        temperature: 0,
        logprobs: true,
        top_logprobs: ALTERNATIVES,
      };
      const most = Buffer.byteLength(SYSTEM) + Buffer.byteLength(user) + 32;
      const probability = await wire.json(
        {
          service: 'chat',
          url: versioned(endpoint, 'v1', '/chat/completions'),
          headers: endpoint.headers,
          body,
          repeat: 'always',
          tokens: Math.ceil(most / 4),
          cost: price && {
            what: model,
            upTo: costOf(price, { input: most, output: 1 }),
            actual: ({ bytes }) => usageCost(bytes, price),
          },
          deadlineMs: 60_000,
        },
        (answer) => yesAgainstNo(answer, id),
      );
      return Float64Array.of(probability);
    },
  };
}

function usageCost(bytes: Uint8Array, price: Parameters<typeof costOf>[0]): number | undefined {
  try {
    const { usage } = JSON.parse(Buffer.from(bytes).toString('utf8')) as { usage?: Record<string, unknown> };
    const { prompt_tokens: input, completion_tokens: output } = usage ?? {};
    return typeof input === 'number' && typeof output === 'number' ? costOf(price, { input, output }) : undefined;
  } catch {
    return undefined;
  }
}

interface Alternative {
  readonly token?: unknown;
  readonly logprob?: unknown;
}

/** P(yes) / (P(yes) + P(no)) over the ways of writing them; NaN when neither is among the alternatives. */
function yesAgainstNo(body: unknown, id: string): number {
  const choice = (
    body as { choices?: { logprobs?: { content?: (Alternative & { top_logprobs?: Alternative[] })[] } }[] }
  )?.choices?.[0];
  if (choice === undefined) throw new WireError('malformed', `${id} answered no choice`);
  const first = choice.logprobs?.content?.[0];
  if (first === undefined) {
    throw unusable(
      id,
      'the server gives no logprobs, and the score is made of them',
      'Take a server and model that give them (vLLM, llama.cpp and OpenAI do), or a reranker with a /rerank route.',
    );
  }
  const listed = first.top_logprobs ?? [];
  const alternatives = listed.some(({ token }) => token === first.token) ? listed : [first, ...listed];
  let yes = 0;
  let no = 0;
  for (const { token, logprob } of alternatives) {
    if (typeof token !== 'string' || typeof logprob !== 'number') continue;
    const word = token.trim().toLowerCase();
    if (word === 'yes') yes += Math.exp(logprob);
    else if (word === 'no') no += Math.exp(logprob);
  }
  return yes + no > 0 ? yes / (yes + no) : Number.NaN;
}
