// One engine per data folder: the lock is an SQLite transaction, so the system releases it however the process ends.
import path from 'node:path';
import Database from 'better-sqlite3';
import { RpcError } from '#shared/contract/errors.ts';

export type Lock = { release(): void };

/** Takes the folder's lock for this process; null where another holds it. Throws `unavailable` where `lock.db` cannot be used at all. */
export function takeLock(dataDir: string): Lock | null {
  const file = path.join(dataDir, 'lock.db');
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { timeout: 0 });
    db.exec('BEGIN EXCLUSIVE');
    const held = db;
    return { release: () => held.close() };
  } catch (error) {
    db?.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return null;
    throw new RpcError(
      'unavailable',
      `${file} cannot be used as the lock of its folder: ${String(error)}. If it is damaged, delete it while no Pawl runs.`,
      { file },
    );
  }
}
