// Any single edit of a stored run, anywhere in it, is found and named; so is any flipped byte of an event line or a stored object.
import { assert, asyncProperty, boolean, constantFrom, double } from 'fast-check';
import { expect, test } from 'vitest';
import { ensure } from '#shared/lib/assert.ts';
import { randomScript } from '../support/engine/random-script.ts';
import { changed, columnsOf, names, rowsOf, tables, valueAt, write, takeBack } from '../engine/replay/edits.ts';
import { storedForEdits, withAutos } from '../engine/replay/stored.ts';

const { open, replayed } = storedForEdits({
  ...withAutos({
    contract: { caps: [9, 9, 9], measurement: { confirmRuns: 2, paired: true, preflightRuns: 2 }, infraRetries: 1 },
    script: randomScript(7, 9),
  }),
  seed: { rank: [5, 4, 4] },
  header: { slots: 3, budget: { attempts: 30 } },
  verifier: {
    override: (tree, time, state) =>
      'rank' in state && Number.parseInt(tree.slice(0, 4), 16) % 4 === 0 && time === 2 ? { rank: state.rank.map((r) => r + 1) } : state,
  },
});

const possible = (edit: () => void): boolean => {
  try {
    edit();
    return true;
  } catch (error) {
    if (/NOT NULL|cannot store/.test(String(error))) return false;
    throw error;
  }
};

test('any single edit is named', async () => {
  const db = open();
  const columns = tables.flatMap((table) => columnsOf(db, table).map((column) => ({ table, column, rows: rowsOf(db, table) })));
  try {
    await assert(
      asyncProperty(
        constantFrom(...columns),
        double({ min: 0, max: 0.999_999, noNaN: true }),
        double({ min: 0, max: 0.999_999, noNaN: true }),
        boolean(),
        async ({ table, column, rows }, row, place, clear) => {
          const rowid = ensure(rows[Math.floor(row * rows.length)], `row of ${table}`);
          const before = valueAt(db, table, column, rowid);
          const value = clear && before !== null ? null : changed(before, place);
          const edit = { table, column, rowid, value };
          // NOT NULL and the kinds of a STRICT table hold even here: such an edit cannot be made.
          if (!possible(() => write(db, edit))) return;
          try {
            const report = await replayed();
            expect({ named: names(report, db, edit, before), found: report.mismatches.slice(0, 5) }).toMatchObject({ named: true });
          } finally {
            takeBack(db, edit, before);
          }
        },
      ),
      { numRuns: Number(process.env['FC_RUNS'] ?? 80) },
    );
  } finally {
    db.close();
  }
  expect((await replayed()).ok).toBe(true);
});

test('a row that is gone, or one too many, is named', async () => {
  const db = open();
  try {
    for (const table of ['transition', 'memory', 'event', 'salt', 'bundle', 'verifier_run', 'verdict']) {
      const rows = rowsOf(db, table);
      const rowid = Number(ensure(rows[Math.floor(rows.length / 2)], table));
      const key = table === 'verdict' ? 'no' : 'key';
      const kept = ensure(
        db.prepare<[number], Record<string, string | number | null>>(`SELECT * FROM ${table} WHERE ${key} = ?`).get(rowid),
        table,
      );
      db.prepare(`DELETE FROM ${table} WHERE ${key} = ?`).run(rowid);
      const report = await replayed();
      expect({ table, ok: report.ok }).toEqual({ table, ok: false });
      const names = Object.keys(kept);
      db.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`).run(...Object.values(kept));
    }
  } finally {
    db.close();
  }
  expect((await replayed()).ok).toBe(true);
});
