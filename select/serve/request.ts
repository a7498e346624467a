/** Request bodies, checked: what each route takes, in one place. Errors name the key and what was expected. */

import { DocOptError } from '../../src/errors.ts';
import { didYouMean } from '../../src/text/suggest.ts';
import { type PoolDocuments, type PoolQuery, parsePool, parseQuery } from '../pool-file.ts';
import type { Returned } from '../returned.ts';
import { TOKEN_FILLS, type TokenCapacity } from '../selectors/token-capacity.ts';

/** Longest query text, in characters. Longer ones are almost always a document in the wrong place. */
export const MAX_QUERY_LENGTH = 10_000;
const MAX_COUNT = 100_000;

export interface SelectRequest {
  readonly query: PoolQuery;
  readonly queryEmbedding?: Float64Array;
  readonly budget?: number;
  readonly capacity?: number | TokenCapacity;
  readonly selector?: string;
  readonly all: boolean;
  readonly return?: Returned;
  readonly deadlineMs?: number;
  /** In place of the index. */
  readonly documents?: PoolDocuments;
}

export interface SearchRequest {
  readonly text: string;
  readonly k: number;
}

const SELECT_KEYS = ['query', 'budget', 'capacity', 'selector', 'all', 'return', 'deadlineMs', 'documents'];
const SEARCH_KEYS = ['query', 'k'];

export function parseSelectRequest(body: string): SelectRequest {
  const values = parseObject(body, SELECT_KEYS);
  const { query, queryEmbedding } = parseQuery(values.query, 'the request');
  requireLength(query.text);
  const { selector, all, documents, return: returned } = values;
  if (selector !== undefined && typeof selector !== 'string') throw wrong('selector', 'a name', selector);
  if (all !== undefined && typeof all !== 'boolean') throw wrong('all', 'true or false', all);
  if (returned !== undefined && returned !== 'chunk' && returned !== 'parent')
    throw wrong('return', "'chunk' or 'parent'", returned);
  return {
    query,
    queryEmbedding,
    budget: count(values, 'budget', 0),
    capacity: capacityOf(values.capacity) ?? count(values, 'capacity', 0),
    selector,
    all: all === true,
    return: returned,
    deadlineMs: count(values, 'deadlineMs', 1, 3_600_000),
    documents: documents === undefined ? undefined : parsePool({ query: values.query, documents }, 'the request', true),
  };
}

export function parseSearchRequest(body: string): SearchRequest {
  const values = parseObject(body, SEARCH_KEYS);
  const { query } = parseQuery(values.query, 'the request');
  if (query.text === undefined) {
    throw new DocOptError('USAGE', 'The request: an index is searched by text, and query.text is missing.', {
      hint: 'Send {"query": "some words", "k": 10}.',
    });
  }
  requireLength(query.text);
  return { text: query.text, k: count(values, 'k', 1) ?? 10 };
}

function parseObject(body: string, known: readonly string[]): Record<string, unknown> {
  const example = `Send a JSON object with: ${known.join(', ')}.`;
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    throw new DocOptError('USAGE', `The request body is not JSON: ${(error as Error).message}`, { hint: example });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DocOptError('USAGE', 'The request body is JSON, but not an object.', { hint: example });
  }
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    throw new DocOptError('USAGE', `The request: unknown key '${key}'.${didYouMean(key, known)}`, { hint: example });
  }
  return value as Record<string, unknown>;
}

function count(values: Record<string, unknown>, key: string, least: number, most = MAX_COUNT): number | undefined {
  const value = values[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    throw wrong(key, `a whole number from ${least} to ${most}`, value);
  }
  return value;
}

/** {tokens, fill?}; undefined for anything that is no object. */
function capacityOf(value: unknown): TokenCapacity | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { fill, ...rest } = value as Record<string, unknown>;
  const unknown = Object.keys(rest).find((key) => key !== 'tokens');
  if (unknown !== undefined) throw wrong(`capacity.${unknown}`, 'only tokens and fill', rest[unknown]);
  const tokens = count(rest, 'tokens', 0, 10_000_000);
  if (tokens === undefined) throw wrong('capacity.tokens', 'a whole number', rest.tokens ?? null);
  if (fill === undefined) return { tokens };
  const known = TOKEN_FILLS.find((name) => name === fill);
  if (known === undefined) throw wrong('capacity.fill', TOKEN_FILLS.join(', '), fill);
  return { tokens, fill: known };
}

function wrong(key: string, expected: string, found: unknown): DocOptError {
  const text = typeof found === 'number' ? String(found) : JSON.stringify(found);
  return new DocOptError(
    'USAGE',
    `The request: ${key} is ${text.length > 60 ? `${text.slice(0, 57)}...` : text}, expected ${expected}.`,
    { hint: 'Correct the request.' },
  );
}

function requireLength(text: string | undefined): void {
  if (text === undefined || text.length <= MAX_QUERY_LENGTH) return;
  throw new DocOptError('USAGE', `The query has ${text.length} characters; at most ${MAX_QUERY_LENGTH} are taken.`, {
    hint: 'Send the question, not the document.',
  });
}
