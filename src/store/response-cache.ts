/**
 * Answers of paid services by the content of their question: what was answered once is never asked again, by this run, a
 * resumed one, or another command of the project. An SQLite file, so that several processes may share it and a kill loses
 * nothing that was answered. Keys are hashes; texts are not stored.
 */
import { createHash } from 'node:crypto';
import type { Log } from '../ports.ts';
import { isDamaged, moveAside, openSqlite, type Sqlite } from './sqlite.ts';

export interface ResponseCache {
  get(key: string): Uint8Array | undefined;
  /** Written before it returns. */
  put(entries: readonly (readonly [key: string, value: Uint8Array])[], model: string): void;
  /** Per model: how much there is. */
  contents(): readonly { readonly model: string; readonly entries: number; readonly bytes: number }[];
  clear(): void;
  close(): void;
}

/** sha256 of the parts, none of which can run into the next. */
export function cacheKey(...parts: readonly (string | number | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) {
    const bytes = typeof part === 'number' ? String(part) : part;
    hash.update(`${typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length}:`).update(bytes);
  }
  return hash.digest('base64url');
}

/** With row numbers: in the tree of the keys itself every vector would take a page of its own. */
const SCHEMA = `CREATE TABLE IF NOT EXISTS answers (
  key TEXT PRIMARY KEY, value BLOB NOT NULL, model TEXT NOT NULL, at INTEGER NOT NULL
)`;

/**
 * A damaged file is moved aside with a warning; a place that cannot be written gives a cache of this run alone, with a
 * warning too: paying twice is worse than both.
 */
export async function openResponseCache(path: string, log: Pick<Log, 'warn'>): Promise<ResponseCache> {
  try {
    return overSqlite(await openSqlite(path, SCHEMA));
  } catch (error) {
    if (isDamaged(error)) {
      const aside = await moveAside(path, new Date()).catch(() => undefined);
      if (aside !== undefined) {
        log.warn(`the cache of answers was damaged and begins anew; the old one is ${aside}`);
        return overSqlite(await openSqlite(path, SCHEMA));
      }
    }
    log.warn(`answers are not kept beyond this run: ${(error as Error).message}`);
    return memoryCache();
  }
}

function overSqlite(sqlite: Sqlite): ResponseCache {
  let open = true;
  return {
    get: (key) => sqlite.get('SELECT value FROM answers WHERE key = ?', [key])?.[0] as Uint8Array | undefined,
    put(entries, model) {
      if (!open || entries.length === 0) return;
      const at = Date.now();
      sqlite.transaction(() => {
        for (const [key, value] of entries)
          sqlite.run('INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)', [key, value, model, at]);
      });
    },
    contents: () =>
      sqlite
        .all('SELECT model, COUNT(*), SUM(LENGTH(value)) FROM answers GROUP BY model ORDER BY model')
        .map(([model, entries, bytes]) => ({ model: String(model), entries: Number(entries), bytes: Number(bytes) })),
    clear() {
      // Deleted bytes stay in free pages and in the write-ahead log until both are written anew.
      sqlite.exec('PRAGMA secure_delete = ON');
      sqlite.exec('DELETE FROM answers');
      sqlite.exec('VACUUM');
      sqlite.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    },
    close() {
      if (open) sqlite.close();
      open = false;
    },
  };
}

/** Lives as long as the process. */
export function memoryCache(): ResponseCache {
  const answers = new Map<string, { readonly value: Uint8Array; readonly model: string }>();
  return {
    get: (key) => answers.get(key)?.value,
    put(entries, model) {
      for (const [key, value] of entries) answers.set(key, { value, model });
    },
    contents() {
      const found = new Map<string, { entries: number; bytes: number }>();
      for (const { value, model } of answers.values()) {
        const { entries, bytes } = found.get(model) ?? { entries: 0, bytes: 0 };
        found.set(model, { entries: entries + 1, bytes: bytes + value.length });
      }
      return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([model, sizes]) => ({ model, ...sizes }));
    },
    clear: () => answers.clear(),
    close: () => {},
  };
}
