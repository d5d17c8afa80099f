// Decision replays of stored runs, and edits of what is stored, made past the triggers.
import path from 'node:path';
import Database from 'better-sqlite3';
import type { AuditDeps } from '#electron/core/audit/audit-run.ts';
import { replayDecisions, type ReplayDeps } from '#electron/core/replay/decision-replay.ts';
import { openReadable } from '#electron/store/db.ts';
import { getBlob, getManifest } from '#electron/store/read/blobs.ts';
import {
  getContractBody,
  getReplayHead,
  getStoredVerdict,
  pageReplayEvents,
  pageReplaySalts,
  pageReplayTransitions,
} from '#electron/store/read/replay.ts';
import { getAncestorVerdicts } from '#electron/store/read/resume.ts';
import type { ResponseReader } from '#electron/proposers/proposer.ts';
import type { DecisionReplayReport } from '#shared/contract/replay.ts';
import type { RunId } from '#shared/domain/ids.ts';

/** Replays to the end and gives the report. */
export async function replay(store: ReplayDeps['store'], run: RunId, proposer: ResponseReader): Promise<DecisionReplayReport> {
  let report: DecisionReplayReport | null = null;
  for await (const item of replayDecisions({ store, proposerOf: () => proposer }, run, new AbortController().signal)) {
    if (item.kind === 'report') ({ report } = item);
  }
  if (report === null) throw new Error('a replay without a report');
  return report;
}

/** The reads of a replay, and of an audit, on one fresh connection, without threads: it has cached nothing of before an edit. */
export function freshReads(dataDir: string): { readonly store: AuditDeps['store']; close(): void } {
  const db = openReadable(path.join(dataDir, 'pawl.db'), path.join(dataDir, 'blobs'));
  const asked =
    <I, O>(read: (of: typeof db, input: I) => O) =>
    async (input: I): Promise<O> => {
      await Promise.resolve();
      return read(db, input);
    };
  return {
    store: {
      getReplayHead: asked(getReplayHead),
      pageReplayEvents: asked(pageReplayEvents),
      pageReplaySalts: asked(pageReplaySalts),
      pageReplayTransitions: asked(pageReplayTransitions),
      getStoredVerdict: asked(getStoredVerdict),
      getContractBody: asked(getContractBody),
      getAncestorVerdicts: asked(getAncestorVerdicts),
      getManifest: asked(getManifest),
      getBlob: asked(getBlob),
    },
    close: () => db.close(),
  };
}

/** A connection past every trigger and check. */
export function openPast(dataDir: string): Database.Database {
  const db = new Database(path.join(dataDir, 'pawl.db'));
  db.pragma('foreign_keys = OFF');
  db.pragma('ignore_check_constraints = ON');
  const names = db.prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all();
  for (const { name } of names) db.exec(`DROP TRIGGER "${name}"`);
  return db;
}
