/**
 * The rebuild oracle of the counterfactual bench, affordable 500 times: for each swap, all statistics are counted again
 * from the words of every document with the swap in place, and every document is scored by the definition. It shares
 * no index and no code with what it checks. Terms are added rarest first, as the index documents, so the order must
 * agree exactly.
 */
import { compareRanked } from '../src/kernels/compare.ts';

export interface PlainRebuild {
  /** Top k of each query after the swap: what an index built from the swapped corpus answers. */
  rank(position: number, text: string, queries: readonly string[], k: number): { ids: string[]; scores: number[] }[];
}

/** Texts are words joined by single spaces; words are numbered here, on their own. */
export function createPlainRebuild(
  ids: readonly string[],
  texts: readonly string[],
  { k1, b }: { k1: number; b: number },
): PlainRebuild {
  const numbers = new Map<string, number>();
  const numberOf = (word: string): number => {
    let number = numbers.get(word);
    if (number === undefined) numbers.set(word, (number = numbers.size));
    return number;
  };
  const wordsOf = (text: string): Int32Array =>
    text === '' ? new Int32Array(0) : Int32Array.from(text.split(' '), numberOf);
  const documents = texts.map(wordsOf);
  const size = documents.length;

  return {
    rank(position, text, queries, k) {
      const own = documents[position];
      documents[position] = wordsOf(text);
      const parsed = queries.map((query) => [...new Set(wordsOf(query))]);
      const terms = [...new Set(parsed.flat())];
      // count[term][document], by going through every word of the corpus.
      const column = new Int32Array(numbers.size).fill(-1);
      terms.forEach((term, i) => {
        column[term] = i;
      });
      const counts = terms.map(() => new Uint8Array(size));
      let words = 0;
      for (let d = 0; d < size; d++) {
        const document = documents[d];
        words += document.length;
        for (let i = 0; i < document.length; i++) {
          const at = column[document[i]];
          if (at >= 0) counts[at][d]++;
        }
      }
      const frequency = counts.map((each) => each.reduce((sum, count) => sum + (count > 0 ? 1 : 0), 0));
      const slope = (k1 * b) / (words / size);
      const answers = parsed.map((query) => {
        const at = query.map((term) => column[term]).sort((x, y) => frequency[x] - frequency[y]);
        const weights = at.map((i) => Math.log(1 + (size - frequency[i] + 0.5) / (frequency[i] + 0.5)));
        const hits: { id: string; score: number }[] = [];
        let least = 0;
        for (let d = 0; d < size; d++) {
          let score = 0;
          for (let i = 0; i < at.length; i++) {
            const tf = counts[at[i]][d];
            if (tf > 0) score += weights[i] * (tf / (tf + (k1 * (1 - b) + slope * documents[d].length)));
          }
          if (score === 0 || (hits.length === k && score < least)) continue;
          hits.push({ id: ids[d], score });
          hits.sort((x, y) => compareRanked(x.score, x.id, y.score, y.id));
          hits.length = Math.min(hits.length, k);
          least = hits[hits.length - 1].score;
        }
        return { ids: hits.map((hit) => hit.id), scores: hits.map((hit) => hit.score) };
      });
      documents[position] = own;
      return answers;
    },
  };
}
