export interface Heading {
  /** Offset of the line it begins on. */
  readonly start: number;
  /** Offset behind its last line. */
  readonly end: number;
  /** 1..6. */
  readonly level: number;
  readonly text: string;
}

const ATX = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const SETEXT = /^ {0,3}(=+|-+)[ \t]*$/;
const NO_PARAGRAPH = /^(?: {4}|\t| {0,3}(?:[-*+>|]|\d+[.)][ \t]|#))/;

/** The headings of a Markdown text in order (`#` and underlined ones), those in fenced code left out. */
export function headingsOf(text: string): Heading[] {
  const headings: Heading[] = [];
  let fence: string | undefined;
  let before: { start: number; text: string } | undefined;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline + 1;
    const line = text.slice(start, end).replace(/\r?\n$/, '');
    const mark = FENCE.exec(line)?.[1];
    const atx = fence === undefined ? ATX.exec(line) : null;
    const underline = fence === undefined && before !== undefined ? SETEXT.exec(line) : null;
    let paragraph: typeof before;
    if (fence !== undefined) {
      if (mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length) fence = undefined;
    } else if (mark !== undefined) fence = mark;
    else if (atx !== null) headings.push({ start, end, level: atx[1].length, text: (atx[2] ?? '').trim() });
    else if (underline !== null)
      headings.push({ start: before!.start, end, level: underline[1][0] === '=' ? 1 : 2, text: before!.text.trim() });
    else if (line.trim() !== '' && !NO_PARAGRAPH.test(line)) paragraph = { start, text: line };
    before = paragraph;
    start = end;
  }
  return headings;
}

/**
 * The titles above an offset, from the outermost in: the path of the last heading that begins at or before it. One pass:
 * the offsets asked for must ascend.
 */
export function headingPaths(headings: readonly Heading[]): (offset: number) => string[] {
  const path: Heading[] = [];
  let next = 0;
  return (offset) => {
    for (; next < headings.length && headings[next].start <= offset; next++) {
      while (path.length > 0 && path.at(-1)!.level >= headings[next].level) path.pop();
      path.push(headings[next]);
    }
    return path.map(({ text }) => text);
  };
}
