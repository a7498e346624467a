/** The requests of the black-box protocol (docs/retrievers.md), each answer checked. */
import { DocOptError } from '../../src/errors.ts';
import type { Endpoint } from '../../src/models/endpoint.ts';
import { type Wire, WireError } from '../../src/run/wire/mod.ts';
import type { IndexText } from '../../src/types.ts';

export interface HttpClient {
  /** For messages. */
  readonly where: string;
  /** Documents of an index; undefined when there is no such index. */
  count(index: string): Promise<number | undefined>;
  create(index: string): Promise<void>;
  drop(index: string): Promise<void>;
  put(index: string, documents: readonly IndexText[]): Promise<void>;
  remove(index: string, id: string): Promise<void>;
  /** Ids per query, best first. With `known`, others are left out; without, they are an error. */
  search(
    index: string,
    queries: readonly string[],
    k: number,
    known?: { has(id: string): boolean },
  ): Promise<string[][]>;
}

/** Documents and bytes of one PUT. */
const MOST_DOCUMENTS = 500;
const MOST_BYTES = 4_000_000;

export function createHttpClient(endpoint: Endpoint, wire: Wire): HttpClient {
  const { url, headers } = endpoint;
  const at = (index: string, ...rest: string[]): string =>
    [`${url}/indexes/${encodeURIComponent(index)}`, ...rest].join('/');
  const request = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', address: string, body?: unknown) =>
    ({ service: 'http', url: address, method, headers, body, repeat: 'always' }) as const;
  const missing = (error: unknown): boolean => error instanceof WireError && error.status === 404;

  return {
    where: url,
    async count(index) {
      try {
        return await wire.json(request('GET', at(index)), (body) => {
          const { documents } = (body ?? {}) as { documents?: unknown };
          if (typeof documents === 'number' && Number.isInteger(documents) && documents >= 0) return documents;
          throw broken(
            url,
            `says of index '${index}' no count of documents`,
            'GET /indexes/NAME answers {"documents": N}.',
          );
        });
      } catch (error) {
        if (missing(error)) return undefined;
        throw error;
      }
    },
    create: async (index) => void (await wire.send(request('PUT', at(index), {}))),
    async drop(index) {
      await wire.send(request('DELETE', at(index))).catch((error) => {
        if (!missing(error)) throw error;
      });
    },
    async put(index, documents) {
      if (documents.length === 1) {
        const [{ id, text }] = documents;
        await wire.send(request('PUT', at(index, 'documents', encodeURIComponent(id)), { text: wellFormed(text) }));
        return;
      }
      for (const part of partsOf(documents)) {
        await wire.send(request('PUT', at(index, 'documents'), { documents: part }));
      }
    },
    async remove(index, id) {
      await wire.send(request('DELETE', at(index, 'documents', encodeURIComponent(id)))).catch((error) => {
        if (!missing(error)) throw error;
      });
    },
    search: (index, queries, k, known) =>
      wire.json(request('POST', at(index, 'search'), { queries: queries.map(wellFormed), k }), (body) => {
        const { rankings } = (body ?? {}) as { rankings?: unknown };
        if (!Array.isArray(rankings) || rankings.length !== queries.length) {
          throw broken(
            url,
            `answers ${queries.length} queries with ${Array.isArray(rankings) ? rankings.length : 'no'} rankings`,
          );
        }
        return rankings.map((ranking, q) => checkedRanking(ranking, k, url, queries[q], known));
      }),
  };
}

function checkedRanking(
  ranking: unknown,
  k: number,
  url: string,
  query: string,
  known: { has(id: string): boolean } | undefined,
): string[] {
  const about = `for the query ${JSON.stringify(query.slice(0, 60))}`;
  if (!Array.isArray(ranking) || ranking.some((id) => typeof id !== 'string')) {
    throw broken(url, `answers ${about} with something else than a list of ids`);
  }
  if (new Set(ranking).size !== ranking.length) throw broken(url, `lists a document twice ${about}`);
  const ids = known === undefined ? ranking : ranking.filter((id) => known.has(id));
  return ids.slice(0, k);
}

function broken(url: string, what: string, hint?: string): DocOptError {
  return new DocOptError('UPSTREAM', `the retriever at ${url} ${what}`, {
    hint: hint ?? 'POST /indexes/NAME/search {"queries": [...], "k": K} answers {"rankings": [["id", ...], ...]}.',
  });
}

function* partsOf(documents: readonly IndexText[]): Generator<IndexText[]> {
  let part: IndexText[] = [];
  let bytes = 0;
  for (const { id, text } of documents) {
    part.push({ id, text: wellFormed(text) });
    bytes += text.length;
    if (part.length < MOST_DOCUMENTS && bytes < MOST_BYTES) continue;
    yield part;
    part = [];
    bytes = 0;
  }
  if (part.length > 0) yield part;
}

function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
