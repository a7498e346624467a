/** A document as the operations and tables see it. */
import { expansions } from './abbreviations.ts';
import { identifierParts, type Scan, scanCode } from './scan.ts';
import type { Template } from './template.ts';
import { triggeredTemplates } from './templates.ts';
import type { Source } from './translation.ts';

export type Analyze = (text: string) => string[];

export interface DocumentTerms {
  readonly scan: Scan;
  readonly templates: readonly Template[];
  /** Index terms with their counts. */
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
  /** Terms of the words inside defined names. */
  readonly nameTerms: ReadonlySet<string>;
  /** What the tables translate from: words of names, terms of the body, expanded abbreviations, constructs. */
  readonly sources: readonly Source[];
}

/** What stands behind them is indexed but not looked at: bounds the time for a 2 MB bundle. */
const READ_CHARACTERS = 100_000;
/** Sources of a long document are its most frequent terms: a bundle of 10,000 terms would translate to everything. */
const MAX_BODY_SOURCES = 256;

export function documentTerms(text: string, analyze: Analyze): DocumentTerms {
  const read = text.length > READ_CHARACTERS ? text.slice(0, READ_CHARACTERS) : text;
  const scan = scanCode(read);
  const templates = triggeredTemplates(read);
  const counts = new Map<string, number>();
  const terms = analyze(read);
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  const nameTerms = new Set(scan.names.flatMap((name) => name.parts.flatMap((part) => analyze(part))));
  return {
    scan,
    templates,
    counts,
    length: terms.length,
    nameTerms,
    sources: sourcesOf(scan, templates, counts, nameTerms, analyze),
  };
}

function sourcesOf(
  scan: Scan,
  templates: readonly Template[],
  counts: ReadonlyMap<string, number>,
  names: ReadonlySet<string>,
  analyze: Analyze,
): Source[] {
  const body = new Set(counts.keys());
  const expanded = new Set<string>();
  for (const [identifier] of scan.identifiers) {
    for (const part of identifierParts(identifier)) {
      for (const term of analyze(part)) body.add(term);
      for (const word of expansions(part)) for (const term of analyze(word)) expanded.add(term);
    }
  }
  let rest = [...body].filter((term) => !names.has(term));
  if (rest.length > MAX_BODY_SOURCES) {
    const count = (term: string): number => counts.get(term) ?? 0;
    rest = rest.sort((a, b) => count(b) - count(a)).slice(0, MAX_BODY_SOURCES);
  }
  const terms = (kind: Source['kind'], list: Iterable<string>): Source[] =>
    Array.from(list, (term) => ({ kind, term, copies: [term] }));
  return [
    ...terms('name', names),
    ...terms('body', rest),
    ...terms(
      'abbr',
      [...expanded].filter((term) => !names.has(term)),
    ),
    ...templates.map(
      ({ id, words }): Source => ({ kind: 'verb', term: `verb:${id}`, copies: words.flatMap((word) => analyze(word)) }),
    ),
  ];
}
