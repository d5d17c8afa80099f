// Opening what is there: newer, foreign, damaged, unwritable.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { openReadable, openWritable, sql } from '#electron/store/db.ts';
import { StoreError } from '#electron/store/errors.ts';
import { migrate } from '#electron/store/migrations/migrate.ts';
import { database, reader, temporaryFolder } from './support/database.ts';
import { databaseFile } from './support/files.ts';

const attempt = (fn: () => unknown): StoreError => {
  try {
    fn();
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};
const opened = (dir: string) => attempt(() => migrate(openWritable(databaseFile(dir), join(dir, 'blobs'))));

test('a newer schema is refused, names file and versions, and is left as it is', () => {
  const dir = temporaryFolder();
  const db = database(dir);
  db.exec('PRAGMA user_version = 999');
  db.close();
  const before = readFileSync(databaseFile(dir));
  const error = opened(dir);
  expect(error.kind).toBe('incompatible');
  expect(error.message).toContain(databaseFile(dir));
  expect(error.message).toMatch(/version 999.*up to 80/);
  expect(readFileSync(databaseFile(dir)).equals(before)).toBe(true);
});

test('a database of another program is refused', () => {
  const dir = temporaryFolder();
  const other = new Database(databaseFile(dir));
  other.exec('CREATE TABLE contacts (name TEXT)');
  other.close();
  expect(opened(dir)).toMatchObject({ kind: 'incompatible', message: expect.stringContaining('another program') });
});

test('a file that is no database, and one with a damaged page, are refused by name', () => {
  const dir = temporaryFolder();
  writeFileSync(databaseFile(dir), 'this is not a database, but it is long enough to look like one'.repeat(40));
  expect(opened(dir)).toMatchObject({ kind: 'corrupt', message: expect.stringContaining(databaseFile(dir)) });

  const damaged = temporaryFolder();
  database(damaged).close();
  const bytes = readFileSync(databaseFile(damaged));
  bytes.fill(0xff, 100, 4_096);
  writeFileSync(databaseFile(damaged), bytes);
  expect(opened(damaged)).toMatchObject({ kind: 'corrupt', message: expect.stringContaining('damaged') });
});

test('a folder where the file should be, and a folder that is not there', () => {
  const dir = temporaryFolder();
  mkdirSync(databaseFile(dir));
  expect(opened(dir)).toMatchObject({ kind: 'readonly', message: expect.stringContaining(databaseFile(dir)) });
  expect(opened(join(dir, 'nowhere')).message).toContain(join(dir, 'nowhere'));
  expect(attempt(() => openReadable(databaseFile(join(dir, 'nowhere')), dir)).message).toContain('nowhere');
});

test('every connection has the pragmas, the writer is durable, the reader cannot write', () => {
  const db = database();
  const r = reader(db);
  const pragma = (of: typeof r, name: string) => Object.values(of.get(sql<Record<string, unknown>>(`PRAGMA ${name}`)) ?? {})[0];
  for (const connection of [db, r]) {
    expect(pragma(connection, 'foreign_keys')).toBe(1);
    expect(pragma(connection, 'recursive_triggers')).toBe(1);
    expect(pragma(connection, 'busy_timeout')).toBe(5_000);
    expect(pragma(connection, 'journal_mode')).toBe('wal');
  }
  // 2 is FULL; better-sqlite3's default in WAL is 1, NORMAL.
  expect(pragma(db, 'synchronous')).toBe(2);
  expect(pragma(db, 'wal_autocheckpoint')).toBe(0);
  expect(() => r.all(sql('DELETE FROM setting RETURNING key'))).toThrow(/readonly/);
});
