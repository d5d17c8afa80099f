// What a run's proposer answered, for a run that gives it again.
import type { RunId, Sha } from '#shared/domain/ids.ts';
import { outcomes } from '#shared/domain/transition.ts';
import { type ReadableDb, sql } from '../db.ts';
import { maxInRun, rowKey } from '../keys.ts';
import { runPlace } from './runs.ts';

// The draw of an attempt is 1 + the attempts before it that were not aborted.
const selectResponses = sql<{ response: Sha | null }>(
  `SELECT response FROM transition WHERE key BETWEEN ? AND ? AND outcome <> ${outcomes.indexOf('aborted')} ORDER BY key`,
);

/** Response i belongs to draw i + 1; null where none came. Throws a StoreError of kind `not_found`. */
export function getResponses(db: ReadableDb, run: RunId): (Sha | null)[] {
  return db.snapshot(() => {
    const { no } = runPlace(db, run);
    return db.all(selectResponses, rowKey(no, 1), rowKey(no, maxInRun)).map(({ response }) => response);
  });
}
