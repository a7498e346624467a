/** How the texts get there: OpenAI's own SDK, whose HTTP is the wire's, or plain HTTP in the service's dialect. */
import { nativeDimensions } from '../../../config/names.ts';
import { DocOptError } from '../../../errors.ts';
import type { Wire, WireAnswer, WireCost } from '../../../run/wire/mod.ts';
import type { Endpoint } from '../../endpoint.ts';
import { teiInfo } from '../../tei-info.ts';
import { DIALECTS, type EmbedAnswer, type EmbedRequest, readOpenAiShape } from './dialects.ts';
import type { ApiEmbedderOptions } from './options.ts';

export interface Transport {
  readonly model: string;
  /** Sent with every request: another width than the model's own. */
  readonly dimensions: number | undefined;
  /** The service tells queries from documents. */
  readonly roles: boolean;
  readonly limits: { readonly inputs: number; readonly tokens: number };
  send(request: EmbedRequest, facts: { readonly tokens: number; readonly cost?: EmbedCost }): Promise<EmbedAnswer>;
}

export interface EmbedCost {
  readonly what: string;
  readonly upTo: number;
  /** By the tokens that are billed. */
  byTokens(tokens: number): number;
}

export async function createTransport(options: ApiEmbedderOptions, endpoint: Endpoint, wire: Wire): Promise<Transport> {
  const { driver } = options;
  if (driver === 'tei') return teiTransport(options, endpoint, wire);
  const { model } = options;
  if (model === undefined) {
    throw new DocOptError('CONFIG', `embedder ${driver}: which model?`, { hint: `E.g. ${driver}:MODEL` });
  }
  const native = nativeDimensions(driver, model);
  const dimensions = options.dimensions === native ? undefined : options.dimensions;
  return driver === 'openai'
    ? openAiTransport(model, dimensions, endpoint, wire)
    : dialectTransport(driver, model, dimensions, endpoint, wire);
}

/** What is known of a service before it is spoken to. */
export function transportFacts(driver: ApiEmbedderOptions['driver']): Pick<Transport, 'roles' | 'limits'> {
  if (driver === 'openai') return { roles: false, limits: OPENAI_LIMITS };
  return { roles: driver !== 'tei', limits: DIALECTS[driver] };
}

/** 8,192 tokens an input, 2,048 inputs, 300,000 tokens a request. */
const OPENAI_LIMITS = { inputs: 2048, tokens: 300_000 };

async function openAiTransport(
  model: string,
  dimensions: number | undefined,
  endpoint: Endpoint,
  wire: Wire,
): Promise<Transport> {
  const { default: OpenAI } = await import('openai');
  return {
    model,
    dimensions,
    roles: false,
    limits: OPENAI_LIMITS,
    async send({ texts, encoding }, { tokens, cost }) {
      let seen: EmbedAnswer | undefined;
      const plan = {
        service: 'openai',
        repeat: 'always',
        tokens,
        cost: wireCost(cost, readOpenAiShape),
      } as const;
      await wire.through(plan, async (fetch) => {
        // The SDK's own retries, timeouts and limits stay out of it: those of the wire hold for everybody.
        const client = new OpenAI({
          apiKey: endpoint.key ?? 'none',
          baseURL: endpoint.url,
          maxRetries: 0,
          timeout: NEVER_MS,
          fetch,
          logLevel: 'off',
          ...(endpoint.key === undefined ? { defaultHeaders: { authorization: null } } : {}),
        });
        const answer = await client.embeddings.create({
          model,
          input: [...texts],
          encoding_format: encoding,
          ...(dimensions === undefined ? {} : { dimensions }),
        });
        seen = readOpenAiShape(answer);
      });
      return seen!;
    },
  };
}

/** A day: longer than any deadline of the wire. */
const NEVER_MS = 86_400_000;

function dialectTransport(
  driver: 'cohere' | 'voyage' | 'jina',
  model: string,
  dimensions: number | undefined,
  endpoint: Endpoint,
  wire: Wire,
): Transport {
  return {
    model,
    dimensions,
    roles: true,
    limits: DIALECTS[driver],
    send: sender(driver, endpoint, wire),
  };
}

/** Plain HTTP in the service's dialect. */
function sender(service: keyof typeof DIALECTS, endpoint: Endpoint, wire: Wire): Transport['send'] {
  const { url, body, read } = DIALECTS[service];
  return (request, { tokens, cost }) =>
    wire.json(
      {
        service,
        url: url(endpoint),
        headers: endpoint.headers,
        body: body(request),
        repeat: 'always',
        tokens,
        cost: wireCost(cost, read),
      },
      read,
    );
}

/** A TEI server is asked what it is: which model, and how much at once. */
async function teiTransport(options: ApiEmbedderOptions, endpoint: Endpoint, wire: Wire): Promise<Transport> {
  const { model, inputs, tokens } = await teiInfo(endpoint, wire, options.model);
  return {
    model,
    dimensions: undefined,
    roles: false,
    limits: { inputs: inputs ?? DIALECTS.tei.inputs, tokens: tokens ?? DIALECTS.tei.tokens },
    send: sender('tei', endpoint, wire),
  };
}

/** `read` finds the billed tokens in an answer. */
export function wireCost(
  cost: EmbedCost | undefined,
  read: (body: unknown) => { readonly tokens?: number },
): WireCost | undefined {
  if (cost === undefined) return undefined;
  return {
    what: cost.what,
    upTo: cost.upTo,
    actual({ bytes }: WireAnswer) {
      try {
        const { tokens } = read(JSON.parse(Buffer.from(bytes).toString('utf8')));
        return tokens === undefined ? undefined : cost.byTokens(tokens);
      } catch {
        return undefined;
      }
    },
  };
}
