/**
 * An embedder that is a service. Top to bottom: prepare the texts, look up what was paid for already, pack the rest into
 * requests, check every vector, record it, put the rows together. A text has one vector for ever (on record), so a document
 * that did not change keeps its own whatever company it is embedded in, and earns no reward for nothing.
 */
import { DocOptError } from '../../../errors.ts';
import type { Embedder } from '../../../ports.ts';
import { costOf, priceOf, type Wire } from '../../../run/wire/mod.ts';
import { cacheKey } from '../../../store/response-cache.ts';
import { type Endpoint, endpointOf } from '../../endpoint.ts';
import { envOf, type ModelServices, wireOf } from '../../services.ts';
import { cl100kCounter, estimatingCounter, type TokenCounter } from '../../token-counter.ts';
import { unitVectors } from './check-vectors.ts';
import type { EmbedRequest } from './dialects.ts';
import { capsOf, sendInBatches } from './in-batches.ts';
import { type ApiEmbedderOptions, withWidth } from './options.ts';
import { type Part, prepareTexts } from './parts.ts';
import { createTransport, type EmbedCost } from './transport.ts';

/** What the row of a text looks up and records. */
interface Keyed extends Part {
  readonly key: string;
}

export interface ApiEmbedder {
  readonly id: string;
  load(dimensions?: number): Promise<Embedder>;
}

/** Throws nothing before it is loaded: a missing key matters only to whoever must ask. */
export function apiEmbedder(given: ApiEmbedderOptions, services: ModelServices): ApiEmbedder {
  const options = withWidth(given);
  const id = idOf(options, options.dimensions);
  return {
    id,
    async load(known) {
      const core = await openCore(options, services);
      const dimensions =
        options.dimensions ?? known ?? (await core.vectorsOf(['How wide are your vectors?'], 'document'))[0]!.length;
      return core.embedder(dimensions);
    },
  };
}

/** Shared by embedding and estimating. */
export interface Core {
  readonly counter: TokenCounter;
  readonly endpoint: Endpoint;
  embedder(dimensions: number): Embedder;
  /** One unit vector per text, undefined for a blank one. */
  vectorsOf(texts: readonly string[], role: 'query' | 'document'): Promise<(Float32Array | undefined)[]>;
  readonly wire: Wire;
}

export async function openCore(options: ApiEmbedderOptions, services: ModelServices): Promise<Core> {
  const wire = await wireOf(services);
  const endpoint = endpointOf(options.driver, options, envOf(services));
  const counter = options.driver === 'openai' ? await cl100kCounter() : estimatingCounter;
  const transport = await createTransport(options, endpoint, wire);
  const { model } = transport;
  const name = idOf(options, options.dimensions);
  const caps = capsOf(transport.limits, options.batchSize);
  let overlongSoFar = 0;

  const keyOf = (text: string, role: 'query' | 'document'): string =>
    vectorKey(options, endpoint.url, model, transport.roles ? role : '', text);

  const askFor = async (
    batch: readonly Keyed[],
    role: 'query' | 'document',
    width: number | undefined,
  ): Promise<Float32Array[]> => {
    const texts = batch.map(({ text }) => text);
    const request: EmbedRequest = {
      model,
      role,
      texts,
      dimensions: transport.dimensions,
      encoding: options.encoding ?? 'base64',
    };
    const tokens = batch.reduce((sum, part) => sum + part.tokens, 0);
    const cost = costFor(batch, tokens, counter, options.driver, wire, model);
    const rows = unitVectors(await transport.send(request, { tokens, cost }), texts, width, name);
    wire.cache.put(
      batch.map(({ key }, i) => [key, new Uint8Array(rows[i].buffer)]),
      model,
    );
    return rows;
  };

  const vectorsOf = async (
    texts: readonly string[],
    role: 'query' | 'document',
  ): Promise<(Float32Array | undefined)[]> => {
    const { parts, partsOf, overlong } = prepareTexts(texts, role, options, counter);
    if (overlong > 0 && overlongSoFar === 0) {
      const done = options.overlong === 'split' ? 'split and averaged' : 'cut off there';
      services.log?.warn(
        `${name}: texts are longer than its limit of tokens and are ${done}; the debug log counts them`,
      );
    }
    overlongSoFar += overlong;
    if (overlong > 0) services.log?.debug(`${name}: ${overlongSoFar} texts over the limit so far`);
    const vectors: (Float32Array | undefined)[] = parts.map(() => undefined);
    const missing: (Keyed & { readonly at: number })[] = [];
    for (const [at, part] of parts.entries()) {
      const key = keyOf(part.text, role);
      const found = wire.cache.get(key);
      const width = options.dimensions;
      if (found !== undefined && found.length % 4 === 0 && (width === undefined || found.length === width * 4)) {
        vectors[at] = new Float32Array(Uint8Array.from(found).buffer);
      } else missing.push({ ...part, key, at });
    }
    const many = missing.length > 8 * caps.inputs;
    const progress = many ? services.log?.progress(`embedding with ${name}`, missing.length) : undefined;
    const ask = (batch: readonly Keyed[]) => askFor(batch, role, options.dimensions);
    try {
      await sendInBatches(missing, caps, ask, ({ at }, vector) => {
        vectors[at] = vector;
        progress?.tick(1);
      });
    } finally {
      progress?.end();
    }
    return partsOf.map((numbers) =>
      numbers.length === 0 ? undefined : average(numbers, vectors as Float32Array[], parts),
    );
  };

  return {
    counter,
    endpoint,
    wire,
    vectorsOf,
    embedder: (dimensions) => ({
      id: idOf(options, dimensions),
      dimensions,
      batch: Math.min(4096, caps.inputs * 8),
      seesBlank: options.emptyTexts === 'placeholder' || options.emptyTexts === 'error',
      async embed(texts, role) {
        const vectors = await vectorsOf(texts, role);
        const data = new Float32Array(texts.length * dimensions);
        vectors.forEach((vector, row) => {
          if (vector === undefined) return;
          if (vector.length !== dimensions) throw otherWidth(name, vector.length, dimensions);
          data.set(vector, row * dimensions);
        });
        return { rows: texts.length, columns: dimensions, data };
      },
    }),
  };
}

