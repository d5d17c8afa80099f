import { expect, test } from 'vitest';
import { openWritable, sql } from '#electron/store/db.ts';
import { migrate } from '#electron/store/migrations/migrate.ts';
import { selectBlob, selectTree } from '#electron/store/read/blobs.ts';
import { sha256Hex } from '#shared/lib/hash.ts';
import { temporaryFolder } from './support/database.ts';
import { databaseFile } from './support/files.ts';
import { planProblems, namesOf } from './support/plan.ts';

const opened = () => {
  const dir = temporaryFolder();
  const db = openWritable(databaseFile(dir), dir);
  migrate(db, 10);
  return db;
};

test('migration 10 makes blobs and trees with their triggers', () => {
  const db = opened();
  expect(db.userVersion).toBe(10);
  expect(namesOf(db, 'table')).toEqual(['blob', 'tree']);
  expect(namesOf(db, 'trigger', 'blob')).toEqual(['blob_dict', 'blob_no_delete', 'blob_no_replace', 'blob_no_update']);
  expect(namesOf(db, 'trigger', 'tree')).toEqual(['tree_no_delete', 'tree_no_replace', 'tree_no_update']);
  db.close();
});

test('bytes and trees are found by their hash', () => {
  const db = opened();
  expect(planProblems(db, selectBlob, ['a'], [/blob USING INDEX sqlite_autoindex_blob_1 \(sha=\?\)/])).toEqual([]);
  expect(planProblems(db, selectTree, ['a'], [/tree USING PRIMARY KEY \(sha=\?\)/])).toEqual([]);
  db.close();
});

test('the schema refuses blobs that cannot be', () => {
  const db = opened();
  const insert = sql('INSERT INTO blob (sha, size, codec, dict, bytes) VALUES (?, ?, ?, ?, ?)');
  const sha = (text: string) => sha256Hex(new TextEncoder().encode(text));
  const bytes = new Uint8Array([1]);
  db.run(insert, sha('plain'), 1, 'raw', null, bytes);
  db.run(insert, sha('with'), 1, 'zstd-dict', sha('plain'), bytes);
  expect(() => db.run(insert, 'short', 1, 'raw', null, bytes)).toThrow(/CHECK/);
  expect(() => db.run(insert, sha('codec'), 1, 'gzip', null, bytes)).toThrow(/CHECK/);
  expect(() => db.run(insert, sha('no dictionary'), 1, 'zstd-dict', null, bytes)).toThrow(/CHECK/);
  expect(() => db.run(insert, sha('unknown dictionary'), 1, 'zstd-dict', sha('nothing'), bytes)).toThrow(/FOREIGN KEY/);
  expect(() => db.run(insert, sha('second'), 1, 'zstd-dict', sha('with'), bytes)).toThrow(/a dictionary is stored without one/);
  db.close();
});
