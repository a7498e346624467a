/**
 * Markup to plain text on one line: JSDoc inline tags, Markdown and reStructuredText links, code spans, emphasis, inline
 * HTML, entities and web addresses lose their markers and keep their words.
 */
export function plainText(markup: string): string {
  const linked = markup
    .replace(/\[([^\]]+)\]\{@\w+[^}]*\}/g, '$1')
    .replace(
      /\{@(?:link|linkcode|linkplain|tutorial|see)\s+([^}|\s]+)(?:\s*\|\s*|\s+)?([^}]*)\}/g,
      (_, target, label) => (label.trim() === '' ? target : label),
    )
    .replace(/\{@(?:code|literal|value)\s+([^}]*)\}/g, '`$1`')
    .replace(/\{@\w+[^}]*\}/g, '')
    .replace(/!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])/g, '')
    .replace(/\[((?:[^[\]]|\[[^\]]*\])+)\]\((?:[^()]|\([^)]*\))*\)/g, '$1')
    .replace(/\[([^[\]]+)\]\[[^\]]*\]/g, '$1')
    .replace(/\[\[([^[\]]+)\]\]/g, '$1')
    .replace(/(^|[\s(]):(?:[a-z]+:)*[a-z]+:`[~!]?([^`<]*?)(?:\s*<[^>`]*>)?`/gm, '$1`$2`')
    .replace(/`([^`<]+?)\s*<[^>`]+>`__?/g, '$1');

  // Odd parts lie inside code spans, whose stars and underscores are their own.
  const plain = linked
    .split(/(``[^\n]+?``|`[^`]+`)/)
    .map((part, index) => (index % 2 === 1 ? part.replace(/^`+\s?|\s?`+$/g, '') : withoutMarkers(part)))
    .join('');
  return withoutAddresses(plain)
    .replace(/\s+/g, ' ')
    .replace(/ +([.,;:!?])(?=\s|$)/g, '$1')
    .replace(/(?:\s\*+)+$/, '')
    .trim();
}

function withoutMarkers(prose: string): string {
  return prose
    .replace(INLINE_HTML, '')
    .replace(/\*\*(?=\S)([^*]*?\S)\*\*/g, '$1')
    .replace(/(^|[\s("'])\*(?=[^\s*])([^*\n]*[^\s*])\*(?=$|[\s).,;:!?"'])/g, '$1$2')
    .replace(/(^|[\s("'])_(?=[^\s_])([^_\n]*[^\s_])_(?=$|[\s).,;:!?"'])/g, '$1$2')
    .replace(/\\([*_`[\]<>#])/g, '$1')
    .replace(/&(\w+|#\d+);/g, (whole, name: string) => ENTITIES.get(name.toLowerCase()) ?? whole)
    .replace(/`/g, '');
}

/** `Array<string>` is no HTML: only the known inline elements are. */
const INLINE_HTML =
  /<\/?(?:a|abbr|b|cite|code|del|em|font|i|img|ins|kbd|mark|s|samp|small|span|strong|sub|sup|tt|u|var)(?:\s[^>]*)?\/?>/gi;

const ENTITIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    lt: '<',
    gt: '>',
    amp: '&',
    quot: '"',
    apos: "'",
    nbsp: ' ',
    mdash: '—',
    ndash: '–',
    hellip: '…',
    le: '≤',
    ge: '≥',
    times: '×',
    '#39': "'",
    '#34': '"',
    '#40': '(',
    '#41': ')',
    '#42': '*',
    '#64': '@',
  }),
);

/** An address says nothing in a query; the words that only led to it go as well. */
function withoutAddresses(text: string): string {
  const hole = '\uE000';
  return text
    .replace(/<?\bhttps?:\/\/(?:[^\s<>()\]]|\([^\s()]*\))+>?/g, (address) => hole + /[.,;:!?]*$/.exec(address)![0])
    .replace(/\((?:see|cf\.?|from|via|source)?:?\s*\uE000\s*\)/gi, '')
    .replace(/[,;]?\s*\b(?:see|cf\.?|from|via)(?: also)?:?\s*\uE000/gi, '')
    .replaceAll(hole, '');
}
