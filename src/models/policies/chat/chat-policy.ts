/**
 * A chat model behind an API as a policy. It has no weights here: what can be learned is its instruction and its lessons, and
 * those are part of its identity. One request per rewrite, all on the wire; an answer that was recorded is never asked
 * for again, whoever asks: a resumed run, a later refresh, another command.
 */
import { createHash } from 'node:crypto';
import type { ChatPolicySpec } from '../../../config/schemas/chat-policy.ts';
import type { Policy } from '../../../ports.ts';
import { costOf, type Price, priceOf, requestKey, type Wire, WireError } from '../../../run/wire/mod.ts';
import { detectDomain } from '../../../text/prose.ts';
import type { Completion, Corpus, Message, Prompt, Sampling } from '../../../types.ts';
import { noPrice } from '../../embedders/api/api-embedder.ts';
import { type Endpoint, endpointOf } from '../../endpoint.ts';
import { envOf, type ModelServices, wireOf } from '../../services.ts';
import { type RawAnswer, textOf } from './answer.ts';
import { apiOf, type Body, type ChatApi, type ChatRequest } from './apis.ts';
import { type Family, familyOf } from './families.ts';
import { fencedPrompt, type PromptDomain, systemPrompt } from './prompts.ts';
import { type ChatUsage, createUsageCounter } from './usage.ts';

/** `auto` is decided: what a checkpoint says must not depend on the corpus that it meets. */
export type SettledChatSpec = ChatPolicySpec & { readonly domain: PromptDomain };

export interface ChatPolicy extends Policy {
  readonly spec: SettledChatSpec;
  readonly lessons: readonly string[];
  /** What it is told before every document. */
  readonly system: string;
  /** Hash of everything that decides a rewrite beside document and sampling: model, address, prompt, lessons. */
  readonly fingerprint: string;
  /** What is sent for one rewrite. `marker` only where the same bytes are wanted again. */
  request(prompt: Prompt, sampling: Sampling, marker?: string): Body;
  /** The key under which the answer to the i-th sample of a prompt is on record. */
  recordKey(prompt: Prompt, sampling: Sampling, sample: number): string;
  /** An answer of the API, as a completion of this prompt. */
  completion(prompt: Prompt, answer: RawAnswer): Completion;
  /** The same policy with other lessons. */
  withLessons(lessons: readonly string[]): ChatPolicy;
  /** What the answers so far came to, recorded ones included. Shared with the policies made by `withLessons`. */
  usage(): ChatUsage;
  readonly api: ChatApi;
  readonly endpoint: () => Endpoint;
  readonly price: (wire: Wire) => Price | undefined;
  /** Most tokens that one answer may have, thinking included. */
  maxTokens(sampling: Pick<Sampling, 'maxNewTokens'>): number;
}

/** Where nobody says how long a rewrite may be. */
const MAX_NEW_TOKENS = 4096;
/** What a model that thinks may think, beyond the rewrite. */
const THINKING_TOKENS = 2048;
/** The form around the messages of a request, in tokens. */
const OVERHEAD_TOKENS = 64;

/** Decides what is `auto`. Texts are those that will be rewritten. */
export function settleChatSpec(spec: ChatPolicySpec, corpus: Corpus): SettledChatSpec {
  if (spec.domain !== 'auto') return { ...spec, domain: spec.domain };
  function* texts(): Generator<string> {
    for (let i = 0; i < Math.min(corpus.size, 1000); i++) yield corpus.indexText(i);
  }
  return { ...spec, domain: detectDomain(texts()).domain };
}

