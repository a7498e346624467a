/**
 * Folds for cross-fitting: a document that has training queries is scored by a table that has seen neither its own
 * queries nor the same query text at another document. Documents that share a query text, directly or through a chain,
 * are one group and go into one fold.
 */
import { createRng, deriveSeed, shuffle } from '../../../kernels/rng.ts';

export function assignFolds(
  pairs: readonly { readonly documentId: string; readonly queryText: string }[],
  folds: number,
  seed: number,
): Map<string, number> {
  const parent = new Map<string, string>();
  const find = (key: string): string => {
    let root = key;
    while (parent.get(root) !== root) root = parent.get(root)!;
    for (let at = key; at !== root; ) {
      const next = parent.get(at)!;
      parent.set(at, root);
      at = next;
    }
    return root;
  };
  const documents: string[] = [];
  for (const { documentId, queryText } of pairs) {
    const document = `d ${documentId}`;
    const query = `q ${queryText.trim().toLowerCase()}`;
    if (!parent.has(document)) {
      parent.set(document, document);
      documents.push(documentId);
    }
    if (!parent.has(query)) parent.set(query, query);
    const a = find(document);
    const b = find(query);
    if (a !== b) parent.set(b, a);
  }

  const groups = new Map<string, string[]>();
  for (const id of documents) {
    const root = find(`d ${id}`);
    const group = groups.get(root);
    if (group === undefined) groups.set(root, [id]);
    else group.push(id);
  }
  // Dealt out like cards after a seeded shuffle, so that folds are of equal size up to the size of a group.
  const foldOf = new Map<string, number>();
  shuffle([...groups.values()], createRng(deriveSeed(seed, 'folds'))).forEach((group, i) => {
    for (const id of group) foldOf.set(id, i % folds);
  });
  return foldOf;
}
