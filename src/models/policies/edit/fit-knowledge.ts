/** Fits what candidates are built from: statistics of the original texts, and the two translation tables. */

import { stemmer } from 'stemmer';
import { createRng, deriveSeed, shuffle } from '../../../kernels/rng.ts';
import { words } from '../../../text/mod.ts';
import type { Corpus } from '../../../types.ts';
import { assignFolds } from './cross-fit.ts';
import { type Analyze, type DocumentTerms, documentTerms } from './document-terms.ts';
import type { Knowledge } from './knowledge.ts';
import { fitTranslation, type TranslationPair } from './translation.ts';

export interface TrainingPair {
  readonly documentId: string;
  readonly queryText: string;
}

/** A document with labels is seen by a table fitted on four fifths of the others. */
const FOLDS = 5;

const MAX_STATISTICS_DOCUMENTS = 50_000;
const MAX_SELF_PAIRS = 10_000;
/** How people spell a word counts more than how code does. */
const QUERY_SPELLING = 1000;

export function fitKnowledge(
  corpus: Corpus,
  trainingPairs: readonly TrainingPair[],
  analyze: Analyze,
  options: { readonly seed: number },
): Knowledge {
  const positions = samplePositions(corpus.size, MAX_STATISTICS_DOCUMENTS, options.seed);
  const frequencies = new Map<string, number>();
  const families = new Map<string, Map<string, number>>();
  const spelled = new Map<string, Map<string, number>>();
  const selfPairs: TranslationPair[] = [];
  let total = 0;
  const spell = (word: string, weight: number): void => {
    const terms = analyze(word);
    if (terms.length === 1) count(spelled, terms[0], word, weight);
  };
  for (const position of positions) {
    const document = documentTerms(corpus.indexText(position), analyze);
    for (const term of document.counts.keys()) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
    total += document.length;
    for (const name of document.scan.names)
      for (const part of name.parts) {
        spell(part, 1);
        count(families, stemmer(part), part, 1);
      }
    if (selfPairs.length < MAX_SELF_PAIRS) {
      const target = [...definedTerms(document, analyze)];
      if (target.length > 0)
        selfPairs.push({
          source: document.sources.filter((x) => x.kind !== 'name' && !target.includes(x.term)),
          target,
        });
    }
  }
  for (const { queryText } of trainingPairs)
    for (const word of words(queryText)) spell(word.toLowerCase(), QUERY_SPELLING);

  const pairs: (TranslationPair & { documentId: string })[] = [];
  for (const { documentId, queryText } of trainingPairs) {
    const position = corpus.positionOf(documentId);
    if (position === undefined) continue;
    const document = documentTerms(corpus.indexText(position), analyze);
    pairs.push({ documentId, source: document.sources, target: analyze(queryText) });
  }
  const foldOf = assignFolds(trainingPairs, FOLDS, options.seed);
  const folds = Array.from({ length: foldOf.size === 0 ? 0 : FOLDS }, (_, fold) =>
    fitTranslation(pairs.filter((pair) => foldOf.get(pair.documentId) !== fold)),
  );
  return {
    documents: positions.length,
    averageLength: total / Math.max(1, positions.length),
    frequencies: new Map([...frequencies].filter(([, n]) => n > 1)),
    surfaces: new Map([...spelled].map(([term, forms]) => [term, mostFrequent(forms)])),
    families: new Map(
      [...families]
        .filter(([, forms]) => forms.size > 1)
        .map(([stem, forms]) => [
          stem,
          [...forms]
            .sort((a, b) => b[1] - a[1])
            .slice(0, 8)
            .map(([w]) => w),
        ]),
    ),
    translation: { all: fitTranslation(pairs), folds },
    foldOf,
    self: fitTranslation(selfPairs),
  };
}

function definedTerms(document: DocumentTerms, analyze: Analyze): Set<string> {
  const terms = new Set<string>();
  for (const name of document.scan.names) {
    if (name.kind !== 'definition' && name.kind !== 'class') continue;
    for (const part of name.parts) if (part.length > 2) for (const term of analyze(part)) terms.add(term);
  }
  return terms;
}

function samplePositions(size: number, limit: number, seed: number): number[] {
  const all = Array.from({ length: size }, (_, i) => i);
  if (size <= limit) return all;
  return shuffle(all, createRng(deriveSeed(seed, 'statistics')))
    .slice(0, limit)
    .sort((a, b) => a - b);
}

function count(table: Map<string, Map<string, number>>, key: string, value: string, weight: number): void {
  let row = table.get(key);
  if (row === undefined) table.set(key, (row = new Map()));
  row.set(value, (row.get(value) ?? 0) + weight);
}

function mostFrequent(forms: ReadonlyMap<string, number>): string {
  let best = '';
  let most = -1;
  for (const [form, n] of forms) {
    if (n > most || (n === most && form < best)) {
      best = form;
      most = n;
    }
  }
  return best;
}
