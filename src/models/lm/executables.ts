/** Compiled graphs by what they compute; the least recently used are released, because every shape is a graph of its own. */
import type { Graph } from '../../nn/graph.ts';
import type { Executable, GraphRuntime } from '../runtimes/graph-runtime.ts';

export interface ExecutableCache {
  /** `key` names everything that decides the graph. */
  get(key: string, build: () => Graph): Promise<Executable>;
  release(): Promise<void>;
}

export function createExecutableCache(runtime: GraphRuntime, capacity: number): ExecutableCache {
  const known = new Map<string, Promise<Executable>>();
  return {
    async get(key, build) {
      const found = known.get(key) ?? runtime.compile(build());
      known.delete(key);
      known.set(key, found);
      // A graph that could not be compiled is tried anew.
      found.catch(() => known.delete(key));
      while (known.size > capacity) {
        const [oldest, executable] = known.entries().next().value!;
        known.delete(oldest);
        await (await executable).release();
      }
      return found;
    },
    async release() {
      const all = [...known.values()];
      known.clear();
      for (const executable of all) await (await executable).release();
    },
  };
}
