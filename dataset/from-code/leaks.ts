import { normaliseQuery } from '../../src/data/splits.ts';

/**
 * Which sentences occur in which document, white space and case aside: a set of indices of `sentences`. Only string
 * literals can still hold one once comments are gone, but then the answer would be given away.
 *
 * Within a document cut at white space, all inner words of a sentence that occurs stand as whole words: one inner word,
 * the longest, leads to the places worth comparing. One pass over the documents; sentences of two words are searched plainly.
 */
export function leakedSentences(sentences: readonly string[], documents: Iterable<string>): Set<number> {
  const needles = sentences.map((sentence) => normaliseQuery(sentence).replace(/[.!?。！？:;,]+$/u, ''));
  const byWord = new Map<string, { needle: number; offset: number }[]>();
  const plain: number[] = [];
  needles.forEach((needle, index) => {
    const anchor = longestInnerWord(needle);
    if (anchor === undefined) {
      if (needle !== '') plain.push(index);
    } else {
      const list = byWord.get(anchor.word);
      if (list) list.push({ needle: index, offset: anchor.offset });
      else byWord.set(anchor.word, [{ needle: index, offset: anchor.offset }]);
    }
  });

  const leaked = new Set<number>();
  for (const document of documents) {
    const text = normaliseQuery(document);
    for (const index of plain) if (text.includes(needles[index])) leaked.add(index);
    for (let start = 0; start < text.length; ) {
      const space = text.indexOf(' ', start);
      const end = space === -1 ? text.length : space;
      for (const { needle, offset } of byWord.get(text.slice(start, end)) ?? []) {
        if (start >= offset && text.startsWith(needles[needle], start - offset)) leaked.add(needle);
      }
      start = end + 1;
    }
  }
  return leaked;
}

function longestInnerWord(needle: string): { word: string; offset: number } | undefined {
  const words = needle.split(' ');
  let best: { word: string; offset: number } | undefined;
  let offset = words[0].length + 1;
  for (const word of words.slice(1, -1)) {
    if (best === undefined || word.length > best.word.length) best = { word, offset };
    offset += word.length + 1;
  }
  return best;
}
