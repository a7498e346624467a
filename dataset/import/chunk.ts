/**
 * Where a text is cut. Chunks cover the whole text in order, white space included: without their overlap they give it back.
 * Tokens are those of the o200k_base vocabulary, counted word by word, each with the white space behind it.
 */
import { sentenceEnds, wordSegments } from '../../src/text/mod.ts';
import type { ChunkSpec } from './chunk-spec.ts';
import { headingPaths, headingsOf } from './headings.ts';

export interface Span {
  readonly start: number;
  readonly end: number;
  /** The titles above it; absent where the text has no structure. */
  readonly headings?: readonly string[];
}

/** Tokens of a piece of text. */
export type CountTokens = (text: string) => number;

/** Cuts a text; always at least one span. `structure` says whether `#` lines are headings; `headings` takes them so always. */
export function chunkText(
  text: string,
  spec: ChunkSpec,
  structure: 'markdown' | 'plain',
  countTokens: CountTokens,
): Span[] {
  switch (spec.by) {
    case 'none':
      return [{ start: 0, end: text.length }];
    case 'headings':
      return sections(text);
    case 'sentences':
      return withHeadings(text, groups(sentenceEnds(text), spec.sentences), structure);
    case 'tokens':
      return withHeadings(text, windows(text, spec, countTokens), structure);
    default:
      throw new Error(`unknown chunking ${JSON.stringify(spec satisfies never)}`);
  }
}

function withHeadings(text: string, spans: readonly Span[], structure: 'markdown' | 'plain'): Span[] {
  if (structure === 'plain') return [...spans];
  const pathAt = headingPaths(headingsOf(text));
  return spans.map(({ start, end }) => ({ start, end, headings: pathAt(start) }));
}

/** From heading to heading; headings with nothing between them begin one section, under the last of them. */
function sections(text: string): Span[] {
  const headings = headingsOf(text);
  const pathAt = headingPaths(headings);
  const spans: Span[] = [];
  let start = 0;
  let title = -1;
  let bodyStart = 0;
  for (const heading of headings) {
    if (text.slice(bodyStart, heading.start).trim() !== '') {
      spans.push({ start, end: heading.start, headings: pathAt(title) });
      start = heading.start;
    }
    title = heading.start;
    bodyStart = heading.end;
  }
  return [...spans, { start, end: text.length, headings: pathAt(title) }];
}

function groups(ends: readonly number[], size: number): Span[] {
  const spans: Span[] = [];
  for (let i = 0; i < ends.length; i += size) {
    spans.push({ start: i === 0 ? 0 : ends[i - 1], end: ends[Math.min(i + size, ends.length) - 1] });
  }
  return spans.length === 0 ? [{ start: 0, end: 0 }] : spans;
}

/** Ends of the smallest pieces: words with the white space behind them; longer ones at word boundaries, at last anywhere. */
function piecesOf(text: string, most: number, countTokens: CountTokens): number[] {
  const ends: number[] = [];
  for (const { 0: piece, index } of text.matchAll(/\s*\S+\s*/gu)) {
    if (countTokens(piece) <= most) ends.push(index + piece.length);
    else cutLong(piece, index, most, countTokens, ends);
  }
  if (ends.length === 0 && text.length > 0) ends.push(text.length);
  return ends;
}

/** Scripts without spaces have their words from the segmenter; a word that is still too long is halved. */
function cutLong(piece: string, offset: number, most: number, countTokens: CountTokens, ends: number[]): void {
  for (const { text: segment, start } of wordSegments(piece)) {
    halve(segment, offset + start, most, countTokens, ends);
  }
}

function halve(part: string, offset: number, most: number, countTokens: CountTokens, ends: number[]): void {
  let middle = part.length >> 1;
  // Never between the halves of a surrogate pair.
  if (middle > 0 && /[\ud800-\udbff]/.test(part[middle - 1])) middle++;
  if (middle === 0 || middle >= part.length || countTokens(part) <= most) {
    ends.push(offset + part.length);
    return;
  }
  halve(part.slice(0, middle), offset, most, countTokens, ends);
  halve(part.slice(middle), offset + middle, most, countTokens, ends);
}

/** As many pieces as fit; the next chunk begins as far back as the overlap and its first new piece allow. */
function windows(
  text: string,
  { tokens: most, overlap }: { readonly tokens: number; readonly overlap: number },
  countTokens: CountTokens,
): Span[] {
  const ends = piecesOf(text, most, countTokens);
  const startOf = (i: number): number => (i === 0 ? 0 : ends[i - 1]);
  const costs = ends.map((end, i) => countTokens(text.slice(startOf(i), end)));
  const spans: Span[] = [];
  for (let first = 0, next = 0; next < ends.length; ) {
    let sum = 0;
    for (let i = first; i < next; i++) sum += costs[i];
    const fresh = next;
    while (next < ends.length && (next === fresh || sum + costs[next] <= most)) sum += costs[next++];
    spans.push({ start: startOf(first), end: ends[next - 1] });
    let shared = 0;
    first = next;
    while (first > fresh && shared + costs[first - 1] <= overlap && shared + costs[first - 1] + costs[next] <= most)
      shared += costs[--first];
  }
  return spans.length === 0 ? [{ start: 0, end: 0 }] : spans;
}
