// Where the model server of a run was last reached.
import type { RunId } from '#shared/domain/ids.ts';
import type { RunServer } from '../api.ts';
import { type ReadableDb, sql } from '../db.ts';

export const selectRunServer = sql<{ base_url: string; key_variable: string | null }>(
  'SELECT base_url, key_variable FROM run_server WHERE run = (SELECT no FROM run WHERE id = ?)',
);

/** Null for a run that needs none, and for one that is not there. */
export function getRunServer(db: ReadableDb, run: RunId): RunServer | null {
  const row = db.get(selectRunServer, run);
  return row === undefined ? null : { baseUrl: row.base_url, keyVariable: row.key_variable };
}
