/**
 * What a project has spent, over all commands and processes: `cost.projectMax` is held against it. Money is reserved before a
 * request goes out and settled when its answer is there, so two processes together cannot overdraw; what a killed process
 * had reserved counts as spent, for nobody knows whether it was.
 */
import { openSqlite } from './sqlite.ts';

export interface Ledger {
  /** The reservation's number, or undefined when it would exceed `limit`. */
  reserve(usd: number, what: string, limit: number): number | undefined;
  /** What it came to; 0 gives it back. */
  settle(reservation: number, usd: number): void;
  /** US dollars, reservations included. */
  total(): number;
  close(): void;
}

const SCHEMA = `CREATE TABLE IF NOT EXISTS spent (
  id INTEGER PRIMARY KEY, usd REAL NOT NULL, what TEXT NOT NULL, settled INTEGER NOT NULL, at INTEGER NOT NULL
)`;

/** Throws ENVIRONMENT where it cannot be written: a cap that is not kept would be worse than none. */
export async function openLedger(path: string): Promise<Ledger> {
  const sqlite = await openSqlite(path, SCHEMA);
  const total = (): number => Number(sqlite.get('SELECT COALESCE(SUM(usd), 0) FROM spent')?.[0]);
  return {
    reserve: (usd, what, limit) =>
      sqlite.transaction(() => {
        if (total() + usd > limit) return undefined;
        sqlite.run('INSERT INTO spent (usd, what, settled, at) VALUES (?, ?, 0, ?)', [usd, what, Date.now()]);
        return Number(sqlite.get('SELECT MAX(id) FROM spent')?.[0]);
      }),
    settle(reservation, usd) {
      if (usd > 0) sqlite.run('UPDATE spent SET usd = ?, settled = 1 WHERE id = ?', [usd, reservation]);
      else sqlite.run('DELETE FROM spent WHERE id = ?', [reservation]);
    },
    total,
    close: () => sqlite.close(),
  };
}
