/**
 * The library of lessons that training-free GRPO learns (arXiv 2510.08191): at most 32 items of at most 32 words. A model
 * proposes changes; what is taken is decided here, by rules that its answer cannot bend: the model has read documents of
 * unknown authors.
 */
export const MAX_LESSONS = 32;
export const MAX_WORDS = 32;

export type LessonChange =
  | { readonly op: 'ADD'; readonly text: string }
  | { readonly op: 'UPDATE'; readonly id: number; readonly text: string }
  | { readonly op: 'DELETE'; readonly id: number };

export interface RefusedChange {
  readonly change: unknown;
  readonly reason: string;
}

export interface ChangedLibrary {
  readonly lessons: readonly string[];
  readonly applied: readonly LessonChange[];
  readonly refused: readonly RefusedChange[];
}

/**
 * Applies proposed changes. Ids are 1-based places in `lessons` as they were shown; all changes of one answer speak of
 * that state. `leaks` says what a text repeats that it must not, or undefined.
 */
export function changeLessons(
  lessons: readonly string[],
  proposed: readonly unknown[],
  leaks: (text: string) => string | undefined,
): ChangedLibrary {
  const items: (string | undefined)[] = [...lessons];
  const added: string[] = [];
  const applied: LessonChange[] = [];
  const refused: RefusedChange[] = [];
  const size = (): number => items.filter((item) => item !== undefined).length + added.length;
  const has = (text: string): boolean =>
    [...items, ...added].some((item) => item?.toLowerCase() === text.toLowerCase());

  for (const one of proposed) {
    const reason = apply(one);
    if (reason !== undefined) refused.push({ change: one, reason });
  }
  return { lessons: [...items.filter((item) => item !== undefined), ...added], applied, refused };

  function apply(one: unknown): string | undefined {
    if (typeof one !== 'object' || one === null) return 'no object';
    const { op, id, text } = one as Record<string, unknown>;
    if (op === 'DELETE' || op === 'UPDATE') {
      if (!Number.isInteger(id) || items[(id as number) - 1] === undefined) return 'no such lesson';
    }
    if (op === 'DELETE') {
      items[(id as number) - 1] = undefined;
      applied.push({ op, id: id as number });
      return undefined;
    }
    if (op !== 'ADD' && op !== 'UPDATE') return 'no such operation';
    if (typeof text !== 'string') return 'no text';
    const clean = text.trim().replace(/\s+/g, ' ');
    const wrong = faultOf(clean) ?? leaks(clean) ?? (has(clean) ? 'already there' : undefined);
    if (wrong !== undefined) return wrong;
    if (op === 'UPDATE') {
      items[(id as number) - 1] = clean;
      applied.push({ op, id: id as number, text: clean });
      return undefined;
    }
    if (size() >= MAX_LESSONS) return `the library is full (${MAX_LESSONS})`;
    added.push(clean);
    applied.push({ op, text: clean });
    return undefined;
  }
}

/** What no lesson may be, whoever proposes it. */
function faultOf(text: string): string | undefined {
  if (text === '') return 'empty';
  if (text.split(' ').length > MAX_WORDS) return `longer than ${MAX_WORDS} words`;
  if (text.length > 12 * MAX_WORDS) return 'words of improbable length';
  if (/https?:|www\.|@[\w-]+\./i.test(text)) return 'a link or an address';
  if (/<<<|>>>|```|<\/?\w+>/.test(text)) return 'marks of form';
  return undefined;
}

/** Words that a lesson may have in common with a query, in a row. */
const SHARED_WORDS = 3;

/**
 * A check for the words of training queries: four in a row, or all of a query of two or three words. Built once, asked for
 * every lesson.
 */
export function leakCheck(queries: Iterable<string>): (text: string) => string | undefined {
  const grams = new Set<string>();
  for (const query of queries) {
    const words = wordsOf(query);
    if (words.length === 2 || words.length === 3) grams.add(words.join(' '));
    for (let i = 0; i + SHARED_WORDS < words.length; i++) grams.add(words.slice(i, i + SHARED_WORDS + 1).join(' '));
  }
  return (text) => {
    const words = wordsOf(text);
    for (let i = 0; i < words.length; i++) {
      for (let n = 2; n <= SHARED_WORDS + 1 && i + n <= words.length; n++) {
        if (grams.has(words.slice(i, i + n).join(' '))) return 'words of a training query';
      }
    }
    return undefined;
  };
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
