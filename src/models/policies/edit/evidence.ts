/** What the two tables say of one document, computed once for all its candidates. */
import type { DocumentTerms } from './document-terms.ts';
import type { Knowledge } from './knowledge.ts';
import { priorOf, type TranslationTable, translate } from './translation.ts';

export interface Evidence {
  readonly table: TranslationTable;
  /** p(term in the query | document), for the terms that something in the document speaks for. */
  readonly translations: ReadonlyMap<string, number>;
  /** Those terms, best first by what adding them is worth. */
  readonly ranked: readonly string[];
  /** 1-based place in `ranked`. */
  readonly ranks: ReadonlyMap<string, number>;
  /** The same from bodies to names. */
  readonly self: ReadonlyMap<string, number>;
  readonly selfRanked: readonly string[];
}

export function evidenceOf(document: DocumentTerms, knowledge: Knowledge, table: TranslationTable): Evidence {
  const translations = translate(table, document.sources);
  const self = translate(knowledge.self, document.sources);
  const ranked = byWorth(table, translations);
  return {
    table,
    translations,
    ranked,
    ranks: new Map(ranked.map((term, i) => [term, i + 1])),
    self,
    selfRanked: byWorth(knowledge.self, self),
  };
}

/**
 * By how much likelier a term is here than elsewhere, times its weight in a query: (p - prior) log 1/prior. Probability
 * alone would propose the words of every query; the ratio alone, words seen once.
 */
function byWorth(table: TranslationTable, probabilities: ReadonlyMap<string, number>): string[] {
  return [...probabilities]
    .map(([term, probability]): [string, number] => {
      const prior = priorOf(table, term);
      return [term, (probability - prior) * -Math.log(prior)];
    })
    .sort((a, b) => b[1] - a[1])
    .map(([term]) => term);
}
