/**
 * Counterfactual search by doing it: put the replacement into the corpus, build the index again, search. Works for any
 * retriever, needs no insight into its scores, and costs a build per replacement. It is the oracle that every faster
 * searchReplacing is tested against, and the way out for engines that cannot replace a document.
 */
import { DocOptError } from '../../src/errors.ts';
import type { RetrievalIndex, Retriever } from '../../src/ports.ts';
import type { Corpus, IndexText, Query, Ranking } from '../../src/types.ts';
import { unknownDocument } from './checks.ts';

export function createRebuildRetriever(inner: Retriever): Retriever {
  return {
    id: `rebuild(${inner.id})`,
    async build(corpus) {
      const index = await inner.build(corpus);
      return {
        size: index.size,
        search: (queries, k) => index.search(queries, k),
        similarities: (queries, ids) => index.similarities(queries, ids),
        searchReplacing: (replacements, queries, k) => searchByRebuilding(inner, corpus, replacements, queries, k),
        save: (artefact) => index.save(artefact),
      };
    },
    /** An opened artefact holds no texts to rebuild from, so the index answers everything but searchReplacing. */
    async open(artefact) {
      const index = await inner.open(artefact);
      return { ...passOn(index), searchReplacing: refuseWithoutTexts };
    },
  };
}

/** searchReplacing for any retriever whose corpus is at hand. Builds once per replacement, one at a time. */
export async function searchByRebuilding(
  retriever: Retriever,
  corpus: Corpus,
  replacements: readonly IndexText[],
  queries: readonly (readonly Query[])[],
  k: number,
): Promise<Ranking[][]> {
  const answers: Ranking[][] = [];
  for (let i = 0; i < replacements.length; i++) {
    const position = corpus.positionOf(replacements[i].id);
    if (position === undefined) throw unknownDocument(replacements[i].id);
    const index = await retriever.build(withText(corpus, position, replacements[i].text));
    answers.push(await index.search(queries[i], k));
  }
  return answers;
}

/** The corpus with one index text replaced; shares everything else. */
export function withText(corpus: Corpus, position: number, text: string): Corpus {
  return {
    size: corpus.size,
    ids: corpus.ids,
    positionOf: (id) => corpus.positionOf(id),
    original: (at) => corpus.original(at),
    indexText: (at) => (at === position ? text : corpus.indexText(at)),
  };
}

export async function refuseWithoutTexts(): Promise<never> {
  throw new DocOptError('USAGE', 'this index was opened from an artefact and holds no texts to rebuild it from.', {
    hint: 'Build it from the corpus, or use the bm25 driver, which replaces documents exactly without a rebuild.',
  });
}

function passOn(index: RetrievalIndex): Omit<RetrievalIndex, 'searchReplacing'> {
  return {
    size: index.size,
    search: (queries, k) => index.search(queries, k),
    similarities: (queries, ids) => index.similarities(queries, ids),
    save: (artefact) => index.save(artefact),
  };
}
