// Databases in a temporary folder, opened directly: what the store's threads do, without threads.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type DbOptions, openReadable, openWritable, type ReadableDb, type WritableDb } from '#electron/store/db.ts';
import { migrate } from '#electron/store/migrations/migrate.ts';
import { commitRound } from '#electron/store/write/commit-round.ts';
import { createRun } from '#electron/store/write/create-run.ts';
import { openRound, storeProposals } from '#electron/store/write/open-round.ts';
import type { CommitRound } from '#electron/store/api.ts';
import { databaseFile } from './files.ts';
import type { Scenario, SlotSpec } from './scenario.ts';

/** A new folder, removed after the test. */
export function temporaryFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'pawl-store-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A migrated database, closed after the test. */
export function database(dir = temporaryFolder(), options: DbOptions = {}): WritableDb {
  const db = openWritable(databaseFile(dir), join(dir, 'blobs'), options);
  migrate(db);
  onTestFinished(() => {
    if (db.isOpen) db.close();
  });
  return db;
}

/** A second connection that only reads. */
export function reader(db: WritableDb): ReadableDb {
  const readable = openReadable(db.file, db.blobsDir);
  onTestFinished(() => readable.close());
  return readable;
}

export function start(db: WritableDb, scenario: Scenario): void {
  createRun(db, scenario.create());
}

/** Opens, proposes and commits one round; returns what was committed. */
export function round(db: WritableDb, scenario: Scenario, specs: readonly SlotSpec[], stop: CommitRound['stop'] = null): CommitRound {
  openRound(db, scenario.open(specs.length));
  storeProposals(db, scenario.proposals(specs.length));
  const input = scenario.commit(specs, stop);
  commitRound(db, input);
  scenario.apply(input);
  return input;
}
