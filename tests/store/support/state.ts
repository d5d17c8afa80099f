// The whole content of a data folder as something to compare: what a write may change, whatever it is meant to change.
import { createHash } from 'node:crypto';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { type ReadableDb, sql, type SqlValue } from '#electron/store/db.ts';
import { getBlob } from '#electron/store/read/blobs.ts';
import { namesOf } from './plan.ts';

const textOf = (row: readonly SqlValue[]): string =>
  JSON.stringify(row.map((value) => (value instanceof Uint8Array ? `x'${Buffer.from(value).toString('hex')}'` : value)));

/**
 * Per table how many rows there are and a hash of them, whatever order they lie in, so that a difference names its table. `files` says of
 * every blob that stands in a file whether its bytes are there and whole; files that no row names are no part of the state.
 */
export function stateOf(db: ReadableDb): Readonly<Record<string, string>> {
  const state: Record<string, string> = {};
  for (const table of namesOf(db, 'table')) {
    const rows = [...db.iterateRaw<readonly SqlValue[]>(sql(`SELECT * FROM "${table}"`))].map(textOf).sort();
    state[table] = `${rows.length} ${createHash('sha256').update(rows.join('\n')).digest('hex').slice(0, 16)}`;
  }
  const inFiles = db.all(sql<{ sha: string; size: number }>('SELECT sha, size FROM blob WHERE bytes IS NULL ORDER BY sha'));
  state['files'] = inFiles.map(({ sha, size }) => `${sha.slice(0, 16)} ${getBlob(db, sha)?.length === size}`).join(', ');
  return state;
}

/**
 * Copies what a process that died now would leave behind: the database, its log and the blobs as the system has them. Not the index of
 * the log, which whoever opens the copy makes anew, as after a death.
 */
export function copyAsLeft(from: string, to: string): void {
  for (const name of ['pawl.db', 'pawl.db-wal', 'blobs']) {
    if (existsSync(join(from, name))) cpSync(join(from, name), join(to, name), { recursive: true });
  }
}
