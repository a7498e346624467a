import type { Document } from '../types.ts';

/** What a row of a rewritten corpus says beside the text to index. */
export interface RewriteFacts {
  /** sha256 of the text that was rewritten, hex. Its presence marks the row as a rewrite. */
  readonly sourceHash: string;
  readonly status: 'rewritten' | 'kept' | 'failed';
  readonly reason: string;
  /** Fingerprint of the policy. */
  readonly policy: string;
}

/**
 * The row that parseDocumentRow reads back with both faces: `text` is what to index, the original lies under `docopt`,
 * the user's metadata stays as it was.
 */
export function formatRewrittenRow(original: Document, indexText: string, facts: RewriteFacts): string {
  const { id, title, text, metadata } = original;
  return JSON.stringify({
    _id: id,
    title: '',
    text: indexText,
    ...(metadata === undefined ? {} : { metadata }),
    docopt: { title, text, ...facts },
  });
}
