/**
 * SQLite by the libsql package, which installs without a compiler. Two traps are kept in here: parameters always travel in a
 * list (a single Buffer would be taken for named parameters, and ends the process), and rows always come raw.
 */
import { rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../data/make-folder.ts';
import { DocOptError } from '../errors.ts';

export type SqlValue = string | number | Uint8Array | null;

export interface Sqlite {
  exec(sql: string): void;
  run(sql: string, values?: readonly SqlValue[]): void;
  /** The first row, as a list of its columns. */
  get(sql: string, values?: readonly SqlValue[]): readonly unknown[] | undefined;
  all(sql: string, values?: readonly SqlValue[]): readonly (readonly unknown[])[];
  /** All or nothing, and alone: other processes wait. */
  transaction<T>(work: () => T): T;
  close(): void;
}

/** How long another process may hold the file before this one gives up. */
const BUSY_MS = 10_000;

/**
 * Opens or makes a database whose `schema` (CREATE TABLE IF NOT EXISTS ...) is run first. Several processes may have it open.
 * Throws ENVIRONMENT where it cannot be written.
 */
export async function openSqlite(path: string, schema: string): Promise<Sqlite> {
  const { default: Database } = await import('libsql');
  await makeFolder(dirname(path));
  let database: InstanceType<typeof Database>;
  try {
    database = new Database(path);
    database.pragma(`busy_timeout = ${BUSY_MS}`);
    // Survives a killed process at any moment; the last moments before a power cut may be lost, which costs a repeated request.
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = NORMAL');
    database.exec(schema);
  } catch (cause) {
    throw new DocOptError('ENVIRONMENT', `cannot use ${path}: ${(cause as Error).message}`, {
      hint: 'Check the permissions and the space there.',
      cause,
    });
  }
  const statements = new Map<string, ReturnType<typeof database.prepare>>();
  const prepare = (sql: string) => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = database.prepare(sql);
      if (statement.reader) statement.raw();
      statements.set(sql, statement);
    }
    return statement;
  };
  return {
    exec: (sql) => void database.exec(sql),
    run: (sql, values = []) => void prepare(sql).run([...values]),
    get: (sql, values = []) => prepare(sql).get([...values]) as readonly unknown[] | undefined,
    all: (sql, values = []) => prepare(sql).all([...values]) as readonly (readonly unknown[])[],
    transaction(work) {
      database.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        database.exec('COMMIT');
        return result;
      } catch (error) {
        database.exec('ROLLBACK');
        throw error;
      }
    },
    close: () => void database.close(),
  };
}

/** Whether the file is no database, or a damaged one: then it may be moved aside. */
export function isDamaged(error: unknown): boolean {
  const codes = [error, (error as { cause?: unknown } | undefined)?.cause].map(
    (one) => (one as { code?: unknown })?.code,
  );
  return codes.includes('SQLITE_NOTADB') || codes.includes('SQLITE_CORRUPT');
}

/** Out of the way, so that a new one can be made: PATH.damaged-TIME. Returns where it went. */
export async function moveAside(path: string, now: Date): Promise<string> {
  const aside = `${path}.damaged-${now.toISOString().replace(/\D/g, '').slice(0, 14)}`;
  await rename(path, aside);
  for (const suffix of ['-wal', '-shm']) await rename(`${path}${suffix}`, `${aside}${suffix}`).catch(() => {});
  return aside;
}
