/**
 * Which words of a query stand for what is in a document: IBM Model 1 (Brown et al. 1993) with three changes that matter
 * when there are a few hundred pairs, not millions. (1) Sources come in classes (a name, a term of the body, an expanded
 * abbreviation, a construct); each class present speaks as loud as the others, where Model 1 would drown four name words
 * in sixty body terms. (2) A source may simply be repeated in the query; how often is learned per class, and serves
 * terms never seen before. (3) Counts are pulled towards that and towards the words that all queries use, because a
 * term seen once would otherwise 'translate' to everything in its only query.
 */
export const SOURCE_CLASSES = ['null', 'name', 'body', 'abbr', 'verb'] as const;
export type SourceClass = (typeof SOURCE_CLASSES)[number];

/** Something in a document that a query may speak of. */
export interface Source {
  readonly kind: SourceClass;
  readonly term: string;
  /** The query terms that repeat it: itself, or the words of a construct. */
  readonly copies: readonly string[];
}

export interface TranslationPair {
  readonly source: readonly Source[];
  /** Query terms; each distinct one counts once. */
  readonly target: readonly string[];
}

export interface TranslationOptions {
  readonly iterations: number;
  /** Pseudo-count of (2) and (3). */
  readonly smoothing: number;
  /** Translations kept for each source. */
  readonly keep: number;
}

export const TRANSLATION_DEFAULTS: TranslationOptions = { iterations: 8, smoothing: 1, keep: 32 };

/** Plain data, fit for a checkpoint. Row s of (columns, counts) is [offsets[s], offsets[s + 1]); row 0 is the empty source. */
export interface TranslationTable {
  readonly sources: readonly string[];
  readonly targets: readonly string[];
  /** prior[t]: share of all target terms that are targets[t]. */
  readonly prior: readonly number[];
  /** totals[s]: expected number of query terms that sources[s] accounts for. */
  readonly totals: readonly number[];
  readonly offsets: readonly number[];
  readonly columns: readonly number[];
  /** Expected number of times that the source accounts for the column. */
  readonly counts: readonly number[];
  /** How often a source of each class is repeated as it is; parallel to SOURCE_CLASSES. */
  readonly copyShares: readonly number[];
  readonly smoothing: number;
}

/** Explains what nothing in the document explains. */
const NULL: Source = { kind: 'null', term: '', copies: [] };
/** Before the first iteration; learned from there on. */
const FIRST_COPY_SHARES = [0, 0.3, 0.1, 0.3, 0.1];
const MAX_COPY_SHARE = 0.95;
/** Half an imagined observation per class, a tenth of it a copy: no class is certain of anything. */
const CLASS_PSEUDO_COUNT = 0.5;
const CLASS_PSEUDO_COPIES = 0.05;
/** A count below this is nothing but rounding of the responsibilities. */
const MIN_COUNT = 1e-3;

/** Expectation maximisation. Deterministic; an empty list gives an empty table. */
export function fitTranslation(
  pairs: readonly TranslationPair[],
  options: TranslationOptions = TRANSLATION_DEFAULTS,
): TranslationTable {
  const { smoothing } = options;
  const problem = indexPairs(pairs);
  const { rows, cellSource, cellTarget, prior } = problem;
  let counts = new Float64Array(cellSource.length);
  let totals = new Float64Array(problem.sources.length);
  let copyShares = FIRST_COPY_SHARES;
  for (let iteration = 0; iteration < options.iterations; iteration++) {
    const nextCounts = new Float64Array(counts.length);
    const nextTotals = new Float64Array(totals.length);
    const classTotal = new Float64Array(SOURCE_CLASSES.length).fill(CLASS_PSEUDO_COUNT);
    const classCopies = new Float64Array(SOURCE_CLASSES.length).fill(CLASS_PSEUDO_COPIES);
    for (const { sources, kinds, weights, targets, cells, copies } of rows) {
      const width = sources.length;
      const share = new Float64Array(width);
      for (let t = 0; t < targets.length; t++) {
        let sum = 0;
        for (let s = 0; s < width; s++) {
          const copy = copyShares[kinds[s]];
          const expected = (1 - copy) * prior[targets[t]] + copy * copies[t * width + s];
          const probability = (counts[cells[t * width + s]] + smoothing * expected) / (totals[sources[s]] + smoothing);
          share[s] = weights[s] * probability;
          sum += share[s];
        }
        for (let s = 0; s < width; s++) {
          const responsibility = share[s] / sum;
          nextCounts[cells[t * width + s]] += responsibility;
          nextTotals[sources[s]] += responsibility;
          classTotal[kinds[s]] += responsibility;
          if (copies[t * width + s] > 0) classCopies[kinds[s]] += responsibility;
        }
      }
    }
    counts = nextCounts;
    totals = nextTotals;
    copyShares = Array.from(classCopies, (n, kind) =>
      kind === 0 ? 0 : Math.min(MAX_COPY_SHARE, n / classTotal[kind]),
    );
  }

  const rowsOf: number[][] = problem.sources.map(() => []);
  for (let cell = 0; cell < counts.length; cell++) if (counts[cell] > MIN_COUNT) rowsOf[cellSource[cell]].push(cell);
  const offsets = [0];
  const kept: number[] = [];
  for (const cells of rowsOf) {
    // By what the source adds to the prior: the words of every query come with any source and say nothing.
    const excess = (cell: number): number => counts[cell] - totals[cellSource[cell]] * prior[cellTarget[cell]];
    cells.sort((a, b) => excess(b) - excess(a) || cellTarget[a] - cellTarget[b]);
    kept.push(...cells.slice(0, options.keep));
    offsets.push(kept.length);
  }
  return {
    sources: problem.sources,
    targets: problem.targets,
    prior: Array.from(prior, round),
    totals: Array.from(totals, round),
    offsets,
    columns: kept.map((cell) => cellTarget[cell]),
    counts: kept.map((cell) => round(counts[cell])),
    copyShares: copyShares.map(round),
    smoothing,
  };
}

