/**
 * The candidate edits of one document. Operations propose words in order of precedence; a term is added by one edit
 * only, and its features tell which other operations agree.
 */
import { stemmer } from 'stemmer';
import { ABBREVIATIONS } from './abbreviations.ts';
import type { DocumentTerms } from './document-terms.ts';
import type { Edit, EditSet } from './edits.ts';
import { type Fact, factIndex, featureIndex } from './features.ts';
import type { Knowledge } from './knowledge.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { identifierParts } from './scan.ts';
import { priorOf, type TranslationTable, translate } from './translation.ts';

export type Analyze = (text: string) => string[];

export const LIMITS: Readonly<Record<Operation, number>> = {
  title: 32,
  abbr: 24,
  verb: 96,
  split: 24,
  trans: 32,
  self: 16,
  morph: 24,
  rep: 16,
};

interface Candidate {
  readonly operation: Operation;
  readonly word: string;
  readonly term: string;
  /** Features of single templates or kinds of name. */
  readonly tags: Set<string>;
  others: number;
}

export function proposeEdits(
  document: DocumentTerms,
  knowledge: Knowledge,
  table: TranslationTable,
  analyze: Analyze,
  operations: ReadonlySet<Operation>,
): EditSet {
  const translations = translate(table, document.sources);
  const names = translate(knowledge.self, document.sources);
  const proposals = propose(document, knowledge, table, translations, names, analyze);
  const candidates = new Map<string, Candidate>();
  for (const operation of OPERATIONS) {
    if (!operations.has(operation)) continue;
    const mine = new Set<string>();
    for (const [word, tag] of proposals[operation]()) {
      const term = analyze(word)[0];
      if (term === undefined) continue;
      const known = candidates.get(term);
      if (known !== undefined) {
        if (!mine.has(term)) known.others++;
        mine.add(term);
        if (tag !== '') known.tags.add(tag);
        continue;
      }
      if (mine.size >= LIMITS[operation]) continue;
      mine.add(term);
      candidates.set(term, { operation, word, term, tags: new Set(tag === '' ? [] : [tag]), others: 0 });
    }
  }
  const ranks = new Map([...translations].sort((a, b) => b[1] - a[1]).map(([word], i) => [word, i + 1]));
  return pack([...candidates.values()], (candidate) =>
    facts(candidate, document, knowledge, table, translations, ranks, names),
  );
}

type Proposal = readonly [word: string, tag: string];

function propose(
  document: DocumentTerms,
  knowledge: Knowledge,
  table: TranslationTable,
  translations: ReadonlyMap<string, number>,
  names: ReadonlyMap<string, number>,
  analyze: Analyze,
): Record<Operation, () => Iterable<Proposal>> {
  const { scan, counts } = document;
  const inDocument = (word: string): boolean => analyze(word).every((term) => counts.has(term));
  const surface = (term: string): string => knowledge.surfaces.get(term) ?? term;
  return {
    *title() {
      for (const name of scan.names) for (const part of name.parts) yield [part, `name:${name.kind}`];
    },
    *abbr() {
      for (const part of allParts(document)) {
        const expansion = ABBREVIATIONS[part] ?? ABBREVIATIONS[part.replace(/\d+$/, '')];
        if (expansion !== undefined) for (const word of expansion.split(' ')) yield [word, ''];
      }
    },
    *verb() {
      for (const { id, words } of document.templates) for (const word of words) yield [word, `verb:${id}`];
    },
    *split() {
      for (const part of allParts(document)) if (part.length > 1 && !inDocument(part)) yield [part, ''];
    },
    *trans() {
      for (const [term] of topBy(translations, LIMITS.trans)) yield [surface(term), ''];
    },
    *self() {
      for (const [term] of topBy(names, LIMITS.self)) yield [surface(term), ''];
    },
    *morph() {
      for (const name of scan.names) {
        for (const part of name.parts) {
          const stem = stemmer(part);
          for (const form of knowledge.families.get(stem) ?? []) if (!inDocument(form)) yield [form, ''];
          for (const term of targetsByStem(table).get(stem) ?? [])
            if (!inDocument(surface(term))) yield [surface(term), ''];
        }
      }
    },
    *rep() {
      if (document.length > 80) return;
      for (const [term] of topBy(counts, LIMITS.rep)) yield [surface(term), ''];
    },
  };
}