export function createChatPolicy(
  spec: SettledChatSpec,
  services: ModelServices,
  lessons: readonly string[] = [],
  counter = createUsageCounter(),
): ChatPolicy {
  const family = familyOf(spec.driver, spec.model);
  const structured = spec.structured ?? family.structured;
  const api = apiOf(spec.driver === 'anthropic' ? 'messages' : spec.driver === 'openai' ? spec.api : 'chat');
  const system = systemPrompt({ ...spec, structured, lessons });
  const thinkingTokens = spec.thinkingTokens ?? (family.thinks && spec.effort !== 'none' ? THINKING_TOKENS : 0);
  const id = `${spec.driver}(${spec.model})`;
  const { concurrency: _concurrency, authFrom: _authFrom, ...deciding } = spec;
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([deciding, family, system]))
    .digest('hex');
  const endpoint = (): Endpoint => endpointOf(spec.driver, spec, envOf(services));
  const maxTokens = ({ maxNewTokens = MAX_NEW_TOKENS }: Pick<Sampling, 'maxNewTokens'>): number =>
    maxNewTokens + thinkingTokens;

  const request = (prompt: Prompt, sampling: Sampling, marker?: string): Body =>
    api.body(
      chatRequest(prompt.messages ?? fencedPrompt(system, prompt.document.text, marker).messages, sampling, prompt),
    );

  const chatRequest = (messages: readonly Message[], sampling: Sampling, prompt: Prompt): ChatRequest => ({
    model: spec.model,
    family,
    messages,
    sampling,
    maxTokens: maxTokens(sampling),
    thinkingTokens,
    // A conversation of somebody's own has a form of its own.
    structured: structured && prompt.messages === undefined,
    effort: effortOf(family, spec.effort),
  });

  const recordKey = (prompt: Prompt, sampling: Sampling, sample: number): string =>
    requestKey(`policy:${spec.driver}`, endpoint().url, [
      api.route,
      sampling.seed,
      sample,
      request(prompt, sampling, ''),
    ]);

  const completion = (prompt: Prompt, answer: RawAnswer): Completion => {
    const said =
      answer.finish === 'stop' || answer.finish === 'length'
        ? textOf(answer.text, { structured: structured && prompt.messages === undefined })
        : '';
    const appended = spec.output === 'append' && prompt.messages === undefined && said !== '';
    return {
      prompt,
      text: appended ? `${prompt.document.text}\n\n${said}` : said,
      tokens: new Int32Array(0),
      logProbs: new Float64Array(0),
      finish: answer.finish,
    };
  };

  return {
    id,
    spec,
    lessons,
    system,
    fingerprint,
    api,
    endpoint,
    maxTokens,
    request,
    recordKey,
    completion,
    usage: counter.usage,
    price: (wire) => priceOf(spec.driver === 'chat' ? 'openai' : spec.driver, spec.model, wire.price),
    withLessons: (next) => createChatPolicy(spec, services, next, counter),

    async generate(prompts, sampling) {
      const wire = await wireOf(services);
      const asked = endpoint();
      const price = priceOf(spec.driver === 'chat' ? 'openai' : spec.driver, spec.model, wire.price);
      if (price === undefined && wire.capped) throw noPrice(spec.driver, spec.model);
      const completions: Completion[][] = prompts.map(() => []);
      const tasks = prompts.flatMap((prompt, p) =>
        Array.from({ length: sampling.samples }, (_, sample) => async () => {
          completions[p][sample] = await ask(prompt, sample);
        }),
      );
      await inTurns(tasks, spec.concurrency ?? 16);
      return completions;

      async function ask(prompt: Prompt, sample: number): Promise<Completion> {
        const body = request(prompt, sampling);
        const record = recordKey(prompt, sampling, sample);
        const recorded = wire.cache.get(record) !== undefined;
        const bytes = Buffer.byteLength(JSON.stringify(body));
        let answer: RawAnswer | undefined;
        try {
          await wire.through(
            {
              service: spec.driver,
              repeat: 'always',
              record,
              signal: services.signal,
              tokens: Math.ceil(bytes / 4),
              cost: price && {
                what: spec.model,
                upTo: mostOf(price, body, maxTokens(sampling)),
                actual: ({ bytes: said }) => chargeBy(api, price, said),
              },
              check(said) {
                answer = api.read(said);
              },
            },
            (fetch) => api.call(fetch, asked, body),
          );
        } catch (error) {
          const finish = counter.succeeded() ? fateOf(error) : undefined;
          if (finish === undefined) throw error;
          answer = { text: '', finish, usage: { input: 0, cached: 0, cacheWritten: 0, output: 0, thinking: 0 } };
        }
        const made = completion(prompt, answer!);
        counter.add(answer!, made.text, recorded);
        return made;
      }
    },
  };
}

function chargeBy(api: ChatApi, price: Price, bytes: Uint8Array): number | undefined {
  try {
    return chargeOf(price, api.read(JSON.parse(Buffer.from(bytes).toString('utf8'))));
  } catch {
    return undefined;
  }
}

/** US dollars that a request cannot exceed. One token is one byte at least; writing a prompt cache costs a quarter more. */
export function mostOf(price: Price, body: Body, maxTokens: number): number {
  const bytes = Buffer.byteLength(JSON.stringify(body));
  return costOf(price, { input: 1.25 * (bytes + OVERHEAD_TOKENS), output: maxTokens });
}

/** What an answer cost by the usage that it states; undefined when it states none. */
export function chargeOf(price: Price, { usage }: RawAnswer): number | undefined {
  if (usage.input === 0 && usage.output === 0) return undefined;
  const written = (0.25 * usage.cacheWritten * price.input) / 1e6;
  return costOf(price, usage) + written;
}

/**
 * Refusals that are about one document: too long for the model, or stopped by a filter. Only after something has succeeded,
 * for a wrong setting is refused in the same words and would be refused every time.
 */
function fateOf(error: unknown): Completion['finish'] | undefined {
  if (!(error instanceof WireError) || error.fault !== 'refused') return undefined;
  if (error.status !== 400 && error.status !== 413 && error.status !== 422) return undefined;
  return /content.?(filter|policy|management)|safety|usage policies|invalid.?prompt/i.test(error.said)
    ? 'filtered'
    : 'error';
}

function effortOf(family: Family, effort: string | undefined): string | undefined {
  return family.thinking === 'effort' ? effort : undefined;
}

/** Runs the tasks, so many at once. After a failure no further one begins; those in flight are waited for: they are paid. */
async function inTurns(tasks: readonly (() => Promise<void>)[], width: number): Promise<void> {
  let next = 0;
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    while (failures.length === 0 && next < tasks.length) {
      await tasks[next++]().catch((error: unknown) => void failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, tasks.length) }, worker));
  if (failures.length > 0) throw failures[0];
}
