/**
 * What an index remembers of query texts: how the embedder sees each, and, once a swap asked for them, its best documents.
 * A training asks the same few hundred queries over and over.
 */
import type { Query } from '../../src/types.ts';
import type { Head } from '../kernels/swap-merge.ts';

export interface KnownQuery<V> {
  /** undefined: the text has no direction, and finds nothing. */
  readonly vector: V | undefined;
  /** The best `depth` documents. */
  head?: Head & { readonly depth: number };
}

/** A query whose text has a direction. */
export interface DirectedQuery<V> extends KnownQuery<V> {
  readonly vector: V;
}

export interface QueryMemory<V> {
  /** What is known of each query; the new texts are embedded in one call. */
  lookUp(queries: readonly Query[]): Promise<KnownQuery<V>[]>;
  /** The best k of each distinct query, by scoring everything; without direction or with k = 0 it has none. */
  topOf(queries: readonly KnownQuery<V>[], k: number): Promise<Map<KnownQuery<V>, Head>>;
  /** Gives every query with a direction a head of at least `depth`. */
  ensureHeads(queries: readonly KnownQuery<V>[], depth: number): Promise<void>;
}

export interface QueryMemoryOptions<V> {
  /** How many texts are remembered. */
  readonly size: number;
  /** One per text, undefined for a text without direction. */
  embed(texts: readonly string[]): Promise<readonly (V | undefined)[]>;
  /** Heads of k documents, one per query, of an exhaustive search. */
  search(queries: readonly DirectedQuery<V>[], k: number): Promise<readonly Head[]>;
}

const NOTHING: Head = { positions: new Int32Array(0), scores: new Float64Array(0) };

export function createQueryMemory<V>({ size, embed, search }: QueryMemoryOptions<V>): QueryMemory<V> {
  /** By text, least recently used first. */
  const known = new Map<string, KnownQuery<V>>();

  const topOf = async (queries: readonly KnownQuery<V>[], k: number): Promise<Map<KnownQuery<V>, Head>> => {
    const distinct = [...new Set(queries)];
    const directed = distinct.filter((query): query is DirectedQuery<V> => query.vector !== undefined && k > 0);
    const found = directed.length === 0 ? [] : await search(directed, k);
    const heads = new Map(distinct.map((query) => [query, NOTHING]));
    for (const [i, query] of directed.entries()) heads.set(query, found[i]);
    return heads;
  };

  return {
    async lookUp(queries) {
      const found = new Map<string, KnownQuery<V>>();
      const missing = new Set<string>();
      for (const { text } of queries) {
        const query = known.get(text);
        if (query === undefined) missing.add(text);
        else found.set(text, query);
      }
      if (missing.size > 0) {
        const texts = [...missing];
        const vectors = await embed(texts);
        for (const [i, text] of texts.entries()) found.set(text, { vector: vectors[i] });
      }
      for (const [text, query] of found) {
        known.delete(text);
        known.set(text, query);
      }
      for (const text of known.keys()) {
        if (known.size <= size) break;
        known.delete(text);
      }
      return queries.map(({ text }) => found.get(text)!);
    },
    topOf,
    async ensureHeads(queries, depth) {
      const shallow = queries.filter(
        ({ vector, head }) => vector !== undefined && !(head !== undefined && head.depth >= depth),
      );
      for (const [query, head] of await topOf(shallow, depth)) query.head = { ...head, depth };
    },
  };
}
