// Stopping a run between rounds, and going on with one.
import type { JournalItem } from '#shared/contract/app.ts';
import type { ResumeRun, StopRun } from '../api.ts';
import type { WritableDb } from '../db.ts';
import { StoreError } from '../errors.ts';
import { appendEvents, appendJournal, checkInstant } from './append.ts';
import { openRoundNumber } from './open-round.ts';
import { advance, goingRun, type RunRow, runRow, setStop } from './run-row.ts';

const noOpenRound = (db: WritableDb, run: string, row: RunRow): void => {
  const open = openRoundNumber(db, row);
  if (open !== null) throw new StoreError('conflict', `run ${run}: round ${open} is open`);
};

/** Throws a StoreError of kind `conflict` when the run has stopped already, was never started or has an open round. */
export function stopRun(db: WritableDb, { run, at, reason, note, event }: StopRun): JournalItem[] {
  checkInstant(at);
  return db.transaction(() => {
    const row = goingRun(db, run);
    noOpenRound(db, run, row);
    setStop(db, row.no, { reason, note });
    const end = appendEvents(db, row.no, { events: row.events, last: row.last_event }, at, [event]);
    advance(db, row.no, at, { ...end, salts: row.salts });
    return [appendJournal(db, row.no, run, 'stop')];
  });
}

/** Takes a stop by the user back; appends the event for an interrupted run too. Every other stop is final: StoreError of kind `conflict`. */
export function resumeRun(db: WritableDb, { run, at, event }: ResumeRun): JournalItem[] {
  checkInstant(at);
  return db.transaction(() => {
    const row = runRow(db, run);
    if (row.head === null) throw new StoreError('conflict', `run ${run} was not started: nothing is certified`);
    if (row.stop !== null && row.stop !== 'user')
      throw new StoreError('conflict', `run ${run} has stopped (${row.stop}); that is final, branch from it`);
    noOpenRound(db, run, row);
    setStop(db, row.no, null);
    const end = appendEvents(db, row.no, { events: row.events, last: row.last_event }, at, [event]);
    advance(db, row.no, at, { ...end, salts: row.salts });
    return [appendJournal(db, row.no, run, 'resume')];
  });
}
