// Every stored field of a run, edited alone behind the store's back, is found and named.
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type Database from 'better-sqlite3';
import { randomScript } from '../../support/engine/random-script.ts';
import { createStoredRun, type StoredRun, type StoredStore, temporaryStore } from '../../support/engine/stored-run.ts';
import { changed, columnsOf, type Edit, names, rowsOf, tables, valueAt, write } from './edits.ts';
import { freshReads, openPast, replay } from './support.ts';

let opened: StoredStore;
let stored: StoredRun;

beforeAll(async () => {
  opened = await temporaryStore();
  stored = await createStoredRun(opened.store, {
    contract: { caps: [12, 12, 12], measurement: { confirmRuns: 2, paired: true, preflightRuns: 2 }, infraRetries: 1 },
    seed: { rank: [4, 4, 4] },
    script: randomScript(3, 12),
    header: { slots: 3, budget: { attempts: 36 } },
    verifier: {
      override: (tree, time, state) =>
        'rank' in state && time === 1 && Number.parseInt(tree.slice(0, 4), 16) % 6 === 0 ? { noVerdict: 'infra' } : state,
    },
  });
  await stored.go(opened.store);
  await opened.store.close();
});
afterAll(() => rm(opened.dataDir, { recursive: true, force: true }));

const replayed = async () => {
  const reads = freshReads(opened.dataDir);
  try {
    return await replay(reads.store, stored.run, stored.proposer);
  } finally {
    reads.close();
  }
};

/** Replays with the edit in place, then takes it back. */
const found = (edit: Edit, db: Database.Database, before: ReturnType<typeof valueAt>) => {
  write(db, edit);
  return replayed().then(
    (report) => ({ report, named: names(report, db, edit, before) }),
    (error: unknown) => ({ report: null, named: false, error }),
  );
};

test('nothing is named before anything is edited', async () => {
  const report = await replayed();
  expect(report.mismatches).toEqual([]);
  expect(report.ok).toBe(true);
});

test('every column of every table, in three rows each', async () => {
  const silent: unknown[] = [];
  let edits = 0;
  const db = openPast(opened.dataDir);
  try {
    for (const table of tables) {
      const rows = rowsOf(db, table);
      for (const column of columnsOf(db, table)) {
        for (const at of new Set([0, Math.floor(rows.length / 2), rows.length - 1])) {
          const rowid = rows[at];
          if (rowid === undefined) continue;
          const before = valueAt(db, table, column, rowid);
          const edit: Edit = { table, column, rowid, value: changed(before, 0.5) };
          const result = await found(edit, db, before);
          // A key that was edited has another name now.
          write(db, {
            ...edit,
            value: before,
            rowid: column === 'sha' && (table === 'contract' || table === 'tree') ? String(edit.value) : rowid,
          });
          edits++;
          if (!result.named)
            silent.push({
              table,
              column,
              rowid,
              before: String(before).slice(0, 60),
              after: String(edit.value).slice(0, 60),
              ...('error' in result
                ? { error: String(result.error) }
                : { found: result.report?.mismatches.slice(0, 4), missing: result.report?.missing.slice(0, 2) }),
            });
        }
      }
    }
  } finally {
    db.close();
  }
  expect(silent).toEqual([]);
  expect(edits).toBeGreaterThan(200);
  expect((await replayed()).ok).toBe(true);
});
