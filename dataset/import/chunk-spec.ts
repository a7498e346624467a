import { DocOptError } from '../../src/errors.ts';

/** How a document is cut. */
export type ChunkSpec =
  | { readonly by: 'none' | 'headings' }
  | { readonly by: 'tokens'; readonly tokens: number; readonly overlap: number }
  | { readonly by: 'sentences'; readonly sentences: number };

/** `none`, `headings`, `tokens:400`, `tokens:400/50`, `sentences:5`. Throws USAGE. */
export function parseChunkSpec(text: string): ChunkSpec {
  if (text === 'none' || text === 'headings') return { by: text };
  const [, by, count, overlap = '0'] = /^(tokens|sentences):(\d{1,7})(?:\/(\d{1,7}))?$/.exec(text) ?? [];
  if (by === 'sentences' && Number(count) >= 1 && overlap === '0') return { by, sentences: Number(count) };
  if (by === 'tokens' && Number(count) >= 1) {
    if (Number(overlap) < Number(count)) return { by, tokens: Number(count), overlap: Number(overlap) };
    throw new DocOptError('USAGE', `--chunk ${text}: an overlap of ${overlap} leaves nothing new in ${count} tokens`, {
      hint: 'The overlap must be smaller than the chunk, e.g. --chunk tokens:400/50',
    });
  }
  throw new DocOptError('USAGE', `--chunk ${text} is not understood`, {
    hint: 'Expected none, headings, tokens:400/50 (tokens and overlap) or sentences:5.',
  });
}
