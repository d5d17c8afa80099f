// Brings a database to the newest schema, or refuses it.
import type { WritableDb } from '../db.ts';
import { sql } from '../db.ts';
import { StoreError } from '../errors.ts';
import { blobs } from './0010-blobs.ts';
import { runs } from './0020-runs.ts';
import { chain } from './0030-chain.ts';
import { settings } from './0040-settings.ts';
import { replay } from './0050-replay.ts';
import { selection } from './0060-selection.ts';
import { runServer } from './0070-run-server.ts';
import { autoCommands } from './0080-auto-commands.ts';
import type { Migration } from './migration.ts';

export const migrations: readonly Migration[] = [blobs, runs, chain, settings, replay, selection, runServer, autoCommands];

/** "Pawl" in ASCII: tells our databases from those of other programs. */
export const applicationId = 0x50_61_77_6c;

/**
 * Applies what is missing, each step in a transaction with its version number, up to `target` (the newest unless a test says otherwise).
 * Throws a StoreError for a database of a newer version and for one of another program; both stay as they are.
 */
export function migrate(db: WritableDb, target = Math.max(...migrations.map(({ version }) => version))): void {
  const version = db.userVersion;
  const application = db.get(sql<{ application_id: number }>('PRAGMA application_id'))?.application_id ?? 0;
  const tables = db.get(sql<{ n: number }>('SELECT count(*) AS n FROM sqlite_schema'))?.n ?? 0;
  if (application !== applicationId && (application !== 0 || tables > 0)) {
    throw new StoreError('incompatible', `${db.file}: this is a database of another program; move it away or choose another data folder`);
  }
  if (version > target) {
    throw new StoreError(
      'incompatible',
      `${db.file}: its schema has version ${version}, this version of Pawl knows up to ${target}; use a newer Pawl or another data folder`,
    );
  }
  for (const step of migrations) {
    if (step.version <= version || step.version > target) continue;
    db.transaction(() => {
      db.exec(step.sql);
      db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${step.version};`);
    });
  }
}
