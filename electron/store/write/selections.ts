// Choices among several runs, with everything that a cross-check left behind.
import type { JournalItem } from '#shared/contract/app.ts';
import type { Sha } from '#shared/domain/ids.ts';
import { canonicalJson } from '#shared/lib/canonical-json.ts';
import { sha256Text } from '#shared/lib/hash.ts';
import type { SelectionInput } from '../api.ts';
import { sql, type WritableDb } from '../db.ts';
import { StoreError } from '../errors.ts';
import { rowKey } from '../keys.ts';
import { appendJournal, checkInstant } from './append.ts';
import { blobExists, insertContent, prepareContent } from './blobs.ts';
import { runRow } from './run-row.ts';

const insertSelection = sql('INSERT INTO selection (sha, contract, body) VALUES (?, ?, ?)');
const insertRun = sql('INSERT INTO selection_run (selection, position, run, bundle) VALUES (?, ?, ?, ?)');
const selectEnd = sql<{ id: Sha; tree: Sha; potential: number; rank: string }>(
  'SELECT id, tree, potential, rank FROM bundle WHERE key = ?',
);
const hasTree = sql<{ size: number }>('SELECT size FROM tree WHERE sha = ?');

/**
 * Keeps a selection under the SHA-256 of its canonical JSON. Throws a StoreError of kind `not_found` without one of its runs, and
 * `constraint` where the record says something else than the runs do, or names a report, an output or a tree that is not there.
 */
export function addSelection(db: WritableDb, { sha, selection, blobs, trees }: SelectionInput): JournalItem[] {
  checkInstant(selection.at);
  const body = canonicalJson(selection);
  if (sha256Text(body) !== sha) throw new StoreError('constraint', `a selection was given as ${sha}, which is not the hash of its record`);
  const refuse = (what: string): never => {
    throw new StoreError('constraint', `selection ${sha}: ${what}`);
  };
  const content = prepareContent(db, blobs, trees);
  return db.transaction(() => {
    insertContent(db, content);
    const no = Number(db.run(insertSelection, sha, selection.contract, body).lastInsertRowid);
    const rows = selection.runs.map(({ run, end }, position) => {
      const row = runRow(db, run);
      const key = end === null ? null : rowKey(row.no, end.seq);
      if (end !== null) {
        const found = db.get(selectEnd, rowKey(row.no, end.seq));
        const same =
          found?.id === end.bundle &&
          found.tree === end.tree &&
          found.potential === end.potential &&
          found.rank === JSON.stringify(end.rank);
        if (!same) refuse(`run ${run} did not end as it says`);
      }
      db.run(insertRun, no, position, row.no, key);
      return row.no;
    });
    if (selection.crosscheck.kind === 'made') {
      for (const { tree, executions } of selection.crosscheck.cells) {
        if (tree !== null && db.get(hasTree, tree) === undefined) refuse(`tree ${tree} is not stored`);
        for (const { report, output } of executions) {
          for (const named of [report, output]) if (named !== null && !blobExists(db, named)) refuse(`object ${named} is not stored`);
        }
      }
    }
    return rows.map((run, i) => appendJournal(db, run, selection.runs[i]?.run ?? '', 'select'));
  });
}