function* allParts(document: DocumentTerms): Iterable<string> {
  for (const [identifier] of document.scan.identifiers) yield* identifierParts(identifier);
}

/** The best n by value; equal values stay in order of appearance. */
function topBy(values: ReadonlyMap<string, number>, n: number): [string, number][] {
  return [...values].sort((a, b) => b[1] - a[1]).slice(0, n);
}

function facts(
  { term, word, others }: Candidate,
  document: DocumentTerms,
  knowledge: Knowledge,
  table: TranslationTable,
  translations: ReadonlyMap<string, number>,
  ranks: ReadonlyMap<string, number>,
  names: ReadonlyMap<string, number>,
): Record<Fact, number> {
  const df = knowledge.frequencies.get(term) ?? 1;
  const size = Math.max(1, knowledge.documents);
  const tf = document.counts.get(term) ?? 0;
  const prior = priorOf(table, term);
  const probability = translations.get(term);
  const self = names.get(term);
  return {
    bias: 1,
    idf: Math.log((size + 1) / (df + 0.5)) / Math.log(size + 2),
    inDocument: tf > 0 ? 1 : 0,
    tf: Math.log1p(tf),
    inName: document.nameTerms.has(term) ? 1 : 0,
    digit: /^\p{N}+$/u.test(word) ? 1 : 0,
    short: word.length <= 2 ? 1 : 0,
    length: clip(Math.log((document.length + 1) / (knowledge.averageLength + 1)), 2),
    lift: probability === undefined ? 0 : clip(Math.log(probability / prior), 3) / 2,
    association: probability === undefined ? 0 : clip(Math.log(probability * 1000) / 4, 2),
    rank: probability === undefined ? 0 : 1 / ranks.get(term)!,
    queryShare: prior === 0 ? 0 : clip(Math.log(prior * 1000) / 4, 2),
    inQueries: prior === 0 ? 0 : 1,
    selfLift: self === undefined ? 0 : clip(Math.log(self / priorOf(knowledge.self, term)), 3) / 2,
    agreement: others,
  };
}

function clip(value: number, limit: number): number {
  return Math.max(-limit, Math.min(limit, value));
}

/** Packs the non-zero features of every candidate, shared and per operation, and the tags it carries. */
function pack(candidates: readonly Candidate[], factsOf: (candidate: Candidate) => Record<Fact, number>): EditSet {
  const edits: Edit[] = [];
  const offsets = new Int32Array(candidates.length + 1);
  const indexes: number[] = [];
  const values: number[] = [];
  candidates.forEach((candidate, e) => {
    edits.push({ operation: candidate.operation, text: candidate.word });
    for (const [fact, value] of Object.entries(factsOf(candidate)) as [Fact, number][]) {
      if (value === 0) continue;
      indexes.push(factIndex('any', fact), factIndex(candidate.operation, fact));
      values.push(value, value);
    }
    for (const tag of candidate.tags) {
      const index = featureIndex(tag);
      if (index === undefined) continue;
      indexes.push(index);
      values.push(1);
    }
    offsets[e + 1] = indexes.length;
  });
  return { edits, offsets, indexes: Uint16Array.from(indexes), values: Float32Array.from(values) };
}

const stems = new WeakMap<TranslationTable, Map<string, string[]>>();

/** The table's query terms by Porter stem. From the table, because it alone knows which queries this document may see. */
function targetsByStem(table: TranslationTable): ReadonlyMap<string, readonly string[]> {
  let byStem = stems.get(table);
  if (byStem === undefined) {
    stems.set(table, (byStem = new Map()));
    for (const term of table.targets) {
      const stem = stemmer(term);
      const known = byStem.get(stem);
      if (known === undefined) byStem.set(stem, [term]);
      else known.push(term);
    }
  }
  return byStem;
}