/** Under which a vector is on record: everything that decides it. */
export function vectorKey(
  { driver, dimensions }: ApiEmbedderOptions,
  url: string,
  model: string,
  role: string,
  text: string,
): string {
  return cacheKey('embedding', driver, url, model, dimensions ?? '', role, text);
}

/** The settings that decide a vector. Where the service is does not: another address of the same model is the same space. */
function idOf(options: ApiEmbedderOptions, dimensions: number | undefined): string {
  const { driver, model, queryPrompt, documentPrompt, maxTokens, overlong, emptyTexts } = options;
  const parts = [
    model ?? (options.url === undefined ? 'default' : new URL(options.url).host),
    ...(dimensions === undefined ? [] : [String(dimensions)]),
    ...(queryPrompt ? [`query=${JSON.stringify(queryPrompt)}`] : []),
    ...(documentPrompt ? [`document=${JSON.stringify(documentPrompt)}`] : []),
    ...(maxTokens === undefined ? [] : [`maxTokens=${maxTokens}`]),
    ...(overlong === 'split' ? ['split'] : []),
    ...(emptyTexts === 'placeholder' ? ['placeholder'] : []),
  ];
  return `${driver}(${parts.join(',')})`;
}

/** Bytes are never fewer than tokens; a few more for the markers that a model puts around a text. */
const MARKERS = 8;

/** CONFIG under a cap where no price is known. */
export function costFor(
  batch: readonly Part[],
  tokens: number,
  counter: TokenCounter,
  driver: ApiEmbedderOptions['driver'],
  wire: Wire,
  model: string,
): EmbedCost | undefined {
  const price = priceOf(driver, model, wire.price);
  if (price === undefined) {
    if (wire.capped) throw noPrice(driver, model);
    return undefined;
  }
  const most = counter.exact ? tokens : batch.reduce((sum, { text }) => sum + Buffer.byteLength(text) + MARKERS, 0);
  const byTokens = (billed: number): number => costOf(price, { input: billed });
  return { what: model, upTo: byTokens(most), byTokens };
}

export function noPrice(service: string, model: string): DocOptError {
  return new DocOptError('CONFIG', `there is no listed price for ${service} model '${model}', so no cap can be kept`, {
    hint: 'Give it: --price IN,OUT in US dollars per million tokens (0,0 for a server of your own).',
  });
}

function otherWidth(name: string, got: number, dimensions: number): DocOptError {
  return new DocOptError('UPSTREAM', `embedder ${name} answered ${got} dimensions where ${dimensions} were expected.`, {
    hint: 'Does the address still serve the model that the index was built with?',
  });
}

/** Parts of one text by their share of its tokens, to unit length. */
function average(numbers: readonly number[], vectors: readonly Float32Array[], parts: readonly Part[]): Float32Array {
  if (numbers.length === 1) return vectors[numbers[0]];
  const sum = new Float64Array(vectors[numbers[0]].length);
  for (const number of numbers) {
    for (let j = 0; j < sum.length; j++) sum[j] += vectors[number][j] * parts[number].tokens;
  }
  const norm = Math.hypot(...sum);
  return norm > 0 ? Float32Array.from(sum, (value) => value / norm) : new Float32Array(sum.length);
}
