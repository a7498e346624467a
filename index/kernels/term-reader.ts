/**
 * Text to term numbers, several times faster than through strings: in ASCII text the analyzer's runs are looked up by
 * their characters, and what a run meant the first time it means again. Any other text goes through the analyzer. The
 * outcome is the analyzer's, always.
 */
import type { Analyzer } from '../../src/text/mod.ts';

/** Longer runs are rarely met again. */
const LONGEST_REMEMBERED = 64;
/** Characters of all remembered runs: enough for millions of words, an end for corpora of random strings. */
const MOST_CHARACTERS = 1 << 26;

export class TermReader {
  readonly #analyzer: Analyzer;
  readonly #numberOf: (term: string) => number;
  #terms = new Int32Array(1024);
  #length = 0;

  // Remembered runs: run r has characters[starts[r] .. starts[r + 1]) and means meanings[meaningAt[r] .. meaningAt[r + 1]).
  #runs = 0;
  #characters = new Uint8Array(1 << 16);
  #starts = new Int32Array(1 << 12);
  #meaningAt = new Int32Array(1 << 12);
  #meanings = new Int32Array(1 << 12);
  /** Open addressing: run + 1 at its hash, 0 = free; at most half full. */
  #slots = new Int32Array(1 << 13);
  #hashes = new Int32Array(1 << 13);

  /** numberOf gives a term its number, a new one if need be. */
  constructor(analyzer: Analyzer, numberOf: (term: string) => number) {
    this.#analyzer = analyzer;
    this.#numberOf = numberOf;
  }

  /** The text's terms by number, a view that the next call overwrites. */
  read(text: string): Int32Array {
    const { inRun, dropsPossessives } = this.#analyzer.ascii;
    this.#length = 0;
    const end = text.length;
    let at = 0;
    while (at < end) {
      const code = text.charCodeAt(at);
      if (code > 127) return this.#readThroughAnalyzer(text);
      if (inRun[code] === 0) {
        at += dropsPossessives && code === 39 && isPossessive(text, at) ? 2 : 1;
        continue;
      }
      const start = at;
      let hash = -2128831035;
      let unit = code;
      do {
        hash = Math.imul(hash ^ unit, 16777619);
        unit = ++at < end ? text.charCodeAt(at) : 0;
      } while (unit < 128 && inRun[unit] === 1);
      // The rest of the text decides nothing about this run, but a letter beyond ASCII beside it does.
      if (unit > 127) return this.#readThroughAnalyzer(text);
      this.#addRun(text, start, at, hash ^ (hash >>> 15));
    }
    return this.#terms.subarray(0, this.#length);
  }

  #readThroughAnalyzer(text: string): Int32Array {
    this.#length = 0;
    for (const term of this.#analyzer.analyze(text)) this.#push(this.#numberOf(term));
    return this.#terms.subarray(0, this.#length);
  }

  #addRun(text: string, start: number, end: number, hash: number): void {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (; this.#slots[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.#hashes[slot] !== hash) continue;
      const run = this.#slots[slot] - 1;
      if (!this.#isRun(run, text, start, end)) continue;
      for (let m = this.#meaningAt[run]; m < this.#meaningAt[run + 1]; m++) this.#push(this.#meanings[m]);
      return;
    }
    const numbers = this.#analyzer.analyze(text.slice(start, end)).map(this.#numberOf);
    for (const number of numbers) this.#push(number);
    const top = this.#starts[this.#runs];
    if (end - start > LONGEST_REMEMBERED || top + end - start > MOST_CHARACTERS) return;
    this.#remember(text, start, end, hash, slot, numbers);
  }

  #isRun(run: number, text: string, start: number, end: number): boolean {
    const from = this.#starts[run];
    if (this.#starts[run + 1] - from !== end - start) return false;
    for (let i = start; i < end; i++) if (this.#characters[from + i - start] !== text.charCodeAt(i)) return false;
    return true;
  }

  #remember(text: string, start: number, end: number, hash: number, slot: number, numbers: readonly number[]): void {
    const run = this.#runs++;
    const from = this.#starts[run];
    const meaning = this.#meaningAt[run];
    this.#characters = fitting(this.#characters, from + end - start);
    this.#starts = fitting(this.#starts, run + 2);
    this.#meaningAt = fitting(this.#meaningAt, run + 2);
    this.#meanings = fitting(this.#meanings, meaning + numbers.length);
    for (let i = start; i < end; i++) this.#characters[from + i - start] = text.charCodeAt(i);
    this.#starts[run + 1] = from + end - start;
    this.#meanings.set(numbers, meaning);
    this.#meaningAt[run + 1] = meaning + numbers.length;
    this.#slots[slot] = run + 1;
    this.#hashes[slot] = hash;
    if (this.#runs * 2 > this.#slots.length) this.#rehash();
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const hashes = new Int32Array(slots.length);
    const mask = slots.length - 1;
    for (let old = 0; old < this.#slots.length; old++) {
      if (this.#slots[old] === 0) continue;
      let slot = this.#hashes[old] & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = this.#slots[old];
      hashes[slot] = this.#hashes[old];
    }
    this.#slots = slots;
    this.#hashes = hashes;
  }

  #push(term: number): void {
    this.#terms = fitting(this.#terms, this.#length + 1);
    this.#terms[this.#length++] = term;
  }
}

/** As the analyzers have it: a letter or digit, then 's, then neither. */
function isPossessive(text: string, at: number): boolean {
  const next = text.charCodeAt(at + 1) | 32;
  return (
    next === 115 && at > 0 && isLetterOrDigit(text.charCodeAt(at - 1)) && !isLetterOrDigit(text.charCodeAt(at + 2))
  );
}

function isLetterOrDigit(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57);
}

/** The array itself if it has room for `length` cells, else a copy with twice the room. */
function fitting<T extends Int32Array | Uint8Array>(array: T, length: number): T {
  if (length <= array.length) return array;
  const bigger = new (array.constructor as new (length: number) => T)(Math.max(length, array.length * 2));
  bigger.set(array);
  return bigger;
}
