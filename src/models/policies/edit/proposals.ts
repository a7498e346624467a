/** What each operation would add to a document: words with a tag that says which template or kind of name they come from. */
import { stemmer } from 'stemmer';
import { expansions } from './abbreviations.ts';
import type { Analyze, DocumentTerms } from './document-terms.ts';
import type { Evidence } from './evidence.ts';
import type { Knowledge } from './knowledge.ts';
import type { Operation } from './operations.ts';
import { identifierParts } from './scan.ts';
import type { TranslationTable } from './translation.ts';

/** The tag is the name of a feature, or ''. */
export type Proposal = readonly [word: string, tag: string];

/** Most words of one operation for one document. */
export const LIMITS: Readonly<Record<Operation, number>> = {
  title: 32,
  abbr: 24,
  verb: 96,
  split: 24,
  trans: 12,
  self: 8,
  morph: 24,
  rep: 16,
};

/** Documents of at most this many terms get their own words once more. */
const SHORT_SNIPPET = 80;

export function proposals(
  document: DocumentTerms,
  evidence: Evidence,
  knowledge: Knowledge,
  analyze: Analyze,
): Readonly<Record<Operation, () => Iterable<Proposal>>> {
  const { scan, counts } = document;
  const inDocument = (word: string): boolean => analyze(word).every((term) => counts.has(term));
  const surface = (term: string): string => knowledge.surfaces.get(term) ?? term;
  return {
    *title() {
      for (const name of scan.names) for (const part of name.parts) yield [part, `name:${name.kind}`];
    },
    *abbr() {
      for (const part of identifierWords(document)) for (const word of expansions(part)) yield [word, ''];
    },
    *verb() {
      for (const { id, words } of document.templates) for (const word of words) yield [word, `verb:${id}`];
    },
    *split() {
      for (const part of identifierWords(document)) if (part.length > 1 && !inDocument(part)) yield [part, ''];
    },
    *trans() {
      for (const term of evidence.ranked.slice(0, LIMITS.trans)) yield [surface(term), ''];
    },
    *self() {
      for (const term of evidence.selfRanked.slice(0, LIMITS.self)) yield [surface(term), ''];
    },
    *morph() {
      const queryTerms = targetsByStem(evidence.table);
      for (const name of scan.names) {
        for (const part of name.parts) {
          const stem = stemmer(part);
          for (const form of knowledge.families.get(stem) ?? []) if (!inDocument(form)) yield [form, ''];
          for (const term of queryTerms.get(stem) ?? []) if (!inDocument(surface(term))) yield [surface(term), ''];
        }
      }
    },
    *rep() {
      if (document.length > SHORT_SNIPPET) return;
      const frequent = [...counts].sort((a, b) => b[1] - a[1]).slice(0, LIMITS.rep);
      for (const [term] of frequent) yield [surface(term), ''];
    },
  };
}

function* identifierWords(document: DocumentTerms): Iterable<string> {
  for (const [identifier] of document.scan.identifiers) yield* identifierParts(identifier);
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
