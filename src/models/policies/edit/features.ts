/**
 * What the policy knows about one candidate edit: a sparse vector over a fixed, named layout. Names, not positions, go
 * into checkpoints, so that weights survive a change of the template list.
 */

import { OPERATIONS, type Operation } from './operations.ts';
import type { NameKind } from './scan.ts';
import { TEMPLATES } from './templates.ts';

/** Facts about the added word in this document; each has one weight shared by all operations and one per operation. */
export const FACTS = [
  /** Always 1: the bias. */
  'bias',
  /** Inverse document frequency in the originals, 0..1 of the largest possible. */
  'idf',
  /** The word is in the document already. */
  'inDocument',
  /** log(1 + occurrences). */
  'tf',
  'inName',
  'digit',
  /** One or two characters. */
  'short',
  /** log(document length / average length), clipped. */
  'length',
  /** log(p(word | document) / p(word)) of the translation table. */
  'lift',
  /** p(word | document) on a log scale. */
  'association',
  /** 1 / rank among the words that the table proposes for this document. */
  'rank',
  /** The share of the training queries' words that are this word, on a log scale. */
  'queryShare',
  'inQueries',
  /** lift by the table from bodies to names. */
  'selfLift',
  /** How many further operations would add this word. */
  'agreement',
] as const;

export type Fact = (typeof FACTS)[number];

const NAME_KINDS: readonly NameKind[] = ['definition', 'class', 'parameter', 'assigned', 'call'];

/** Every feature, in order. `any.*` are shared by all operations. */
export const FEATURE_NAMES: readonly string[] = [
  ...FACTS.map((fact) => `any.${fact}`),
  ...OPERATIONS.flatMap((operation) => FACTS.map((fact) => `${operation}.${fact}`)),
  ...OPERATIONS.map((operation) => `again:${operation}`),
  ...NAME_KINDS.map((kind) => `name:${kind}`),
  ...TEMPLATES.map(({ id }) => `verb:${id}`),
];

const indexes = new Map(FEATURE_NAMES.map((name, index) => [name, index]));

export function featureIndex(name: string): number | undefined {
  return indexes.get(name);
}

export function factIndex(group: Operation | 'any', fact: Fact): number {
  return indexes.get(`${group}.${fact}`)!;
}

/** Feature of each fact, in the order of FACTS: shared by all operations, and of one operation. */
export const SHARED_FACTS: readonly number[] = FACTS.map((fact) => factIndex('any', fact));
export const OWN_FACTS: ReadonlyMap<Operation, readonly number[]> = new Map(
  OPERATIONS.map((operation) => [operation, FACTS.map((fact) => factIndex(operation, fact))]),
);
