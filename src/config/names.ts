/**
 * What every short form of the command line means, in one table. A name stands for a whole block, so that a configuration
 * can say the same in full; nothing is ever guessed from a part of a name. `prefix:REST` forms are listed by their prefix.
 */
import { DocOptError } from '../errors.ts';
import { SELECTOR_NAMES } from './selector-specs.ts';

export type SpecKind = 'retriever' | 'policy' | 'reranker' | 'embedder' | 'selector';

export type Block = { driver: string } & Record<string, unknown>;

/** `onnx:DIR`: a word before the colon, and what follows it. */
export interface PrefixForm {
  /** As in --help: 'onnx:DIR'. */
  readonly form: string;
  /** Throws CONFIG when `rest` cannot be. `expand`: short forms inside it. */
  block(rest: string, expand: (text: string) => Block): Block;
}

/** Embedding models that go by their own name, with the width that they have unless another is asked for. */
export const EMBEDDING_MODELS: Readonly<Record<string, Block>> = {
  'text-embedding-3-small': { driver: 'openai', model: 'text-embedding-3-small', dimensions: 1536 },
  'text-embedding-3-large': { driver: 'openai', model: 'text-embedding-3-large', dimensions: 3072 },
  'text-embedding-ada-002': { driver: 'openai', model: 'text-embedding-ada-002', dimensions: 1536 },
  'voyage-4-large': { driver: 'voyage', model: 'voyage-4-large', dimensions: 1024 },
  'voyage-4': { driver: 'voyage', model: 'voyage-4', dimensions: 1024 },
  'voyage-4-lite': { driver: 'voyage', model: 'voyage-4-lite', dimensions: 1024 },
  'voyage-3-large': { driver: 'voyage', model: 'voyage-3-large', dimensions: 1024 },
  'voyage-3.5': { driver: 'voyage', model: 'voyage-3.5', dimensions: 1024 },
  'voyage-3.5-lite': { driver: 'voyage', model: 'voyage-3.5-lite', dimensions: 1024 },
  'voyage-code-3': { driver: 'voyage', model: 'voyage-code-3', dimensions: 1024 },
  'voyage-finance-2': { driver: 'voyage', model: 'voyage-finance-2', dimensions: 1024 },
  'voyage-law-2': { driver: 'voyage', model: 'voyage-law-2', dimensions: 1024 },
  'embed-v4.0': { driver: 'cohere', model: 'embed-v4.0', dimensions: 1536 },
  'embed-english-v3.0': { driver: 'cohere', model: 'embed-english-v3.0', dimensions: 1024 },
  'embed-multilingual-v3.0': { driver: 'cohere', model: 'embed-multilingual-v3.0', dimensions: 1024 },
  'embed-english-light-v3.0': { driver: 'cohere', model: 'embed-english-light-v3.0', dimensions: 384 },
  'embed-multilingual-light-v3.0': { driver: 'cohere', model: 'embed-multilingual-light-v3.0', dimensions: 384 },
  'jina-embeddings-v4': { driver: 'jina', model: 'jina-embeddings-v4', dimensions: 2048 },
  'jina-embeddings-v3': { driver: 'jina', model: 'jina-embeddings-v3', dimensions: 1024 },
  'jina-embeddings-v2-base-en': { driver: 'jina', model: 'jina-embeddings-v2-base-en', dimensions: 768 },
  'jina-embeddings-v2-base-code': { driver: 'jina', model: 'jina-embeddings-v2-base-code', dimensions: 768 },
  'jina-code-embeddings-0.5b': { driver: 'jina', model: 'jina-code-embeddings-0.5b', dimensions: 896 },
  'jina-code-embeddings-1.5b': { driver: 'jina', model: 'jina-code-embeddings-1.5b', dimensions: 1536 },
};

/** The width that a model has by itself: asking for it needs no `dimensions` in the request. */
export function nativeDimensions(driver: string, model: string): number | undefined {
  const block = Object.hasOwn(EMBEDDING_MODELS, model) ? EMBEDDING_MODELS[model] : undefined;
  return block?.driver === driver ? (block.dimensions as number) : undefined;
}

const EMBEDDERS: Readonly<Record<string, Block>> = {
  lsa: { driver: 'lsa' },
  // Without the width: it would stand above one that was set beside the name.
  ...mapValues(EMBEDDING_MODELS, ({ driver, model }) => ({ driver, model })),
};

const modelOf =
  (driver: string) =>
  (model: string): Block => ({ driver, model });

