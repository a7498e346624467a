/** Candidate edits by document, remembered while they fit: a training asks for the same few hundred documents again and again. */
import type { Analyzer } from '../../../text/mod.ts';
import type { IndexText } from '../../../types.ts';
import { documentTerms } from './document-terms.ts';
import type { EditSet } from './edits.ts';
import type { Knowledge } from './knowledge.ts';
import type { Operation } from './operations.ts';
import { proposeEdits } from './propose-edits.ts';
import { rememberWords } from './remember-words.ts';

export interface Candidates {
  readonly analyzer: Analyzer;
  readonly operations: readonly Operation[];
  readonly knowledge: Knowledge;
  of(document: IndexText): EditSet;
}

/** About 300 MB of packed features. */
const MAX_REMEMBERED_EDITS = 2_000_000;

export function createCandidates(
  knowledge: Knowledge,
  analyzer: Analyzer,
  operations: readonly Operation[],
): Candidates {
  const analyze = rememberWords(analyzer.analyze);
  const wanted = new Set(operations);
  const remembered = new Map<string, { text: string; set: EditSet }>();
  let edits = 0;
  return {
    analyzer,
    operations,
    knowledge,
    of({ id, text }) {
      const known = remembered.get(id);
      if (known?.text === text) return known.set;
      const fold = knowledge.foldOf.get(id);
      const table = fold === undefined ? knowledge.translation.all : knowledge.translation.folds[fold];
      const set = proposeEdits(documentTerms(text, analyze), knowledge, table, analyze, wanted);
      if (known !== undefined) edits -= known.set.edits.length;
      if (edits + set.edits.length > MAX_REMEMBERED_EDITS) {
        remembered.clear();
        edits = 0;
      }
      remembered.set(id, { text, set });
      edits += set.edits.length;
      return set;
    },
  };
}
