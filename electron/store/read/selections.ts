// Choices among several runs.
import type { RunId, Sha } from '#shared/domain/ids.ts';
import { type NamedSelection, Selection } from '#shared/domain/selection.ts';
import { type ReadableDb, sql } from '../db.ts';
import { runPlace } from './runs.ts';

export const selectOfRun = sql<{ sha: Sha; body: string }>(
  'SELECT s.sha, s.body FROM selection_run r JOIN selection s ON s.no = r.selection WHERE r.run = ? ORDER BY r.selection',
);

/** The choices that a run took part in, oldest first. Throws a StoreError of kind `not_found` without the run. */
export function getSelections(db: ReadableDb, run: RunId): NamedSelection[] {
  return db.snapshot(() =>
    db.all(selectOfRun, runPlace(db, run).no).map(({ sha, body }) => ({ sha, selection: Selection.parse(JSON.parse(body)) })),
  );
}
