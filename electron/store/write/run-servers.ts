// Where the model server of a run was last reached.
import type { RunId } from '#shared/domain/ids.ts';
import type { RunServer } from '../api.ts';
import { sql, type WritableDb } from '../db.ts';
import { runRow } from './run-row.ts';

const upsert = sql(
  `INSERT INTO run_server (run, base_url, key_variable) VALUES (?, ?, ?)
   ON CONFLICT (run) DO UPDATE SET base_url = excluded.base_url, key_variable = excluded.key_variable`,
);

/** Replaces the last one. Throws a StoreError of kind `not_found`. */
export function setRunServer(db: WritableDb, { run, baseUrl, keyVariable }: RunServer & { readonly run: RunId }): void {
  db.transaction(() => {
    db.run(upsert, runRow(db, run).no, baseUrl, keyVariable);
  });
}
