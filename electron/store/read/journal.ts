// The counter over all runs of the folder.
import type { JournalItem } from '#shared/contract/app.ts';
import { type ReadableDb, sql } from '../db.ts';

export const selectJournal = sql<JournalItem>(
  'SELECT j.seq AS journal, r.id AS run, j.type FROM journal j JOIN run r ON r.no = j.run WHERE j.seq > ? ORDER BY j.seq LIMIT ?',
);
export const selectLast = sql<{ seq: number | null }>('SELECT max(seq) AS seq FROM journal');

/** Items after `after`, oldest first, at most `limit`. */
export function getJournal(db: ReadableDb, { after, limit }: { after: number; limit: number }): JournalItem[] {
  return db.all(selectJournal, after, limit);
}

/** Number of the last item; 0 where there is none. */
export function lastJournal(db: ReadableDb): number {
  return db.get(selectLast)?.seq ?? 0;
}
