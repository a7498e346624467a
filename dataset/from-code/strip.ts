export interface Span {
  readonly start: number;
  readonly end: number;
  /** What stands in its place; nothing by default. */
  readonly replacement?: string;
}

/**
 * The text of [start, end) without the given spans (ascending, disjoint). A line that held nothing else goes as a whole,
 * with the blank lines below it if one stands above; where two words would run together a space stays. Linear.
 */
export function withoutSpans(text: string, start: number, end: number, spans: readonly Span[]): string {
  const lines: string[] = [];
  let next = 0;
  let isGap = false;
  for (let from = start; from <= end; ) {
    const newline = text.indexOf('\n', from);
    const to = newline === -1 ? end : Math.min(newline, end);
    while (next < spans.length && spans[next].end <= from) next++;
    let last = next;
    while (last < spans.length && spans[last].start <= to && spans[last].start < end) last++;

    const isTouched = last > next;
    const line = isTouched ? lineWithout(text, from, to, spans.slice(next, last)) : text.slice(from, to);
    const isBlank = line.trim() === '';
    if (isTouched && isBlank) isGap = lines.length === 0 || lines[lines.length - 1].trim() === '';
    else if (!(isGap && isBlank)) {
      lines.push(line);
      isGap = false;
    }
    from = to + 1;
  }
  return lines.join('\n').trimEnd();
}

/** One line [from, to) without the spans that touch it. */
function lineWithout(text: string, from: number, to: number, spans: readonly Span[]): string {
  const pieces: string[] = [];
  /** The last character so far, '' at the beginning. */
  let before = '';
  let at = from;
  const keep = (piece: string): void => {
    pieces.push(piece);
    before = piece === '' ? before : piece[piece.length - 1];
  };
  for (const span of spans) {
    if (span.start > at) keep(text.slice(at, span.start));
    if (span.replacement !== undefined && span.start >= from) keep(span.replacement);
    at = Math.min(span.end, to);
    const after = at < to ? text[at] : '';
    if (isWordCharacter(before) && isWordCharacter(after)) keep(' ');
    else if (after !== '' && ')],;.'.includes(after) && /\S/.test(pieces[pieces.length - 1] ?? '')) {
      pieces.push(pieces.pop()!.trimEnd());
    } else if (before === '' || isBlankCharacter(before)) {
      while (at < to && isBlankCharacter(text[at])) at++;
    }
  }
  keep(text.slice(at, to));
  return pieces.join('').trimEnd();
}

function isBlankCharacter(character: string): boolean {
  return character === ' ' || character === '\t';
}

function isWordCharacter(character: string): boolean {
  return /[\w$]/.test(character);
}

/** Removes from every line but the first the indentation of the line that the code began on. */
export function dedent(code: string, indentation: string): string {
  return indentation === '' ? code : code.replaceAll(`\n${indentation}`, '\n');
}

/** The blanks at the beginning of the line that holds `position`. */
export function indentationAt(text: string, position: number): string {
  const from = text.lastIndexOf('\n', position - 1) + 1;
  return /^[ \t]*/.exec(text.slice(from, position))![0];
}
