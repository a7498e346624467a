import type { Analyzer } from '../../../text/mod.ts';
import type { Texts } from '../../embedders/mod.ts';

/** What the scorer knows of the whole collection. */
export interface TermStatistics {
  readonly documents: number;
  readonly averageLength: number;
  /** Terms of at least two documents; the others all weigh the same, see `idf`. */
  readonly documentFrequencies: ReadonlyMap<string, number>;
}

export function termStatistics(texts: Texts, analyzer: Analyzer): TermStatistics {
  const seen = new Map<string, number>();
  let tokens = 0;
  for (let i = 0; i < texts.length; i++) {
    const terms = analyzer.analyze(texts.at(i) ?? '');
    tokens += terms.length;
    for (const term of new Set(terms)) seen.set(term, (seen.get(term) ?? 0) + 1);
  }
  for (const [term, df] of seen) if (df < 2) seen.delete(term);
  return {
    documents: texts.length,
    averageLength: texts.length === 0 ? 1 : Math.max(1, tokens / texts.length),
    documentFrequencies: seen,
  };
}

/** Lucene's idf. A term of one document or of none weighs as one of one document. */
export function idf(statistics: TermStatistics, term: string): number {
  const df = statistics.documentFrequencies.get(term) ?? 1;
  const n = Math.max(statistics.documents, df);
  return Math.log(1 + (n - df + 0.5) / (df + 0.5));
}
