// The real store without its threads: the same operations on connections of this thread, so that a test holds every step in its hands.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { DbOptions } from '#electron/store/db.ts';
import type { Thread } from '#electron/store/pool.ts';
import { openServing, type Serving } from '#electron/store/serve.ts';
import { type OpenStore, storeOver } from '#electron/store/store.ts';

const threadOf = ({ sqliteVersion, serve }: Serving): Thread => ({
  sqliteVersion,
  lost: new Promise(() => {}),
  pending: () => 0,
  call: async <R>(op: string, input: unknown): Promise<R> => {
    // As a message would: never in the caller's own turn.
    await Promise.resolve();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as in pool.ts: the operation of this name returns it
    return serve(op, input) as R;
  },
  close: async () => {
    await Promise.resolve();
    serve('close', null);
  },
});

/** Opens the store of `dataDir`, with one writer and one reader; `options` are the writer's. Throws a StoreError. */
export function openDirectStore(dataDir: string, options: DbOptions = {}): OpenStore {
  const file = path.join(dataDir, 'pawl.db');
  const blobsDir = path.join(dataDir, 'blobs');
  mkdirSync(blobsDir, { recursive: true });
  const writer = openServing({ role: 'writer', file, blobsDir }, options);
  return storeOver(threadOf(writer), [threadOf(openServing({ role: 'reader', file, blobsDir }))]);
}
