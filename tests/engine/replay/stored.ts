// One stored run that is edited behind the store's back: closed, on disk, and replayed on a fresh connection each time.
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll } from 'vitest';
import type Database from 'better-sqlite3';
import type { DecisionReplayReport } from '#shared/contract/replay.ts';
import { ensure } from '#shared/lib/assert.ts';
import { createStoredRun, type StoredRun, type StoredRunOptions, temporaryStore } from '../../support/engine/stored-run.ts';
import { freshReads, openPast, replay } from './support.ts';

/** For the tests of one file: `open` is a connection past every trigger, `replayed` what a decision replay finds now. */
export function storedForEdits(options: StoredRunOptions): {
  readonly open: () => Database.Database;
  readonly replayed: () => Promise<DecisionReplayReport>;
} {
  let made: { readonly dataDir: string; readonly stored: StoredRun } | null = null;
  const here = () => ensure(made, 'stored run, which is there inside tests only');
  beforeAll(async () => {
    const { store, dataDir } = await temporaryStore();
    made = { dataDir, stored: await createStoredRun(store, options) };
    await made.stored.go(store);
    await store.close();
  });
  afterAll(() => rm(here().dataDir, { recursive: true, force: true }));
  return {
    open: () => openPast(here().dataDir),
    replayed: async () => {
      const { dataDir, stored } = here();
      const reads = freshReads(dataDir);
      try {
        return await replay(reads.store, stored.run, stored.proposer);
      } finally {
        reads.close();
      }
    },
  };
}
