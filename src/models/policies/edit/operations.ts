/**
 * The kinds of edit there are, in order of precedence: when two operations would add the same term to a document, the
 * earlier one proposes it and the features say who else would have.
 */
export const OPERATIONS = ['title', 'abbr', 'verb', 'split', 'trans', 'self', 'morph', 'rep'] as const;

export type Operation = (typeof OPERATIONS)[number];

/** What each operation does, for reports and --help. */
export const OPERATION_NOTES: Readonly<Record<Operation, string>> = {
  title: 'words of the names that the code defines, or calls when it defines none',
  abbr: 'expanded abbreviations: idx -> index',
  verb: 'natural words for code constructs: % 2 == 0 -> even',
  split: 'words inside identifiers that the analyzer leaves whole',
  trans: 'words that queries use for what is in the code (IBM Model 1 on the training pairs)',
  self: 'words that names of other definitions use for what is in the code (needs no labels)',
  morph: 'other forms of a word, where the analyzer does not stem',
  rep: 'a word once more: of a short snippet, or of another edit',
};
