/** The policy for whoever names none: what was measured to help this kind of retriever on this kind of text, and why. */
import type { PolicySpec, RetrieverSpec } from '../../src/config/specs.ts';
import type { Dataset } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import type { Operation } from '../../src/models/policies/mod.ts';
import { detectDomain } from '../../src/text/prose.ts';

export interface DefaultPolicy {
  readonly policy: PolicySpec;
  /** For the log. */
  readonly why: string;
}

/** Looked at evenly through the collection, whose order may be by kind. */
const LOOKED_AT = 1000;

/**
 * Words that the code itself has, spelled out. Words that queries use for it (trans) cost sentence encoders 4 to 7 points of
 * nDCG@5 wherever they were measured, and a word once more (rep) means nothing to them (docs/training.md).
 */
const FOR_ENCODERS: readonly Operation[] = ['title', 'abbr', 'verb', 'split'];

/** Throws USAGE on prose, where no embedded policy helps. */
export function defaultPolicy(
  retriever: RetrieverSpec,
  { corpus }: Pick<Dataset, 'corpus'>,
  dev: number,
): DefaultPolicy {
  const count = Math.min(LOOKED_AT, corpus.size);
  const texts = Array.from({ length: count }, (_, i) => corpus.indexText(Math.floor((i * corpus.size) / count)));
  const { domain, share } = detectDomain(texts);
  if (domain !== 'code') throw onProse(share);
  if (!isEncoder(retriever)) {
    return { policy: { driver: 'edit' }, why: 'these documents read as code, and the retriever looks at words' };
  }
  const guard =
    dev > 0
      ? 'the dev queries decide whether any rewrite is kept'
      : 'without dev queries (--dev) nothing keeps the originals where rewrites are worse';
  return {
    policy: { driver: 'edit', operations: [...FOR_ENCODERS] },
    why:
      'these documents read as code. Neural encoders gain little or nothing from added words (docs/training.md has what was measured), ' +
      `so the operations that cost them most are left out, and ${guard}. ` +
      'A language model that describes the code is the stronger choice: --policy lm:MODEL, openai:MODEL, anthropic:MODEL or chat:URL#MODEL',
  };
}

/** Whether only a neural model reads the text: `lsa` counts words, and one lexical part of a fusion is enough to reward them. */
function isEncoder(retriever: RetrieverSpec): boolean {
  switch (retriever.driver) {
    case 'dense':
      return retriever.embedder.driver !== 'lsa';
    case 'late-interaction':
      return true;
    case 'fusion':
      return retriever.retrievers.every(isEncoder);
    case 'bm25':
    case 'wink':
    case 'http':
      return false;
    default:
      throw new Error(`unknown retriever ${retriever satisfies never}`);
  }
}

function onProse(share: number): DocOptError {
  return new DocOptError(
    'USAGE',
    `which policy? These documents read as prose (${Math.round(100 * share)} % of those looked at are code), and the edit policy helps on code only`,
    {
      hint:
        'Ways on: --policy edit trains it all the same; compare analyzers and --retriever lsa with docopt eval; `morph serve` ' +
        'spends a reranker on the answers. --policy lm:MODEL, openai:MODEL, anthropic:MODEL or chat:URL#MODEL rewrites with a language model.',
    },
  );
}
