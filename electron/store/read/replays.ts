// What replays have found on this machine.
import type { RunId, Sha } from '#shared/domain/ids.ts';
import { Rank } from '#shared/domain/verdict.ts';
import type { DecisionReplayRow, ReverificationRow } from '../api.ts';
import { type ReadableDb, sql } from '../db.ts';
import { rowKey } from '../keys.ts';
import { runPlace } from './runs.ts';

export const selectDecisionReplay = sql<{
  at: string;
  events: number;
  last_event: Sha;
  transitions: number;
  mismatches: number;
  missing: number;
}>(
  'SELECT d.at, d.events, d.last_event, d.transitions, d.mismatches, d.missing FROM run r JOIN decision_replay d ON d.run = r.no WHERE r.id = ?',
);
export const selectReverifications = sql<{ id: string; started_at: string; duration_ms: number; result: string; rank: string | null }>(
  'SELECT id, started_at, duration_ms, result, rank FROM reverification WHERE bundle = ? ORDER BY no',
);

/** Null: the run was never replayed here. */
export function getDecisionReplay(db: ReadableDb, run: RunId): DecisionReplayRow | null {
  const row = db.get(selectDecisionReplay, run);
  if (row === undefined) return null;
  const { last_event: lastEvent, ...rest } = row;
  return { ...rest, lastEvent };
}

/** Executions of the verifier after the fact on one bundle, oldest first. Throws a StoreError of kind `not_found` without the run. */
export function getReverifications(db: ReadableDb, { run, seq }: { run: RunId; seq: number }): ReverificationRow[] {
  return db.snapshot(() =>
    db
      .all(selectReverifications, rowKey(runPlace(db, run).no, seq))
      .map(({ id, started_at: startedAt, duration_ms: durationMs, result, rank }) => ({
        id,
        startedAt,
        durationMs,
        result,
        rank: rank === null ? null : Rank.parse(JSON.parse(rank)),
      })),
  );
}
