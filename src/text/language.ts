/**
 * Which language a text is in, as far as its script and its commonest words tell: enough to notice that a rewrite answers in
 * another one. Not a language detector; what it is not sure of it does not say.
 */
const SCRIPTS = {
  Latin: /\p{sc=Latin}/gu,
  Cyrillic: /\p{sc=Cyrillic}/gu,
  Greek: /\p{sc=Greek}/gu,
  Arabic: /\p{sc=Arabic}/gu,
  Hebrew: /\p{sc=Hebrew}/gu,
  Han: /\p{sc=Han}/gu,
  Kana: /[\p{sc=Hiragana}\p{sc=Katakana}]/gu,
  Hangul: /\p{sc=Hangul}/gu,
  Devanagari: /\p{sc=Devanagari}/gu,
  Thai: /\p{sc=Thai}/gu,
} as const;

const COMMON_WORDS: Readonly<Record<string, string>> = {
  English: 'the and of to in is that for it with as are was this be by on not or from at which have an can you when if',
  German:
    'der die das und ist nicht mit ein eine zu den von für auf im dem des wird werden sich auch als bei nach oder aus wenn',
  French:
    'le la les et est pas avec un une de des du pour sur dans que qui au aux ce cette par plus ou sont être il elle',
  Spanish: 'el la los las y es no con un una de del para en que se por al lo como más o su son este esta cuando',
  Portuguese:
    'o a os as e é não com um uma de do da dos das para em que se por no na como mais ou são este esta quando',
  Italian: 'il lo la i gli le e è non con un una di del della per in che si da al come più o sono questo questa quando',
  Dutch:
    'de het een en is niet met van voor op in dat die te zijn worden wordt ook als bij naar of uit aan door wanneer',
  Swedish: 'och att det som en ett är inte med av för på till den de har kan när eller från om ska vid',
  Danish: 'og at det som en et er ikke med af for på til den de har kan når eller fra om skal ved',
  Polish: 'i w na z do nie się jest to że o jak po dla od oraz lub są przez przy który która gdy',
  Turkish: 've bir bu için ile de da olarak olan ne gibi daha çok en veya değil ise sonra kadar',
};
const LANGUAGES = Object.entries(COMMON_WORDS).map(([name, words]) => [name, new Set(words.split(' '))] as const);

/** Looked at; a rewrite does not change its language in the middle. */
const MAX_CHARACTERS = 8000;
/** Fewer letters say nothing. */
const MIN_LETTERS = 20;
/** Common words that must be there before they are believed. */
const MIN_WORDS = 4;

export interface LanguageProfile {
  /** The script of the text; undefined when it has too few letters. Han with Kana is Japanese, without it Chinese. */
  readonly script: string | undefined;
  /** Of Latin texts: the language whose common words it has, when one stands out. */
  readonly language: string | undefined;
  readonly letters: number;
}

export function languageProfile(text: string): LanguageProfile {
  const looked = text.slice(0, MAX_CHARACTERS);
  const counts = new Map(Object.entries(SCRIPTS).map(([name, pattern]) => [name, looked.match(pattern)?.length ?? 0]));
  const letters = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (letters < MIN_LETTERS) return { script: undefined, language: undefined, letters };
  const [han, kana] = [counts.get('Han')!, counts.get('Kana')!];
  counts.delete('Han');
  counts.delete('Kana');
  counts.set(kana >= 0.1 * (han + kana) ? 'Japanese' : 'Chinese', han + kana);
  // Names and code are Latin in any language: another script is the text's from a quarter of the letters on.
  const [other, count] = [...counts].filter(([name]) => name !== 'Latin').sort(([, a], [, b]) => b - a)[0];
  const script = count >= letters / 4 ? other : 'Latin';
  return { script, language: script === 'Latin' ? latinLanguage(looked) : undefined, letters };
}

function latinLanguage(text: string): string | undefined {
  const hits = LANGUAGES.map(() => 0);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    for (let i = 0; i < LANGUAGES.length; i++) if (LANGUAGES[i][1].has(word)) hits[i]++;
  }
  const best = hits.indexOf(Math.max(...hits));
  const second = Math.max(...hits.filter((_, i) => i !== best));
  return hits[best] >= MIN_WORDS && hits[best] >= 1.5 * second ? LANGUAGES[best][0] : undefined;
}

/**
 * Why `rewrite` seems to be in another language than `original`; undefined when it does not, or cannot be told. Of a rewrite
 * that holds the whole original only the rest is looked at.
 */
export function languageChange(original: string, rewrite: string): string | undefined {
  const at = original === '' ? -1 : rewrite.indexOf(original);
  const own = at < 0 ? rewrite : `${rewrite.slice(0, at)} ${rewrite.slice(at + original.length)}`;
  const before = languageProfile(original);
  const after = languageProfile(own);
  if (before.script === undefined || after.script === undefined) return undefined;
  // A row of Japanese search words may do without Kana.
  if (before.script === 'Japanese' && after.script === 'Chinese' && after.letters < 2 * MIN_LETTERS) return undefined;
  const [was, is] = before.script === after.script ? [before.language, after.language] : [before.script, after.script];
  return was === undefined || is === undefined || was === is ? undefined : `written in ${is}, the original in ${was}`;
}
