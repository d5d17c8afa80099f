// Entry of the store's threads. One owns writing, the others read; `workerData` says which this is.
import { setImmediate } from 'node:timers';
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { ensure } from '#shared/lib/assert.ts';
import { compact, transferables } from './bytes.ts';
import { createCheckpointer } from './checkpointer.ts';
import { blobFolders, collectOrphans } from './blob-files.ts';
import { openReadable, openWritable, type ReadableDb, sql, type WritableDb } from './db.ts';
import { StoreError, toStoreError } from './errors.ts';
import type { Answer, Request, WireError } from './messages.ts';
import { migrate } from './migrations/migrate.ts';
import { reads, writes } from './operations.ts';
import { blobExists } from './write/blobs.ts';

const Options = z.object({ role: z.enum(['writer', 'reader']), file: z.string(), blobsDir: z.string() });

const port = ensure(parentPort, 'port to the store: worker.ts runs as a worker thread');
const { role, file, blobsDir } = Options.parse(workerData);

const answer = (message: Answer, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);

const wire = (error: unknown): WireError => {
  const { kind, message, stack } = toStoreError(error, file);
  return { kind, message, stack };
};

type Serve = (request: Request) => unknown;

const has = <T extends object>(table: T, op: string): op is Extract<keyof T, string> => Object.hasOwn(table, op);

// The client's types say that input and operation fit; both ends are this folder.
// oxlint-disable typescript/no-unsafe-type-assertion
const call = (fn: (db: never, input: never) => unknown, db: ReadableDb, input: unknown): unknown => fn(db as never, input as never);
// oxlint-enable typescript/no-unsafe-type-assertion

const serveReads =
  (db: ReadableDb): Serve =>
  ({ op, input }) => {
    if (op === 'close') {
      db.close();
      return null;
    }
    if (!has(reads, op)) throw new StoreError('other', `the store's readers know no operation ${op}`);
    return call(reads[op], db, input);
  };

const serveWrites = (db: WritableDb): Serve => {
  const checkpointer = createCheckpointer(db);
  return ({ op, input }) => {
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
  const folders = blobFolders(blobsDir);
  const next = () => {
    const folder = folders.pop();
    if (folder === undefined || !db.isOpen) return;
    collectOrphans(folder, (sha) => blobExists(db, sha));
    setImmediate(next);
  };
  setImmediate(next);
};

const start = (): { readonly serve: Serve; readonly sqliteVersion: string } => {
  const version = (db: ReadableDb) => db.get(sql<{ version: string }>('SELECT sqlite_version() AS version'))?.version ?? '';
  if (role === 'reader') {
    const db = openReadable(file, blobsDir);
    return { serve: serveReads(db), sqliteVersion: version(db) };
  }
  const db = openWritable(file, blobsDir);
  try {
    migrate(db);
  } catch (error) {
    db.close();
    throw error;
  }
  collectInBackground(db);
  return { serve: serveWrites(db), sqliteVersion: version(db) };
};

try {
  const { serve, sqliteVersion } = start();
  port.on('message', (request: Request) => {
    try {
      const result = serve(request);
      const value = result instanceof Uint8Array ? compact(result) : result;
      answer({ type: 'value', seq: request.seq, value }, transferables(value));
    } catch (error) {
      answer({ type: 'error', seq: request.seq, error: wire(error) });
    }
    if (request.op === 'close') port.close();
  });
  answer({ type: 'ready', sqliteVersion });
} catch (error) {
  answer({ type: 'failed', error: wire(error) });
  port.close();
}
