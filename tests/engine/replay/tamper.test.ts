// Every stored field of a run, edited alone behind the store's back, is found and named.
import { expect, test } from 'vitest';
import type Database from 'better-sqlite3';
import { randomScript } from '../../support/engine/random-script.ts';
import { changed, columnsOf, type Edit, names, rowsOf, tables, valueAt, write, takeBack } from './edits.ts';
import { storedForEdits, withAutos } from './stored.ts';

const { open, replayed } = storedForEdits({
  ...withAutos({
    contract: { caps: [12, 12, 12], measurement: { confirmRuns: 2, paired: true, preflightRuns: 2 }, infraRetries: 1 },
    script: randomScript(3, 12),
  }),
  seed: { rank: [4, 4, 4] },
  header: { slots: 3, budget: { attempts: 30 } },
  verifier: {
    sandbox: { backend: 'bubblewrap', lacks: ['systemCalls'] },
    override: (tree, time, state) =>
      'rank' in state && time === 1 && Number.parseInt(tree.slice(0, 4), 16) % 6 === 0 ? { noVerdict: 'infra' } : state,
  },
});

/** Makes the edit and replays. */
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
  const db = open();
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
          takeBack(db, edit, before);
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