const EMBEDDER_PREFIXES: Readonly<Record<string, PrefixForm>> = {
  onnx: { form: 'onnx:DIR', block: (path) => ({ driver: 'onnx', path }) },
  openai: { form: 'openai:MODEL', block: modelOf('openai') },
  cohere: { form: 'cohere:MODEL', block: modelOf('cohere') },
  voyage: { form: 'voyage:MODEL', block: modelOf('voyage') },
  jina: { form: 'jina:MODEL', block: modelOf('jina') },
  tei: { form: 'tei:URL', block: (url) => ({ driver: 'tei', url }) },
};

/** URL#MODEL: a server of one's own and what to ask it for. Throws CONFIG without the model. */
const servedAt =
  (driver: string) =>
  (rest: string): Block => {
    const hash = rest.lastIndexOf('#');
    const [url, model] = [rest.slice(0, Math.max(0, hash)), rest.slice(hash + 1)];
    if (url !== '' && model !== '') return { driver, url, model };
    throw new DocOptError('CONFIG', `'${driver}:${rest}' does not say which model`, {
      hint: `Expected: ${driver}:URL#MODEL, e.g. ${driver}:http://localhost:8000#my-model`,
    });
  };

const lateInteraction = (embedder: Block): Block => ({ driver: 'late-interaction', embedder });
const dense = (embedder: Block): Block => ({ driver: 'dense', embedder });

/** Names that stand for one block. Every embedder is a retriever too: dense search over its vectors. */
export const NAMES: Readonly<Record<SpecKind, Readonly<Record<string, Block>>>> = {
  retriever: {
    bm25: { driver: 'bm25' },
    wink: { driver: 'wink' },
    ...mapValues(EMBEDDERS, dense),
  },
  embedder: EMBEDDERS,
  policy: { identity: { driver: 'identity' }, edit: { driver: 'edit' } },
  reranker: { features: { driver: 'features' }, recorded: { driver: 'recorded' }, qrels: { driver: 'qrels' } },
  selector: Object.fromEntries(SELECTOR_NAMES.map((driver) => [driver, { driver }])),
};

/** `prefix:REST` forms by their prefix. */
export const PREFIXES: Readonly<Record<SpecKind, Readonly<Record<string, PrefixForm>>>> = {
  retriever: {
    ...mapValues(EMBEDDER_PREFIXES, ({ form, block }) => ({
      form,
      block: (rest: string, expand: (text: string) => Block) => dense(block(rest, expand)),
    })),
    colbert: {
      form: 'colbert:DIR',
      block: (path) => lateInteraction({ driver: 'onnx', path }),
    },
    'colbert-tei': { form: 'colbert-tei:URL', block: (url) => lateInteraction({ driver: 'tei', url }) },
    'colbert-jina': { form: 'colbert-jina:MODEL', block: (model) => lateInteraction({ driver: 'jina', model }) },
    // http:URL, and the address alone.
    http: { form: 'http:URL', block: (url) => ({ driver: 'http', url: url.startsWith('//') ? `http:${url}` : url }) },
    https: { form: 'https://...', block: (url) => ({ driver: 'http', url: `https:${url}` }) },
    fusion: {
      form: 'fusion:A+B',
      block: (rest, expand) => ({ driver: 'fusion', retrievers: rest.split('+').map((one) => expand(one)) }),
    },
  },
  embedder: EMBEDDER_PREFIXES,
  policy: {
    lm: { form: 'lm:DIR_OR_GGUF_OR_HUB_ID', block: (path) => ({ driver: 'lm', path }) },
    openai: { form: 'openai:MODEL', block: (model) => ({ driver: 'openai', model }) },
    anthropic: { form: 'anthropic:MODEL', block: (model) => ({ driver: 'anthropic', model }) },
    chat: { form: 'chat:URL#MODEL', block: servedAt('chat') },
  },
  reranker: {
    onnx: { form: 'onnx:DIR', block: (path) => ({ driver: 'onnx', path }) },
    cohere: { form: 'cohere:MODEL', block: (model) => ({ driver: 'cohere', model }) },
    jina: { form: 'jina:MODEL', block: (model) => ({ driver: 'jina', model }) },
    voyage: { form: 'voyage:MODEL', block: (model) => ({ driver: 'voyage', model }) },
    tei: { form: 'tei:URL', block: (url) => ({ driver: 'tei', url }) },
    vllm: { form: 'vllm:URL#MODEL', block: servedAt('vllm') },
    infinity: { form: 'infinity:URL#MODEL', block: servedAt('infinity') },
    chat: { form: 'chat:URL#MODEL', block: servedAt('chat') },
  },
  selector: {},
};

/** Names that the command line reserves and this version does not carry, so that the error can say so instead of 'unknown'. */
export const RESERVED: Readonly<Record<SpecKind, readonly string[]>> = {
  retriever: [],
  embedder: [],
  policy: [],
  reranker: ['lm:'],
  selector: [],
};

function mapValues<A, B>(table: Readonly<Record<string, A>>, map: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, map(value)]));
}
