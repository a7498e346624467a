import { DocOptError } from '../../src/errors.ts';
import type { IndexText, Query } from '../../src/types.ts';

/** The same complaints from every retriever. */
export function unknownDocument(id: string): DocOptError {
  return new DocOptError('NOT_FOUND', `document '${id}' is not in the index.`, {
    hint: 'Ids are compared exactly, upper and lower case included. Was the index built from this corpus?',
  });
}

export function checkDepth(k: number): void {
  if (Number.isSafeInteger(k) && k >= 0) return;
  throw new DocOptError('USAGE', `a search depth of ${k} is no whole number >= 0.`);
}

/** The arguments of searchReplacing: one list of queries for each replacement. */
export function checkSwaps(
  replacements: readonly IndexText[],
  queries: readonly (readonly Query[])[],
  k: number,
): void {
  checkDepth(k);
  if (queries.length === replacements.length) return;
  throw new DocOptError('INTERNAL', `${replacements.length} replacements came with ${queries.length} query lists.`);
}
