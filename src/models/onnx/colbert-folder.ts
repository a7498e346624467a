/**
 * What a ColBERT folder says of itself: `artifact.metadata` of colbert-ai (ColBERTv2, Jina-ColBERT-v2, answerai-colbert), or
 * `config_sentence_transformers.json` of PyLate. Options win over it.
 */
import { DocOptError } from '../../errors.ts';
import { countIn, readFolderJson } from './folder-json.ts';

export interface ColbertConventions {
  /** A token put after the first special one. */
  readonly queryMarker: string;
  readonly documentMarker: string;
  /** Special tokens and marker included. */
  readonly queryTokens: number;
  readonly documentTokens: number;
  /** Vectors of punctuation in documents are dropped. */
  readonly maskPunctuation: boolean;
  /** Query augmentation: queries are filled up with mask tokens, whose vectors count. */
  readonly expandQuery: boolean;
  /** Whether the other tokens look at those mask tokens. */
  readonly attendToExpansion: boolean;
}

/** CONFIG when nothing says what the markers are. */
export function colbertConventions(folder: string, options: Partial<ColbertConventions>): ColbertConventions {
  const colbert = readFolderJson(folder, 'artifact.metadata');
  const pylate = readFolderJson(folder, 'config_sentence_transformers.json');
  const text = (key: string, other: string): string | undefined => {
    const value = colbert?.[key] ?? pylate?.[other];
    return typeof value === 'string' ? value.trim() : undefined;
  };
  const flag = (...values: readonly unknown[]): boolean | undefined =>
    values.find((value): value is boolean => typeof value === 'boolean');
  const queryMarker = options.queryMarker ?? text('query_token_id', 'query_prefix');
  const documentMarker = options.documentMarker ?? text('doc_token_id', 'document_prefix');
  if (queryMarker === undefined || documentMarker === undefined) {
    throw new DocOptError('CONFIG', `${folder} does not say which tokens mark queries and documents`, {
      hint: 'It has no artifact.metadata. Say so: queryMarker=[unused0],documentMarker=[unused1] for ColBERTv2 and its kin.',
    });
  }
  return {
    queryMarker,
    documentMarker,
    // The lengths of DocOpt's experiments (A.5.1), where the folder has none.
    queryTokens: options.queryTokens ?? countIn(colbert, 'query_maxlen') ?? countIn(pylate, 'query_length') ?? 64,
    documentTokens:
      options.documentTokens ?? countIn(colbert, 'doc_maxlen') ?? countIn(pylate, 'document_length') ?? 524,
    maskPunctuation: flag(options.maskPunctuation, colbert?.mask_punctuation) ?? true,
    expandQuery: flag(options.expandQuery, pylate?.do_query_expansion, colbert?.do_query_expansion) ?? true,
    attendToExpansion:
      flag(options.attendToExpansion, colbert?.attend_to_mask_tokens, pylate?.attend_to_expansion_tokens) ?? false,
  };
}
