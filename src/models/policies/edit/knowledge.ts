/** What the candidates of a document are built from: fitted once, kept in the checkpoint, never changed by training. */
import type { TranslationTable } from './translation.ts';

export interface Knowledge {
  /** Documents that the statistics come from. */
  readonly documents: number;
  readonly averageLength: number;
  /** Documents that contain a term; terms of one document only are left out. */
  readonly frequencies: ReadonlyMap<string, number>;
  /** How people write a term: its most frequent word in the training queries, else in the corpus. */
  readonly surfaces: ReadonlyMap<string, string>;
  /** Words of the corpus' names by their Porter stem, for other forms of a word. */
  readonly families: ReadonlyMap<string, readonly string[]>;
  /** Document terms to query words. folds[f] has not seen the documents of fold f. Empty without labels. */
  readonly translation: { readonly all: TranslationTable; readonly folds: readonly TranslationTable[] };
  /** Fold of every document that has a training query. */
  readonly foldOf: ReadonlyMap<string, number>;
  /** Document terms to words of the names it defines. */
  readonly self: TranslationTable;
}
