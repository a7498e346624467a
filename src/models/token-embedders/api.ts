/**
 * Token embedders that are services: TEI's `/embed_all` and Jina's multi-vector API. A text has the tokens that the service
 * gives it, special ones and punctuation included. They are unit vectors in half precision, as an index keeps them, so a
 * recorded answer and a fresh one are the same to the bit.
 */
import { DocOptError } from '../../errors.ts';
import { floatsToHalves, halvesToFloats } from '../../kernels/float16.ts';
import type { TokenEmbedder } from '../../ports.ts';
import { cacheKey } from '../../store/response-cache.ts';
import type { Matrix } from '../../types.ts';
import { costFor } from '../embedders/api/api-embedder.ts';
import { capsOf, sendInBatches } from '../embedders/api/in-batches.ts';
import { type Part, prepareTexts } from '../embedders/api/parts.ts';
import { wireCost } from '../embedders/api/transport.ts';
import { endpointOf } from '../endpoint.ts';
import { envOf, type ModelServices, wireOf } from '../services.ts';
import { teiInfo } from '../tei-info.ts';
import { estimatingCounter } from '../token-counter.ts';
import { TOKEN_DIALECTS, type TokenService } from './api-dialects.ts';
import { unitMatrices } from './check-matrices.ts';

export interface ApiTokenEmbedderOptions {
  readonly driver: TokenService;
  /** 'jina-colbert-v2'; a TEI server has one model and needs no name. */
  readonly model?: string;
  /** Of one token. Default: what the model has by itself. */
  readonly dimensions?: number;
  readonly url?: string;
  readonly authFrom?: string;
  /** Put before every text of that role: a TEI server is told so which it is ('[Q] '), Jina by `input_type`. */
  readonly queryPrompt?: string;
  readonly documentPrompt?: string;
  /** Most texts in one request. */
  readonly batchSize?: number;
}

type Role = 'query' | 'document';

interface Keyed extends Part {
  readonly key: string;
  readonly at: number;
}

export function apiTokenEmbedder(
  options: ApiTokenEmbedderOptions,
  services: ModelServices,
): { readonly id: string; load(): Promise<TokenEmbedder> } {
  return { id: idOf(options), load: () => openApiTokenEmbedder(options, services) };
}

/** Under which a text's tokens are on record. */
export function tokensKey(
  { driver, dimensions }: ApiTokenEmbedderOptions,
  url: string,
  model: string,
  role: Role,
  text: string,
): string {
  return cacheKey(
    'token-embedding',
    driver,
    url,
    model,
    dimensions ?? '',
    TOKEN_DIALECTS[driver].roles ? role : '',
    text,
  );
}

async function openApiTokenEmbedder(options: ApiTokenEmbedderOptions, services: ModelServices): Promise<TokenEmbedder> {
  const { driver, dimensions } = options;
  const dialect = TOKEN_DIALECTS[driver];
  const wire = await wireOf(services);
  const endpoint = endpointOf(driver, options, envOf(services));
  const served = driver === 'tei' ? await teiInfo(endpoint, wire, options.model) : undefined;
  const model = served?.model ?? options.model;
  if (model === undefined) {
    throw new DocOptError('CONFIG', `token embedder ${driver}: which model?`, {
      hint: 'E.g. colbert-jina:jina-colbert-v2',
    });
  }
  const limits = { inputs: served?.inputs ?? dialect.inputs, tokens: served?.tokens ?? dialect.tokens };
  const caps = capsOf(limits, options.batchSize);
  const name = idOf(options);
  let width = dimensions;

  const ask = async (batch: readonly Keyed[], role: Role): Promise<Matrix[]> => {
    const texts = batch.map(({ text }) => text);
    const tokens = batch.reduce((sum, part) => sum + part.tokens, 0);
    const answer = await wire.json(
      {
        service: driver,
        url: dialect.url(endpoint),
        headers: endpoint.headers,
        body: dialect.body({ model, role, texts, dimensions }),
        repeat: 'always',
        tokens,
        cost: wireCost(costFor(batch, tokens, estimatingCounter, driver, wire, model), dialect.read),
      },
      dialect.read,
    );
    const records = unitMatrices(answer, texts, width, name).map(toRecord);
    wire.cache.put(
      batch.map(({ key }, i) => [key, records[i]]),
      model,
    );
    return records.map(fromRecord);
  };

  const matricesOf = async (texts: readonly string[], role: Role): Promise<(Matrix | undefined)[]> => {
    const { parts, partsOf } = prepareTexts(texts, role, options, estimatingCounter);
    const keyed = parts.map(
      (part, at): Keyed => ({
        ...part,
        at,
        key: tokensKey(options, endpoint.url, model, role, part.text),
      }),
    );
    const found = keyed.map(({ key }) => {
      const record = wire.cache.get(key);
      return record === undefined ? undefined : fromRecord(record);
    });
    const missing = keyed.filter(({ at }) => found[at] === undefined);
    await sendInBatches(
      missing,
      caps,
      (batch) => ask(batch, role),
      ({ at }, matrix) => {
        found[at] = matrix;
      },
    );
    return partsOf.map(([number]) => (number === undefined ? undefined : found[number]));
  };

  width ??= (await matricesOf(['How wide are your vectors?'], 'document'))[0]!.columns;
  const columns = width;
  return {
    id: `${name.slice(0, -1)},${columns})`,
    dimensions: columns,
    async embedTokens(texts, role) {
      const matrices = await matricesOf(texts, role);
      return matrices.map((matrix) => {
        if (matrix === undefined) return { rows: 0, columns, data: new Float32Array(0) };
        if (matrix.columns === columns) return matrix;
        throw new DocOptError(
          'UPSTREAM',
          `${name} answered ${matrix.columns} dimensions where ${columns} were expected`,
          {
            hint: 'Does the address still serve the model that the index was built with?',
          },
        );
      });
    },
  };
}

/** Columns, then the rows, all in 16 bits. */
function toRecord({ columns, data }: Matrix): Uint8Array {
  const record = new Uint16Array(1 + data.length);
  record[0] = columns;
  record.set(floatsToHalves(data as Float32Array), 1);
  return new Uint8Array(record.buffer);
}

function fromRecord(bytes: Uint8Array): Matrix {
  const record = new Uint16Array(Uint8Array.from(bytes).buffer);
  const [columns] = record;
  return { rows: (record.length - 1) / columns, columns, data: halvesToFloats(record.subarray(1)) };
}

/** The settings that decide a vector. Where the service is does not. */
function idOf({ driver, model, url, dimensions, queryPrompt, documentPrompt }: ApiTokenEmbedderOptions): string {
  const parts = [
    model ?? (url === undefined ? 'default' : new URL(url).host),
    ...(dimensions === undefined ? [] : [String(dimensions)]),
    ...(queryPrompt ? [`query=${JSON.stringify(queryPrompt)}`] : []),
    ...(documentPrompt ? [`document=${JSON.stringify(documentPrompt)}`] : []),
  ];
  return `${driver}-tokens(${parts.join(',')})`;
}
