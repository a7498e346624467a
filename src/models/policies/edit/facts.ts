/** The facts about one candidate word in one document, in the order of FACTS. */
import type { DocumentTerms } from './document-terms.ts';
import type { Evidence } from './evidence.ts';
import { FACTS, type Fact } from './features.ts';
import type { Knowledge } from './knowledge.ts';
import { priorOf } from './translation.ts';

export interface Candidate {
  readonly word: string;
  /** The index term that the word becomes. */
  readonly term: string;
  /** Features of the templates and kinds of name behind it. */
  readonly tags: readonly string[];
  /** Further operations that would add it. */
  readonly others: number;
}

/** Values are of the order of 1, so that one learning rate suits all weights. */
export function factsOf(
  { term, word, others }: Candidate,
  document: DocumentTerms,
  knowledge: Knowledge,
  evidence: Evidence,
): Float64Array {
  const { table, translations } = evidence;
  const df = knowledge.frequencies.get(term) ?? 1;
  const size = Math.max(1, knowledge.documents);
  const tf = document.counts.get(term) ?? 0;
  const prior = priorOf(table, term);
  const probability = translations.get(term);
  const self = evidence.self.get(term);
  const facts: Record<Fact, number> = {
    bias: 1,
    idf: Math.log((size + 1) / (df + 0.5)) / Math.log(size + 2),
    inDocument: tf > 0 ? 1 : 0,
    tf: Math.log1p(tf),
    inName: document.nameTerms.has(term) ? 1 : 0,
    digit: /^\p{N}+$/u.test(word) ? 1 : 0,
    short: word.length <= 2 ? 1 : 0,
    length: clip(Math.log((document.length + 1) / (knowledge.averageLength + 1)), 2),
    lift: probability === undefined ? 0 : clip(Math.log(probability / prior), 3) / 2,
    association: probability === undefined ? 0 : perMille(probability),
    rank: probability === undefined ? 0 : 1 / evidence.ranks.get(term)!,
    queryShare: prior === 0 ? 0 : perMille(prior),
    inQueries: prior === 0 ? 0 : 1,
    selfLift: self === undefined ? 0 : clip(Math.log(self / priorOf(knowledge.self, term)), 3) / 2,
    agreement: others,
  };
  return Float64Array.from(FACTS, (fact) => facts[fact]);
}

/** 0 at a thousandth, about 1 at 5 %. */
function perMille(probability: number): number {
  return clip(Math.log(probability * 1000) / 4, 2);
}

function clip(value: number, limit: number): number {
  return Math.max(-limit, Math.min(limit, value));
}
