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
    throw lockError(file, error);
  }
}

/** Why the file is no lock, and what to do about it. */
export function lockError(file: string, error: unknown): RpcError {
  const code = error instanceof Database.SqliteError ? error.code : '';
  const what =
    code === 'SQLITE_FULL'
      ? 'the disk is full. Make room, or use another folder with --data DIR.'
      : code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')
        ? 'it is damaged. Delete it while no Pawl runs.'
        : `${String(error)}. Look at its owner, its permissions and the room on its disk.`;
  return new RpcError('unavailable', `${file} cannot be used as the lock of its folder: ${what}`, { file });
}
