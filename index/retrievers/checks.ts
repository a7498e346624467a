import { DocOptError } from '../../src/errors.ts';

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