/**
 * p(term in the query | document) by query term, for the terms that something in the document speaks for: those that are
 * likelier than their prior. A translation that was not kept counts as the prior.
 */
export function translate(table: TranslationTable, sources: readonly Source[]): Map<string, number> {
  const result = new Map<string, number>();
  if (table.targets.length === 0) return result;
  const { sourceIds, targetIds } = indexOf(table);
  const excess = new Map<number, number>();
  const add = (target: number, amount: number): void => {
    excess.set(target, (excess.get(target) ?? 0) + amount);
  };
  const all = [NULL, ...sources];
  const weights = classBalanced(all);
  all.forEach((source, i) => {
    const kind = SOURCE_CLASSES.indexOf(source.kind);
    const row = sourceIds.get(source.term);
    const total = row === undefined ? 0 : table.totals[row];
    const weight = weights[i] / (total + table.smoothing);
    const copy = (weight * table.smoothing * table.copyShares[kind]) / Math.max(1, source.copies.length);
    for (const term of source.copies) {
      const target = targetIds.get(term);
      if (target !== undefined) add(target, copy);
    }
    if (row === undefined) return;
    for (let cell = table.offsets[row]; cell < table.offsets[row + 1]; cell++) {
      const target = table.columns[cell];
      add(target, weight * (table.counts[cell] - total * table.prior[target]));
    }
  });
  for (const [target, amount] of excess) {
    if (amount > 0) result.set(table.targets[target], table.prior[target] + amount);
  }
  return result;
}

/** The share of query terms that are this term; 0 for a term no query used. */
export function priorOf(table: TranslationTable, term: string): number {
  const target = indexOf(table).targetIds.get(term);
  return target === undefined ? 0 : table.prior[target];
}

interface IndexedPair {
  readonly sources: Int32Array;
  readonly kinds: Uint8Array;
  readonly weights: Float64Array;
  readonly targets: Int32Array;
  /** Cell of (target t, source s) at t * sources.length + s. */
  readonly cells: Int32Array;
  /** 1 / number of copies when target t repeats source s, else 0. */
  readonly copies: Float64Array;
}

/** Cells are the combinations that occur together in some pair; every other one has only its prior. */
function indexPairs(pairs: readonly TranslationPair[]): {
  rows: IndexedPair[];
  sources: string[];
  targets: string[];
  cellSource: number[];
  cellTarget: number[];
  prior: Float64Array;
} {
  const sourceIds = new Interner();
  const targetIds = new Interner();
  const cellsOfSource: Map<number, number>[] = [];
  const cellSource: number[] = [];
  const cellTarget: number[] = [];
  const rows = pairs.map((pair): IndexedPair => {
    const all = [NULL, ...pair.source];
    const terms = [...new Set(pair.target)];
    const sources = Int32Array.from(all, ({ term }) => sourceIds.add(term));
    const targets = Int32Array.from(terms, (term) => targetIds.add(term));
    const cells = new Int32Array(sources.length * targets.length);
    const copies = new Float64Array(cells.length);
    for (let s = 0; s < sources.length; s++) {
      const known = (cellsOfSource[sources[s]] ??= new Map());
      for (let t = 0; t < targets.length; t++) {
        let cell = known.get(targets[t]);
        if (cell === undefined) {
          known.set(targets[t], (cell = cellSource.push(sources[s]) - 1));
          cellTarget.push(targets[t]);
        }
        cells[t * sources.length + s] = cell;
        if (all[s].copies.includes(terms[t])) copies[t * sources.length + s] = 1 / all[s].copies.length;
      }
    }
    const kinds = Uint8Array.from(all, ({ kind }) => SOURCE_CLASSES.indexOf(kind));
    return { sources, kinds, weights: classBalanced(all), targets, cells, copies };
  });
  const prior = new Float64Array(targetIds.names.length);
  let tokens = 0;
  for (const { targets } of rows) {
    tokens += targets.length;
    for (const target of targets) prior[target]++;
  }
  return {
    rows,
    sources: sourceIds.names,
    targets: targetIds.names,
    cellSource,
    cellTarget,
    prior: prior.map((n) => n / tokens),
  };
}

/** Weights that give every class present the same say, and every source of a class an equal part of it. */
function classBalanced(sources: readonly Source[]): Float64Array {
  const sizes = new Map<SourceClass, number>();
  for (const { kind } of sources) sizes.set(kind, (sizes.get(kind) ?? 0) + 1);
  return Float64Array.from(sources, ({ kind }) => 1 / (sizes.size * sizes.get(kind)!));
}

class Interner {
  readonly names: string[] = [];
  readonly #ids = new Map<string, number>();

  add(name: string): number {
    let id = this.#ids.get(name);
    if (id === undefined) this.#ids.set(name, (id = this.names.push(name) - 1));
    return id;
  }
}

/** Five digits: a checkpoint a third of the size, and what is saved is exactly what was used. */
function round(value: number): number {
  return Number(value.toPrecision(5));
}

interface TableIndex {
  readonly sourceIds: ReadonlyMap<string, number>;
  readonly targetIds: ReadonlyMap<string, number>;
}

const indexes = new WeakMap<TranslationTable, TableIndex>();

function indexOf(table: TranslationTable): TableIndex {
  let index = indexes.get(table);
  if (index === undefined) {
    const ids = (names: readonly string[]): Map<string, number> => new Map(names.map((name, i) => [name, i]));
    indexes.set(table, (index = { sourceIds: ids(table.sources), targetIds: ids(table.targets) }));
  }
  return index;
}
