/** What an export hands out: documents with both faces, in corpus order, and the ids that are to go. Types only. */

/** A document as somebody else's engine gets it. */
export interface ExportedDocument {
  readonly id: string;
  /** Of the original; '' when it has none. */
  readonly title: string;
  /** The original: what people and generators get back. */
  readonly text: string;
  /** The rewrite: what is to be searched. */
  readonly searchText: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Unit length. Absent without --vectors, and for a text without direction. */
  readonly vector?: Float32Array;
}

/** Names that the target uses. */
export interface ExportFields {
  readonly searchText: string;
  readonly text: string;
  readonly vector: string;
}

export interface Export {
  /** How many documents `documents()` gives. */
  readonly upserts: number;
  /** Ids to delete, ascending; only in an export of changes. */
  readonly deletes: readonly string[];
  /** Changes since an earlier corpus: rows say which operation they are. */
  readonly isChange: boolean;
  readonly fields: ExportFields;
  /** Index, collection or table. */
  readonly name: string;
  /** Width of the vectors; undefined when there are none. */
  readonly dimensions?: number;
  documents(): AsyncIterable<ExportedDocument>;
}
