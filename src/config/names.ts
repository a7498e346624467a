/**
 * What every short form of the command line means, in one table. A name stands for a whole block, so that a configuration
 * can say the same in full; nothing is ever guessed from a part of a name. `prefix:REST` forms are listed by their prefix.
 */

export type SpecKind = 'retriever' | 'policy' | 'reranker' | 'embedder';

export type Block = { driver: string } & Record<string, unknown>;

/** `onnx:DIR`: a word before the colon, and what follows it. */
export interface PrefixForm {
  /** As in --help: 'onnx:DIR'. */
  readonly form: string;
  /** Throws CONFIG when `rest` cannot be. */
  block(rest: string): Block;
}

const EMBEDDERS: Readonly<Record<string, Block>> = { lsa: { driver: 'lsa' } };

const EMBEDDER_PREFIXES: Readonly<Record<string, PrefixForm>> = {
  onnx: { form: 'onnx:DIR', block: (path) => ({ driver: 'onnx', path }) },
};

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
};

/** `prefix:REST` forms by their prefix. */
export const PREFIXES: Readonly<Record<SpecKind, Readonly<Record<string, PrefixForm>>>> = {
  retriever: {
    ...mapValues(EMBEDDER_PREFIXES, ({ form, block }) => ({ form, block: (rest: string) => dense(block(rest)) })),
    colbert: {
      form: 'colbert:DIR',
      block: (path) => ({ driver: 'late-interaction', embedder: { driver: 'onnx', path } }),
    },
  },
  embedder: EMBEDDER_PREFIXES,
  policy: {},
  reranker: { onnx: { form: 'onnx:DIR', block: (path) => ({ driver: 'onnx', path }) } },
};

/** Names that the command line reserves and this version does not carry, so that the error can say so instead of 'unknown'. */
export const RESERVED: Readonly<Record<SpecKind, readonly string[]>> = {
  retriever: ['text-embedding-3-small', 'text-embedding-3-large', 'http:', 'https:', 'fusion:'],
  embedder: ['openai:', 'tei:', 'cohere:', 'voyage:', 'jina:'],
  policy: ['lm:', 'openai:', 'anthropic:', 'chat:'],
  reranker: ['tei:', 'cohere:', 'jina:', 'voyage:', 'lm:', 'chat:'],
};

function mapValues<A, B>(table: Readonly<Record<string, A>>, map: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, map(value)]));
}
