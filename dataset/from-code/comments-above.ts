import type { AstComment } from './ast.ts';
import { isDirective } from './comment.ts';

/**
 * The comment that stands directly above (or before, on one line) one of the anchors, as text without markers. Anchors are
 * tried in order. Comments for tools between it and the function are passed over; a blank line cuts the tie.
 */
export function commentsAbove(
  text: string,
  comments: readonly AstComment[],
  anchors: readonly number[],
  needs: 'comment' | 'doc comment',
): string[] {
  const found: string[] = [];
  for (const anchor of anchors) {
    const comment = commentBefore(text, comments, anchor, needs);
    if (comment !== undefined && !found.includes(comment)) found.push(comment);
  }
  return found;
}

function commentBefore(
  text: string,
  comments: readonly AstComment[],
  anchor: number,
  needs: string,
): string | undefined {
  let i = lastEndingBy(comments, anchor);
  let at = anchor;
  while (i >= 0 && isAttached(text, comments[i], at)) {
    const comment = comments[i];
    if (comment.type === 'CommentBlock') {
      if (!isDirective(comment.value)) {
        const isDoc = comment.value.startsWith('*');
        if (needs === 'doc comment' && !isDoc) return undefined;
        return isDoc || standsAlone(text, comment) ? withoutStars(comment.value) : undefined;
      }
      at = comment.start;
      i--;
      continue;
    }
    // Line comments that follow each other are one comment; those for tools among them are left out.
    const lines: string[] = [];
    const below = at;
    while (
      i >= 0 &&
      comments[i].type === 'CommentLine' &&
      isAttached(text, comments[i], at) &&
      standsAlone(text, comments[i])
    ) {
      if (!isDirective(comments[i].value.replace(/^\/+/, ''))) lines.unshift(comments[i].value.replace(/^[/!]+/, ''));
      at = comments[i].start;
      i--;
    }
    if (lines.length > 0) return needs === 'doc comment' ? undefined : lines.join('\n');
    if (at === below) return undefined;
  }
  return undefined;
}

/** Only blanks and at most one line break between the comment and what it is attached to. */
function isAttached(text: string, comment: AstComment, at: number): boolean {
  const gap = text.slice(comment.end, at);
  return gap.trim() === '' && gap.split('\n').length <= 2;
}

/** Nothing else stands before it on its line: `foo(); // this` belongs to foo. */
function standsAlone(text: string, comment: AstComment): boolean {
  const lineStart = text.lastIndexOf('\n', comment.start - 1) + 1;
  return text.slice(lineStart, comment.start).trim() === '';
}

function withoutStars(value: string): string {
  const lines = value
    .replace(/^[*!]+/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\*+(?: |(?=\s|$)|(?=[^\s*/]))/, ''));
  let end = lines.length;
  while (end > 0 && /^[\s*]*$/.test(lines[end - 1])) end--;
  return lines.slice(0, end).join('\n');
}

function lastEndingBy(comments: readonly AstComment[], position: number): number {
  let low = 0;
  let high = comments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (comments[middle].end <= position) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
