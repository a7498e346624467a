/**
 * The first sentence of a paragraph of plain text (one line). A full stop ends it only where a new sentence can begin:
 * not within "e.g.", "v1.2", "Node.js", initials, or open brackets. Without such a place the whole paragraph is it.
 */
export function firstSentence(paragraph: string): string {
  let depth = 0;
  for (let i = 0; i < paragraph.length; i++) {
    const char = paragraph[i];
    if (CJK_STOP.test(char)) return paragraph.slice(0, i + 1).trim();
    if ('([{'.includes(char) && closes(paragraph, i)) depth++;
    else if (')]}'.includes(char)) depth = Math.max(0, depth - 1);
    else if (depth === 0 && '.!?'.includes(char) && endsSentence(paragraph, i)) {
      return paragraph.slice(0, afterClosers(paragraph, i + 1)).trim();
    }
  }
  return paragraph.trim();
}

const CJK_STOP = /[。！？]/u;
const CLOSERS = '"\'”’)]';

/** Whether the bracket opened here is closed soon; a stray one must not swallow the rest. */
function closes(text: string, open: number): boolean {
  const close = { '(': ')', '[': ']', '{': '}' }[text[open] as '(' | '[' | '{'];
  const at = text.indexOf(close, open);
  return at !== -1 && at - open < 200;
}

function afterClosers(text: string, from: number): number {
  while (from < text.length && CLOSERS.includes(text[from])) from++;
  return from;
}

function endsSentence(text: string, stop: number): boolean {
  const next = afterClosers(text, stop + 1);
  if (next >= text.length) return true;
  if (!/\s/.test(text[next])) return false;
  const following = text.slice(next).trimStart();
  if (following === '') return true;
  if (text[stop] !== '.') return !/^\p{Ll}/u.test(following);

  const word = /\S*$/.exec(text.slice(0, stop))![0].replace(/^[("'[“‘]+/, '');
  const lower = word.toLowerCase();
  if (NEVER_LAST.has(lower)) return false;
  // "J. Smith", but "by k. Then": only a capital is an initial, unless it closes the text as a variable does ("of X. Use").
  if (/^\p{Lu}$/u.test(word) && /^\p{Lu}(?:\p{Ll}+[\s,.]|\.)/u.test(following) && !SENTENCE_OPENERS.test(following))
    return false;
  const opensLower = /^\p{Ll}/u.test(following);
  if (SOMETIMES_LAST.has(lower)) return !opensLower && !/^\d/.test(following);
  // People forget capitals: after a plain word a lower-case sentence may begin, after "Node.js" or "v2" it may not.
  if (opensLower) return /^\p{Ll}{3,}$/u.test(word);
  return true;
}

const SENTENCE_OPENERS =
  /^(?:The|This|That|These|It|If|In|When|Returns?|Use|Used|A|An|For|Note|By|Will|Throws|Does|Can|Unlike|Also|You|We|To)\b/;

const NEVER_LAST = new Set(
  'e.g i.e eg ie vs cf viz approx resp incl excl a.k.a aka w.r.t i.a dr mr mrs ms prof st fig figs eq eqs sec ch vol pp ed eds'.split(
    ' ',
  ),
);
const SOMETIMES_LAST = new Set(
  'etc al no nos min max inc ltd jr sr p ca dept est ref def var esp opt arg args param params func len idx str num val prev curr tmp temp addr attr cfg'.split(
    ' ',
  ),
);
