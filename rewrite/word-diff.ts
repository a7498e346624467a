/** A word diff for people who want to look before they pay: longest common subsequence over words and the space between them, bounded. */

export interface DiffPart {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Above this many words and spaces a side the quadratic table is not worth its memory; the texts are shown whole instead. */
const MAX_TOKENS = 4_000;

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
  if (endA - start > MAX_TOKENS || endB - start > MAX_TOKENS) {
    push(parts, 'removed', a.slice(start, endA));
    push(parts, 'added', b.slice(start, endB));
  } else {
    diffMiddle(a.slice(start, endA), b.slice(start, endB), parts);
  }
  push(parts, 'same', a.slice(endA));
  return withoutIslands(parts);
}

/** Space alone that two changes have in common joins them: [-two words-]{+three other words+}, not word by word. */
function withoutIslands(parts: readonly DiffPart[]): DiffPart[] {
  const joined: DiffPart[] = [];
  let removed = '';
  let added = '';
  const flush = (): void => {
    push(joined, 'removed', removed === '' ? [] : [removed]);
    push(joined, 'added', added === '' ? [] : [added]);
    removed = '';
    added = '';
  };
  parts.forEach(({ kind, text }, i) => {
    if (kind === 'removed') removed += text;
    else if (kind === 'added') added += text;
    else if (text.trim() === '' && removed + added !== '' && i < parts.length - 1) {
      removed += text;
      added += text;
    } else {
      flush();
      push(joined, 'same', [text]);
    }
  });
  flush();
  return joined;
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

/** Words, and the white space between them; joined they are the text. */
function split(text: string): string[] {
  return text.match(/\s+|\S+/g) ?? [];
}

/** 'kept words [-removed-] {+added+}' as git's word diff writes it; long unchanged stretches are shortened. */
export function formatDiff(parts: readonly DiffPart[], context = 60): string {
  return parts
    .map(({ kind, text }, i) => {
      if (kind === 'removed') return marked('[-', text, '-]');
      if (kind === 'added') return marked('{+', text, '+}');
      if (text.length <= 2 * context + 5) return text;
      const head = i === 0 ? '' : text.slice(0, context);
      const tail = i === parts.length - 1 ? '' : text.slice(-context);
      return `${head} ... ${tail}`;
    })
    .join('');
}

/** The brackets around the words, the white space at the ends outside of them. */
function marked(open: string, text: string, close: string): string {
  const words = text.trim();
  if (words === '') return `${open}${text}${close}`;
  const at = text.indexOf(words);
  return `${text.slice(0, at)}${open}${words}${close}${text.slice(at + words.length)}`;
}
