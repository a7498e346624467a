/**
 * The candidate edits of one document. Operations propose words in order of precedence; a term is added by one of them
 * only, and its features tell which others agree. Then `rep` may add each of these words once more: how often a word
 * occurs is how a rewrite says that it is sure.
 */
import type { Analyze, DocumentTerms } from './document-terms.ts';
import type { Edit, EditSet } from './edits.ts';
import { evidenceOf } from './evidence.ts';
import { type Candidate, factsOf } from './facts.ts';
import { FACTS, featureIndex, OWN_FACTS, SHARED_FACTS } from './features.ts';
import type { Knowledge } from './knowledge.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { LIMITS, proposals } from './proposals.ts';
import type { TranslationTable } from './translation.ts';

export function proposeEdits(
  document: DocumentTerms,
  knowledge: Knowledge,
  table: TranslationTable,
  analyze: Analyze,
  operations: ReadonlySet<Operation>,
): EditSet {
  const evidence = evidenceOf(document, knowledge, table);
  const proposed = proposals(document, evidence, knowledge, analyze);
  const words = new Map<string, Word>();
  for (const operation of OPERATIONS) {
    if (!operations.has(operation)) continue;
    const mine = new Set<string>();
    for (const [word, tag] of proposed[operation]()) {
      const term = analyze(word)[0];
      // A stop word becomes no term: adding it changes nothing.
      if (term === undefined) continue;
      const known = words.get(term);
      if (known === undefined && mine.size >= LIMITS[operation]) continue;
      if (known === undefined) words.set(term, { operation, word, term, tags: tag === '' ? [] : [tag], others: 0 });
      else {
        if (!mine.has(term)) known.others++;
        if (tag !== '' && !known.tags.includes(tag)) known.tags.push(tag);
      }
      mine.add(term);
    }
  }

  const packer = new Packer();
  for (const word of words.values()) {
    const facts = factsOf(word, document, knowledge, evidence);
    packer.add({ operation: word.operation, text: word.word }, facts, word.tags);
  }
  for (const word of operations.has('rep') ? words.values() : []) {
    // What is only a guess from other definitions is not said twice.
    if (word.operation === 'rep' || word.operation === 'self') continue;
    const facts = factsOf(word, document, knowledge, evidence);
    packer.add({ operation: 'rep', text: word.word }, facts, [`again:${word.operation}`]);
  }
  return packer.finish();
}

interface Word extends Candidate {
  readonly operation: Operation;
  readonly tags: string[];
  others: number;
}

/** Weights of single templates move half as fast: most are met in a few training documents only. */
const TAG_VALUE = 0.5;

class Packer {
  readonly #edits: Edit[] = [];
  readonly #offsets: number[] = [0];
  readonly #indexes: number[] = [];
  readonly #values: number[] = [];

  /** The non-zero facts, once under the weights that all operations share and once under the operation's own. */
  add(edit: Edit, facts: Float64Array, tags: readonly string[]): void {
    this.#edits.push(edit);
    const own = OWN_FACTS.get(edit.operation)!;
    for (let f = 0; f < FACTS.length; f++) {
      if (facts[f] === 0) continue;
      this.#indexes.push(SHARED_FACTS[f], own[f]);
      this.#values.push(facts[f], facts[f]);
    }
    for (const tag of tags) {
      const index = featureIndex(tag);
      if (index === undefined) continue;
      this.#indexes.push(index);
      this.#values.push(TAG_VALUE);
    }
    this.#offsets.push(this.#indexes.length);
  }

  finish(): EditSet {
    return {
      edits: this.#edits,
      offsets: Int32Array.from(this.#offsets),
      indexes: Uint16Array.from(this.#indexes),
      values: Float32Array.from(this.#values),
    };
  }
}
