import type { StudyGroup, StudyQuery } from './types.ts';

/** Numbers of embeddings that are kept: half a gigabyte as float32. Beyond, queries are loaded anew by each figure. */
const MOST_NUMBERS = 128e6;

/** The same group, whose queries are loaded once for all figures as far as they fit in memory. */
export function rememberQueries(group: StudyGroup): StudyGroup {
  const kept = new Map<string, Promise<StudyQuery>>();
  let numbers = 0;
  return {
    ...group,
    get callMilliseconds() {
      return group.callMilliseconds;
    },
    async load(query) {
      const known = kept.get(query.id);
      if (known !== undefined) return known;
      const loading = group.load(query);
      if (numbers < MOST_NUMBERS) kept.set(query.id, loading);
      const at = await loading;
      numbers += at.pool.embeddings.data.length;
      return at;
    },
  };
}
