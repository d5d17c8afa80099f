// What a thread of the store does with each request, on a connection of its own.
import { setImmediate } from 'node:timers';
import { createCheckpointer } from './checkpointer.ts';
import { blobFolders, collectOrphans } from './blob-files.ts';
import { type DbOptions, openReadable, openWritable, type ReadableDb, sql, type WritableDb } from './db.ts';
import { StoreError } from './errors.ts';
import type { WorkerOptions } from './messages.ts';
import { migrate } from './migrations/migrate.ts';
import { reads, writes } from './operations.ts';
import { blobExists } from './write/blobs.ts';

export type Serving = {
  readonly sqliteVersion: string;
  /** Carries out one operation by its name; `close` is one of every thread. Throws what the operation throws. */
  readonly serve: (op: string, input: unknown) => unknown;
};

const has = <T extends object>(table: T, op: string): op is Extract<keyof T, string> => Object.hasOwn(table, op);

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the client's types say that input and operation fit; both ends are this folder
const call = (fn: (db: never, input: never) => unknown, db: ReadableDb, input: unknown): unknown => fn(db as never, input as never);

const serveReads =
  (db: ReadableDb): Serving['serve'] =>
  (op, input) => {
    if (op === 'close') {
      db.close();
      return null;
    }
    if (!has(reads, op)) throw new StoreError('other', `the store's readers know no operation ${op}`);
    return call(reads[op], db, input);
  };

const serveWrites = (db: WritableDb): Serving['serve'] => {
  const checkpointer = createCheckpointer(db);
  return (op, input) => {
    if (op === 'close') {
      checkpointer.stop();
      db.close();
      return null;
    }
    if (!has(writes, op)) throw new StoreError('other', `the store's writer knows no operation ${op}`);
    const value = call(writes[op], db, input);
    checkpointer.wrote();
    return value;
  };
};

// Folder by folder between requests: a start does not wait for it. A file and its row are written within one request, so none is caught between.
const collectInBackground = (db: WritableDb) => {
  const folders = blobFolders(db.blobsDir);
  const next = () => {
    const folder = folders.pop();
    if (folder === undefined || !db.isOpen) return;
    try {
      collectOrphans(folder, (sha) => blobExists(db, sha));
    } catch {
      // A folder that is gone or cannot be read keeps its leftovers, which take room and nothing else; the next start tries again.
    }
    setImmediate(next);
  };
  setImmediate(next);
};

/** Opens what the role needs; the writer creates and migrates the database. Throws a StoreError, and nothing is left open then. */
export function openServing({ role, file, blobsDir }: WorkerOptions, options: DbOptions = {}): Serving {
  const version = (db: ReadableDb) => db.get(sql<{ version: string }>('SELECT sqlite_version() AS version'))?.version ?? '';
  if (role === 'reader') {
    const db = openReadable(file, blobsDir);
    return { serve: serveReads(db), sqliteVersion: version(db) };
  }
  const db = openWritable(file, blobsDir, options);
  try {
    migrate(db);
  } catch (error) {
    db.close();
    throw error;
  }
  collectInBackground(db);
  return { serve: serveWrites(db), sqliteVersion: version(db) };
}
