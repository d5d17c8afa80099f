// Decision replays of stored runs, and edits of what is stored, made past the triggers.
import path from 'node:path';
import Database from 'better-sqlite3';
import { replayDecisions } from '#electron/core/replay/decision-replay.ts';
import type { OpenStore } from '#electron/store/store.ts';
import type { Proposer } from '#electron/proposers/proposer.ts';
import type { DecisionReplayReport } from '#shared/contract/replay.ts';
import type { RunId } from '#shared/domain/ids.ts';

/** Replays to the end and gives the report. */
export async function replay(store: OpenStore, run: RunId, proposer: Pick<Proposer, 'materialise'>): Promise<DecisionReplayReport> {
  let report: DecisionReplayReport | null = null;
  for await (const item of replayDecisions({ store, proposerOf: () => proposer }, run, new AbortController().signal)) {
    if (item.kind === 'report') ({ report } = item);
  }
  if (report === null) throw new Error('a replay without a report');
  return report;
}

/** Opens the database past every trigger and check; `edit` changes what it likes. */
export function tamper<T>(dataDir: string, edit: (db: Database.Database) => T): T {
  const db = new Database(path.join(dataDir, 'pawl.db'));
  try {
    db.pragma('foreign_keys = OFF');
    db.pragma('ignore_check_constraints = ON');
    const names = db.prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all();
    for (const { name } of names) db.exec(`DROP TRIGGER "${name}"`);
    return edit(db);
  } finally {
    db.close();
  }
}
