/** A document as the operations and tables see it. */

import { ABBREVIATIONS } from './abbreviations.ts';
import { identifierParts, type Scan, scanCode } from './scan.ts';
import type { Template } from './template.ts';
import { triggeredTemplates } from './templates.ts';
import type { Source } from './translation.ts';

export type Analyze = (text: string) => string[];

export interface DocumentTerms {
  readonly text: string;
  readonly scan: Scan;
  readonly templates: readonly Template[];
  /** Index terms with their counts. */
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
  /** Terms of the words inside defined names. */
  readonly nameTerms: ReadonlySet<string>;
  /** What the tables translate from: index terms, words inside identifiers, and constructs as `verb:id`. */
  readonly sources: readonly Source[];
}

/** Sources of a long document are its most frequent terms: a bundle of 10,000 terms translates to everything. */
const MAX_SOURCES = 256;

export function documentTerms(text: string, analyze: Analyze): DocumentTerms {
  const scan = scanCode(text);
  const templates = triggeredTemplates(text);
  const counts = new Map<string, number>();
  const terms = analyze(text);
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  const nameTerms = new Set(scan.names.flatMap((name) => name.parts.flatMap((part) => analyze(part))));
  const sources: Source[] = [];
  const body = new Set(counts.keys());
  const abbr = new Set<string>();
  for (const [identifier] of scan.identifiers) {
    for (const part of identifierParts(identifier)) {
      for (const term of analyze(part)) body.add(term);
      const expansion = ABBREVIATIONS[part] ?? ABBREVIATIONS[part.replace(/\d+$/, '')];
      if (expansion !== undefined) for (const w of expansion.split(' ')) for (const term of analyze(w)) abbr.add(term);
    }
  }
  for (const term of nameTerms) sources.push({ kind: 'name', term, copies: [term] });
  let rest = [...body].filter((t) => !nameTerms.has(t));
  if (rest.length > MAX_SOURCES)
    rest = rest.sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0)).slice(0, MAX_SOURCES);
  for (const term of rest) sources.push({ kind: 'body', term, copies: [term] });
  for (const term of abbr) if (!nameTerms.has(term)) sources.push({ kind: 'abbr', term, copies: [term] });
  for (const { id, words } of templates)
    sources.push({ kind: 'verb', term: `verb:${id}`, copies: words.flatMap((w) => analyze(w)) });
  return { text, scan, templates, counts, length: terms.length, nameTerms, sources };
}
