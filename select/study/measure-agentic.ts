/** The agentic loop over its grid of depths and hops, as cells beside those of the selectors. */
import { meanOf } from '../../src/metrics/mod.ts';
import { createGainScale } from '../kernels/set-gain.ts';
import { searchInHops } from './agentic.ts';
import type { Chat } from './chat.ts';
import { type Cell, median } from './measure.ts';
import type { StudyGroup } from './types.ts';

export interface AgenticGrid {
  readonly depths: readonly number[];
  readonly hops: readonly number[];
  readonly capacities: readonly number[];
  readonly seed: number;
  readonly onQuery?: () => void;
}

interface Reached {
  readonly order: Int32Array;
  readonly chatCalls: number;
  readonly ms: number;
}

interface Row {
  readonly depth: number;
  readonly hops: number;
  readonly kind: string;
  readonly capacity: number;
  /** By query id. */
  readonly values: Map<string, number>;
  readonly ms: number[];
  readonly calls: number[];
}

/** `budget` of such a cell is depth times hops, the documents that the model reads; `calls` are those to the model. */
export async function measureAgentic(group: StudyGroup, chat: Chat, grid: AgenticGrid): Promise<Cell[]> {
  const rows = new Map<string, Row>();
  for (const query of group.queries) {
    const at = await group.load(query);
    const scales = { nCG: createGainScale(at.relevance), 'CE-nCG': createGainScale(at.scores) };
    for (const depth of grid.depths) {
      const started = performance.now();
      let last: Reached | undefined;
      const states = searchInHops(at, chat, { depth, hops: Math.max(...grid.hops), seed: grid.seed });
      const byHop = new Map<number, Reached>();
      for await (const { hop, order, chatCalls } of states) {
        last = { order, chatCalls, ms: performance.now() - started };
        byHop.set(hop, last);
      }
      for (const hops of grid.hops) {
        // A pool that was read to its end has nothing more to offer to further hops.
        const state = byHop.get(hops) ?? last;
        if (state === undefined) continue;
        for (const [kind, scale] of Object.entries(scales)) {
          for (const capacity of grid.capacities) {
            const key = JSON.stringify([depth, hops, kind, capacity]);
            const row: Row = rows.get(key) ?? { depth, hops, kind, capacity, values: new Map(), ms: [], calls: [] };
            rows.set(key, row);
            row.values.set(query.id, scale.at(state.order, capacity));
            row.ms.push(state.ms);
            row.calls.push(state.chatCalls);
          }
        }
      }
    }
    grid.onQuery?.();
  }
  const { collection, retriever, reranker } = group;
  return [...rows.values()].map(({ depth, hops, kind, capacity, values, ms, calls }) => ({
    ...{ collection, retriever, reranker },
    selector: `agentic:depth=${depth},hops=${hops}`,
    budget: depth * hops,
    capacity,
    metric: `${kind}@${capacity}`,
    mean: meanOf([...values.values()]),
    perQuery: Object.fromEntries(values),
    calls: meanOf(calls),
    selectorMs: median(ms),
  }));
}
