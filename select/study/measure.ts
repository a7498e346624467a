/** Every system of a study on every query of one group: what the k documents chosen are worth, at each B and k. */
import { meanOf } from '../../src/metrics/mod.ts';
import { ascending, quantile } from '../kernels/quantile.ts';
import { createGainScale } from '../kernels/set-gain.ts';
import { play } from './play.ts';
import type { Settings, StudySystem } from './systems.ts';
import { judgeTrust, type Trust, type TrustOfQuery, trustOf } from './trust.ts';
import type { StudyGroup } from './types.ts';

/** One figure of the study. Values are shares, 0 to 1. */
export interface Cell {
  readonly collection: string;
  readonly retriever: string;
  readonly reranker: string;
  readonly selector: string;
  readonly budget: number;
  readonly capacity: number;
  /** nCG@k against the judgements, CE-nCG@k against the reranker's own scores. */
  readonly metric: string;
  readonly mean: number;
  readonly perQuery: Readonly<Record<string, number>>;
  /** Of a swept selector: what was chosen for this budget. */
  readonly settings?: Settings;
  /** Reranker calls of a query, mean: the budget, or less where a selector stops early or the pool is small. */
  readonly calls: number;
  /** Median over queries; the reranker's time is not in it. */
  readonly selectorMs: number;
}

export interface GroupReport {
  readonly collection: string;
  readonly retriever: string;
  readonly reranker: string;
  readonly documents: number;
  readonly queries: number;
  /** Largest pool; smaller ones are possible where a retriever finds less. */
  readonly pool: number;
  /** Queries without a relevant document in their pool: every selector has nCG 0 there. */
  readonly hopeless: number;
  /** Pairs that the reranker could not score. */
  readonly failed: number;
  /** Median milliseconds of one reranker call; null when nothing was scored. */
  readonly callMs: number | null;
  readonly trust: Trust;
  readonly cells: readonly Cell[];
}

export interface MeasureSettings {
  readonly systems: readonly StudySystem[];
  readonly budgets: readonly number[];
  readonly capacities: readonly number[];
  readonly signal?: AbortSignal;
  /** After each query. */
  readonly onQuery?: () => void;
}

/** The measure by which a sweep chooses, whatever the k of the cell (BoundaryMORPH C.2): mean CE-nCG@50. */
const CHOOSING_CUTOFF = 50;

export async function measureGroup(group: StudyGroup, settings: MeasureSettings): Promise<GroupReport> {
  const ids = group.queries.map(({ id }) => id);
  const sheet = createSheet(ids);
  const trust: (TrustOfQuery | undefined)[] = [];
  let [pool, hopeless, failed] = [0, 0, 0];
  for (const query of group.queries) {
    const at = await group.load(query);
    pool = Math.max(pool, at.pool.ids.length);
    if (!at.relevance.includes(1)) hopeless++;
    for (const score of at.scores) if (Number.isNaN(score)) failed++;
    trust.push(trustOf(at));
    const scales = { nCG: createGainScale(at.relevance), 'CE-nCG': createGainScale(at.scores) };
    for (const system of settings.systems) {
      const swept = system.candidates.length > 1;
      const wanted = swept ? [...new Set([...settings.capacities, CHOOSING_CUTOFF])] : settings.capacities;
      for (const budget of settings.budgets) {
        for (const [candidate, { selector }] of system.candidates.entries()) {
          const once = system.ignoresCapacity
            ? await play(at, selector, budget, Math.max(...wanted), settings.signal)
            : undefined;
          for (const capacity of wanted) {
            const { order, calls, selectorMs } = once ?? (await play(at, selector, budget, capacity, settings.signal));
            for (const [kind, scale] of Object.entries(scales)) {
              sheet.put(
                { system: system.name, budget, candidate, capacity, kind },
                query.id,
                scale.at(order, capacity),
              );
            }
            const place = { system: system.name, budget, candidate, capacity };
            sheet.put({ ...place, kind: 'ms' }, query.id, selectorMs);
            sheet.put({ ...place, kind: 'calls' }, query.id, calls);
          }
        }
      }
    }
    settings.onQuery?.();
  }
  const { collection, retriever, reranker, documents } = group;
  const cells: Cell[] = [];
  for (const system of settings.systems) {
    for (const budget of settings.budgets) {
      const candidate = chooseCandidate(system, budget, sheet);
      for (const capacity of settings.capacities) {
        for (const kind of ['nCG', 'CE-nCG']) {
          const key = { system: system.name, budget, candidate, capacity };
          const values = sheet.get({ ...key, kind });
          cells.push({
            collection,
            retriever,
            reranker,
            selector: system.name,
            budget,
            capacity,
            metric: `${kind}@${capacity}`,
            mean: meanOf(values),
            perQuery: Object.fromEntries(ids.map((id, i) => [id, values[i]])),
            ...(system.candidates.length > 1 ? { settings: system.candidates[candidate].settings } : {}),
            calls: meanOf(sheet.get({ ...key, kind: 'calls' })),
            selectorMs: median(sheet.get({ ...key, kind: 'ms' })),
          });
        }
      }
    }
  }
  return {
    ...{ collection, retriever, reranker, documents, queries: ids.length, pool, hopeless, failed },
    callMs: group.callMilliseconds.length === 0 ? null : median(group.callMilliseconds),
    trust: judgeTrust(trust),
    cells,
  };
}

/** Per cell and budget, reused across k. Of equal ones the first of the grid. */
function chooseCandidate({ name, candidates }: StudySystem, budget: number, sheet: Sheet): number {
  if (candidates.length === 1) return 0;
  const means = candidates.map((_, candidate) =>
    meanOf(sheet.get({ system: name, budget, candidate, capacity: CHOOSING_CUTOFF, kind: 'CE-nCG' })),
  );
  return means.indexOf(Math.max(...means));
}

interface SheetKey {
  readonly system: string;
  readonly budget: number;
  readonly candidate: number;
  readonly capacity: number;
  readonly kind: string;
}

interface Sheet {
  put(key: SheetKey, queryId: string, value: number): void;
  /** By query, in the order of the group. */
  get(key: SheetKey): Float64Array;
}

function createSheet(queryIds: readonly string[]): Sheet {
  const place = new Map(queryIds.map((id, i) => [id, i]));
  const columns = new Map<string, Float64Array>();
  const text = ({ system, budget, candidate, capacity, kind }: SheetKey): string =>
    `${system} ${budget} ${candidate} ${capacity} ${kind}`;
  return {
    put(key, queryId, value) {
      const name = text(key);
      let column = columns.get(name);
      if (column === undefined) {
        column = new Float64Array(queryIds.length);
        columns.set(name, column);
      }
      column[place.get(queryId)!] = value;
    },
    get: (key) => columns.get(text(key))!,
  };
}

/** NaN for none. */
export function median(values: ArrayLike<number>): number {
  return quantile(ascending(values), 0.5);
}
