/** A document as its source has it, before it has a proper id and before it is cut into chunks. */
export interface SourceDocument {
  /** What the source itself calls it; undefined when it does not say. */
  readonly id: string | undefined;
  /** Below the folder, where the file is the document. */
  readonly path?: string;
  readonly title: string;
  readonly text: string;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  readonly file: string;
  /** 1-based; null where the file is the document. */
  readonly line: number | null;
  /** `markdown`: lines with # are headings, as also those are that HTML is reduced to. */
  readonly structure: 'markdown' | 'plain';
}
