// What replays leave behind: the last decision replay of a run, and executions of the verifier that certify nothing.
import type { JournalItem } from '#shared/contract/app.ts';
import type { RunId } from '#shared/domain/ids.ts';
import type { DecisionReplayRow, ReverificationInput } from '../api.ts';
import { sql, type WritableDb } from '../db.ts';
import { StoreError } from '../errors.ts';
import { rowKey } from '../keys.ts';
import { appendJournal, checkInstant } from './append.ts';
import { insertContent, prepareContent } from './blobs.ts';
import { runRow } from './run-row.ts';

const upsert = sql(
  `INSERT INTO decision_replay (run, at, events, last_event, transitions, mismatches, missing) VALUES (?, ?, ?, ?, ?, ?, ?)
   ON CONFLICT (run) DO UPDATE SET at = excluded.at, events = excluded.events, last_event = excluded.last_event,
     transitions = excluded.transitions, mismatches = excluded.mismatches, missing = excluded.missing`,
);
const insertExecution = sql(
  'INSERT INTO reverification (bundle, id, nonce, started_at, duration_ms, exit_code, signal, report, output, result, rank) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
);
const hasBundle = sql<{ key: number }>('SELECT key FROM bundle WHERE key = ?');

/** Replaces what was known. Throws a StoreError of kind `not_found` without the run. */
export function setDecisionReplay(db: WritableDb, input: DecisionReplayRow & { readonly run: RunId }): JournalItem[] {
  const { run, at, events, lastEvent, transitions, mismatches, missing } = input;
  checkInstant(at);
  return db.transaction(() => {
    const { no } = runRow(db, run);
    db.run(upsert, no, at, events, lastEvent, transitions, mismatches, missing);
    return [appendJournal(db, no, run, 'replay')];
  });
}

/** Adds executions on a bundle, with their bytes. Throws a StoreError of kind `not_found` without the bundle. */
export function addReverification(db: WritableDb, { run, seq, blobs, executions }: ReverificationInput): JournalItem[] {
  for (const { startedAt } of executions) checkInstant(startedAt);
  const content = prepareContent(db, blobs, []);
  return db.transaction(() => {
    const { no } = runRow(db, run);
    const bundle = rowKey(no, seq);
    if (db.get(hasBundle, bundle) === undefined) throw new StoreError('not_found', `run ${run} has no bundle ${seq}`);
    insertContent(db, content);
    for (const { id, nonce, startedAt, durationMs, exitCode, signal, report, output, result, rank } of executions) {
      db.run(
        insertExecution,
        bundle,
        id,
        nonce,
        startedAt,
        durationMs,
        exitCode,
        signal,
        report,
        output,
        result,
        rank === null ? null : JSON.stringify(rank),
      );
    }
    return [appendJournal(db, no, run, 'reverify')];
  });
}
