/**
 * Documents at hand as people write them down: the pool file of `morph select --pool`, and `documents` of a request.
 *   {query: {id?, text?, embedding?} | "text",
 *    documents: [{id, title?, text?, metadata?, embedding?, score?, firstStageScore?, relevant?}]}
 * in first-stage order. `score` is what the recorded reranker hands out, null for a call that failed. `relevant` is a
 * judgement or a click, for queries of a history; a selection never looks at it.
 */

import { DocOptError } from '../src/errors.ts';
import { didYouMean } from '../src/text/suggest.ts';
import type { Document, Matrix } from '../src/types.ts';

export interface PoolQuery {
  readonly id?: string;
  readonly text?: string;
}

export interface PoolDocuments {
  readonly query: PoolQuery;
  readonly queryEmbedding?: Float64Array;
  readonly documents: readonly Document[];
  readonly embeddings?: Matrix;
  readonly firstStageScores?: Float64Array;
  /** By document id; absent = never recorded, null = recorded as failed. */
  readonly scores: ReadonlyMap<string, number | null>;
  /** Judgements or clicks by document id, > 0 = relevant. */
  readonly relevant: ReadonlyMap<string, number>;
  readonly warnings: readonly string[];
}

const DOCUMENT_KEYS = ['id', 'title', 'text', 'metadata', 'embedding', 'score', 'firstStageScore', 'relevant'];
const QUERY_KEYS = ['id', 'text', 'embedding'];

/**
 * Checks and takes over a parsed pool. `where` names it in errors ('pool.json', 'the request'). Unknown keys are an error
 * (`strict`) or a warning.
 */
export function parsePool(value: unknown, where: string, strict = false): PoolDocuments {
  const fail = (message: string, hint: string): DocOptError =>
    new DocOptError('DATA', `${where}: ${message}`, { hint });
  const unknown = new Map<string, string>();
  if (!isObject(value)) throw fail(`expected an object, found ${kindOf(value)}`, SHAPE_HINT);
  noteUnknown(value, ['query', 'documents'], '', unknown);
  const { query, queryEmbedding } = parseQuery(value.query, where);
  if (isObject(value.query)) noteUnknown(value.query, QUERY_KEYS, 'query.', unknown);
  if (!Array.isArray(value.documents)) {
    throw fail(`'documents' is ${kindOf(value.documents)}, expected a list`, SHAPE_HINT);
  }

  const documents: Document[] = [];
  const scores = new Map<string, number | null>();
  const relevant = new Map<string, number>();
  const seen = new Map<string, number>();
  const rows = value.documents as unknown[];
  let width: number | undefined;
  let data: Float64Array | undefined;
  let firstStageScores: Float64Array | undefined;
  rows.forEach((row, i) => {
    if (!isObject(row)) throw fail(`documents[${i}] is ${kindOf(row)}, expected an object`, SHAPE_HINT);
    const { id } = row;
    if (typeof id !== 'string' || id === '') {
      throw fail(
        `documents[${i}].id is ${kindOf(id)}, expected a non-empty string`,
        'Give every document a unique id.',
      );
    }
    const name = `document '${id}' (documents[${i}])`;
    const earlier = seen.get(id);
    if (earlier !== undefined) {
      throw fail(`${name} has the id of documents[${earlier}]`, 'Ids must be unique; drop one of them.');
    }
    seen.set(id, i);
    noteUnknown(row, DOCUMENT_KEYS, 'documents[].', unknown);
    documents.push(documentOf(row, id, name, fail));
    if (row.relevant !== undefined) relevant.set(id, labelOf(row.relevant, name, fail));
    if (row.score !== undefined) scores.set(id, scoreOf(row.score, name, fail));

    if (
      (row.firstStageScore !== undefined) !==
      (i === 0 ? row.firstStageScore !== undefined : firstStageScores !== undefined)
    ) {
      throw fail(
        `${name}: some documents have a firstStageScore and some have none`,
        'Give it to all of them, or to none.',
      );
    }
    if (row.firstStageScore !== undefined) {
      firstStageScores ??= new Float64Array(rows.length);
      firstStageScores[i] = finite(row.firstStageScore, `${name}: firstStageScore`, fail);
    }

    const has = row.embedding !== undefined && row.embedding !== null;
    if (i > 0 && has !== (data !== undefined)) {
      throw fail(
        `${name} has ${has ? 'an' : 'no'} embedding, documents[0] has ${has ? 'none' : 'one'}`,
        'Give all of them embeddings, or none.',
      );
    }
    if (!has) return;
    const embedding = vectorOf(row.embedding, name, fail);
    width ??= embedding.length;
    if (embedding.length !== width) {
      throw fail(
        `${name}: the embedding has ${embedding.length} numbers, those before have ${width}`,
        'Embed all documents with the same model.',
      );
    }
    data ??= new Float64Array(rows.length * width);
    data.set(embedding, i * width);
  });
  if (queryEmbedding !== undefined && width !== undefined && queryEmbedding.length !== width) {
    throw fail(
      `query.embedding has ${queryEmbedding.length} numbers, the documents' have ${width}`,
      'Embed the query and the documents with the same model.',
    );
  }
  const warnings = [...unknown].map(
    ([key, meant]) => `${where}: the key '${key}' is not known and was ignored.${meant}`,
  );
  if (strict && unknown.size > 0) {
    const [[key, meant]] = unknown;
    throw new DocOptError('USAGE', `${where}: unknown key '${key}'.${meant}`, { hint: SHAPE_HINT });
  }
  return {
    query,
    queryEmbedding,
    documents,
    embeddings: data === undefined ? undefined : { rows: rows.length, columns: width!, data },
    firstStageScores,
    scores,
    relevant,
    warnings,
  };
}

