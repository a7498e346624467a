/** A word diff for people who want to look before they pay: longest common subsequence over words, bounded. */

export interface DiffPart {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Above this many words a side the quadratic table is not worth its memory; the texts are shown whole instead. */
const MAX_WORDS = 2_000;

export function wordDiff(before: string, after: string): DiffPart[] {
  if (before === after) return before === '' ? [] : [{ kind: 'same', text: before }];
  const a = split(before);
  const b = split(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let endA = a.length;
  let endB = b.length;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA--;
    endB--;
  }
  const parts: DiffPart[] = [];
  push(parts, 'same', a.slice(0, start));
  if (endA - start > MAX_WORDS || endB - start > MAX_WORDS) {
    push(parts, 'removed', a.slice(start, endA));
    push(parts, 'added', b.slice(start, endB));
  } else {
    diffMiddle(a.slice(start, endA), b.slice(start, endB), parts);
  }
  push(parts, 'same', a.slice(endA));
  return parts;
}

function diffMiddle(a: readonly string[], b: readonly string[], parts: DiffPart[]): void {
  const width = b.length + 1;
  // common[i * width + j] = length of the longest common subsequence of a[i..] and b[j..].
  const common = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] =
        a[i] === b[j]
          ? common[(i + 1) * width + j + 1] + 1
          : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      push(parts, 'same', [a[i]]);
      i++;
      j++;
    } else if (j >= b.length || (i < a.length && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      push(parts, 'removed', [a[i++]]);
    } else {
      push(parts, 'added', [b[j++]]);
    }
  }
}

function push(parts: DiffPart[], kind: DiffPart['kind'], words: readonly string[]): void {
  if (words.length === 0) return;
  const last = parts.at(-1);
  if (last?.kind === kind) parts[parts.length - 1] = { kind, text: last.text + words.join('') };
  else parts.push({ kind, text: words.join('') });
}

/** Words with the white space behind them, so that joining gives the text back. */
function split(text: string): string[] {
  return text.match(/\s*\S+\s*/g)?.flatMap((word) => word.match(/^\s+|\S+\s*/g) ?? []) ?? (text === '' ? [] : [text]);
}

/** 'kept words [-removed-] {+added+}' as git's word diff writes it; long unchanged stretches are shortened. */
export function formatDiff(parts: readonly DiffPart[], context = 60): string {
  return parts
    .map(({ kind, text }, i) => {
      if (kind === 'removed') return `[-${text.trimEnd()}-]${text.slice(text.trimEnd().length)}`;
      if (kind === 'added') return `{+${text.trimEnd()}+}${text.slice(text.trimEnd().length)}`;
      if (text.length <= 2 * context + 5) return text;
      const head = i === 0 ? '' : text.slice(0, context);
      const tail = i === parts.length - 1 ? '' : text.slice(-context);
      return `${head} ... ${tail}`;
    })
    .join('');
}