const SHAPE_HINT =
  'Expected {"query": {"text": "..."}, "documents": [{"id": "...", "text": "..."}, ...]} in retriever order.';

type Fail = (message: string, hint: string) => DocOptError;

/** The query of a pool file or of a request: a string, or {id?, text?, embedding?}. */
export function parseQuery(value: unknown, where: string): { query: PoolQuery; queryEmbedding?: Float64Array } {
  const fail: Fail = (message, hint) => new DocOptError('DATA', `${where}: ${message}`, { hint });
  const given = typeof value === 'string' ? { text: value } : value;
  if (given === undefined || given === null) throw fail("'query' is missing", SHAPE_HINT);
  if (!isObject(given)) throw fail(`'query' is ${kindOf(given)}, expected a string or an object`, SHAPE_HINT);
  const { id, text, embedding } = given;
  if (id !== undefined && typeof id !== 'string')
    throw fail(`query.id is ${kindOf(id)}, expected a string`, SHAPE_HINT);
  if (text !== undefined && text !== null && typeof text !== 'string') {
    throw fail(`query.text is ${kindOf(text)}, expected a string`, SHAPE_HINT);
  }
  const words = typeof text === 'string' && text.trim() !== '' ? text : undefined;
  const queryEmbedding = embedding === undefined || embedding === null ? undefined : vectorOf(embedding, 'query', fail);
  if (words === undefined && queryEmbedding === undefined) {
    throw fail('the query has neither text nor embedding', 'Give query.text, query.embedding, or both.');
  }
  return { query: { id, text: words }, queryEmbedding };
}

function documentOf(row: Record<string, unknown>, id: string, name: string, fail: Fail): Document {
  const { title = '', text = '', metadata } = row;
  if (typeof title !== 'string') throw fail(`${name}: title is ${kindOf(title)}, expected a string`, SHAPE_HINT);
  if (typeof text !== 'string') throw fail(`${name}: text is ${kindOf(text)}, expected a string`, SHAPE_HINT);
  if (metadata !== undefined && !isObject(metadata)) {
    throw fail(`${name}: metadata is ${kindOf(metadata)}, expected an object`, SHAPE_HINT);
  }
  return metadata === undefined ? { id, title, text } : { id, title, text, metadata };
}

function scoreOf(value: unknown, name: string, fail: Fail): number | null {
  if (value === null) return null;
  const score = finite(value, `${name}: score`, fail);
  if (score < 0 || score > 1) {
    throw fail(
      `${name}: score is ${score}, expected a probability in [0, 1]`,
      'If these are logits, put them through the logistic function 1 / (1 + exp(-x)) first.',
    );
  }
  return score;
}

function labelOf(value: unknown, name: string, fail: Fail): number {
  return typeof value === 'boolean' ? Number(value) : finite(value, `${name}: relevant`, fail);
}

function vectorOf(value: unknown, name: string, fail: Fail): Float64Array {
  if (!Array.isArray(value) || value.length === 0) {
    throw fail(`${name}: embedding is ${kindOf(value)}, expected a list of numbers`, 'Embed it again.');
  }
  const out = new Float64Array(value.length);
  for (let i = 0; i < out.length; i++) out[i] = finite(value[i], `${name}: embedding[${i}]`, fail);
  return out;
}

function finite(value: unknown, what: string, fail: Fail): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw fail(
      `${what} is ${typeof value === 'number' ? value : kindOf(value)}, expected a finite number`,
      'Correct it at its source.',
    );
  }
  return value;
}

function noteUnknown(
  row: Record<string, unknown>,
  known: readonly string[],
  prefix: string,
  into: Map<string, string>,
): void {
  for (const key of Object.keys(row)) {
    if (!known.includes(key) && into.size < 5) into.set(`${prefix}${key}`, didYouMean(key, known));
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (value === '') return 'an empty string';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
