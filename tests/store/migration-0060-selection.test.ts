import { expect, test } from 'vitest';
import { openWritable, sql, type WritableDb } from '#electron/store/db.ts';
import { rowKey } from '#electron/store/keys.ts';
import { migrate } from '#electron/store/migrations/migrate.ts';
import { getSelections, selectOfRun } from '#electron/store/read/selections.ts';
import { addSelection } from '#electron/store/write/selections.ts';
import type { SelectionInput } from '#electron/store/api.ts';
import type { Selection } from '#shared/domain/selection.ts';
import { ensure } from '#shared/lib/assert.ts';
import { hashJson, sha256Hex, sha256Text } from '#shared/lib/hash.ts';
import { database, round, start, temporaryFolder } from './support/database.ts';
import { databaseFile } from './support/files.ts';
import { byKey, namesOf, planProblems } from './support/plan.ts';
import { createScenario, type Scenario } from './support/scenario.ts';

const scenarioOf = (i: number, caps: number[] = [9]): Scenario =>
  createScenario({ i, caps, genesis: caps.map(() => 3), header: { seed: i } });

const runOf = ({ run, head }: Scenario, i: number): Selection['runs'][number] => {
  const { id, seq, tree, potential, rank } = head();
  return { run, seed: i, stop: null, end: { bundle: id, seq, tree, potential, rank } };
};

const named = (selection: Selection, more: Partial<SelectionInput> = {}): SelectionInput => ({
  sha: hashJson(selection),
  selection,
  blobs: [],
  trees: [],
  ...more,
});

/** Two runs that tie, and a selection of them. */
function two(db: WritableDb) {
  const scenarios = [1, 2].map((i) => scenarioOf(i));
  for (const scenario of scenarios) {
    start(db, scenario);
    round(db, scenario, [{ kind: 'ranked', text: `better ${scenario.run}`, rank: [1] }]);
  }
  const first = ensure(scenarios[0], 'a scenario');
  const selection: Selection = {
    format: 'pawl.selection/1',
    at: '2026-01-02T00:00:00.000Z',
    contract: first.head().contract,
    base: sha256Text('base'),
    runs: scenarios.map((scenario, i) => runOf(scenario, i + 1)),
    order: [1, 0],
    decidedBy: 'tree',
    crosscheck: { kind: 'none', reason: 'not_declared', message: 'the task declares none' },
  };
  return { scenarios, first, selection };
}

const dump = (db: WritableDb) =>
  ['selection', 'selection_run', 'journal', 'blob', 'run', 'event'].map((table) => db.all(sql(`SELECT * FROM ${table} ORDER BY 1`)));

test('migration 60 makes selections', () => {
  const dir = temporaryFolder();
  const db = openWritable(databaseFile(dir), dir);
  migrate(db, 60);
  expect(db.userVersion).toBe(60);
  expect(namesOf(db, 'trigger', 'selection')).toEqual(['selection_no_delete', 'selection_no_replace', 'selection_no_update']);
  expect(namesOf(db, 'trigger', 'selection_run')).toEqual(['selection_run_insert', 'selection_run_no_delete', 'selection_run_no_update']);
  expect(planProblems(db, selectOfRun, [1], [/USING COVERING INDEX selection_of_run/, byKey])).toEqual([]);
  db.close();
});

test('a selection is found by each of its runs and changes nothing of them', () => {
  const db = database();
  const { selection, scenarios } = two(db);
  const runs = db.all(sql('SELECT * FROM run'));
  const events = db.all(sql('SELECT * FROM event'));
  const input = named(selection);
  expect(addSelection(db, input).map(({ run, type }) => [run, type])).toEqual(scenarios.map(({ run }) => [run, 'select']));
  for (const { run } of scenarios) expect(getSelections(db, run)).toEqual([{ sha: input.sha, selection }]);
  expect(db.all(sql('SELECT * FROM run'))).toEqual(runs);
  expect(db.all(sql('SELECT * FROM event'))).toEqual(events);
  expect(() => getSelections(db, 'run_01890000-0000-7000-8000-00000000ffff')).toThrow(/there is no run/);
});

test('it is written once', () => {
  const db = database();
  const { selection } = two(db);
  addSelection(db, named(selection));
  const before = dump(db);
  expect(() => addSelection(db, named(selection))).toThrow(/immutable/);
  for (const [table, column] of [
    ['selection', 'body'],
    ['selection_run', 'run'],
  ] as const) {
    expect(() => db.run(sql(`UPDATE ${table} SET ${column} = ${column}`))).toThrow(/immutable/);
    expect(() => db.run(sql(`DELETE FROM ${table}`))).toThrow(/immutable/);
    expect(() => db.run(sql(`INSERT OR REPLACE INTO ${table} SELECT * FROM ${table} LIMIT 1`))).toThrow(/immutable/);
  }
  expect(dump(db)).toEqual(before);
});

test('a record that says something else than its runs is refused whole', () => {
  const db = database();
  const { selection, first } = two(db);
  const before = dump(db);
  const [one, other] = selection.runs;
  const end = ensure(one?.end, 'an end');
  const withEnd = (changed: Partial<typeof end>): Selection => ({
    ...selection,
    runs: [{ run: first.run, seed: 1, stop: null, end: { ...end, ...changed } }],
  });
  const refused = (wrong: Selection) => () => addSelection(db, named(wrong));
  expect(() => addSelection(db, { ...named(selection), sha: sha256Text('other') })).toThrow(/not the hash of its record/);
  for (const wrong of [{ potential: 0 }, { rank: [0] }, { tree: sha256Text('x') }, { bundle: sha256Text('x') }, { seq: 0 }])
    expect(refused(withEnd(wrong))).toThrow(/did not end as it says/);
  expect(refused({ ...selection, at: 'yesterday' })).toThrow(/not an instant/);
  expect(refused({ ...selection, runs: [{ ...ensure(other, 'a run'), run: 'run_01890000-0000-7000-8000-00000000ffff' }] })).toThrow(
    /there is no run/,
  );
  const elsewhere = scenarioOf(3, [9, 9]);
  start(db, elsewhere);
  expect(refused({ ...selection, runs: [...selection.runs, runOf(elsewhere, 3)] })).toThrow(/held to another contract/);
  expect(dump(db).slice(0, 2)).toEqual(before.slice(0, 2));
  // The database says so as well, whoever writes.
  addSelection(db, named(selection));
  expect(() => db.run(sql('INSERT INTO selection_run VALUES (1, 5, 3, NULL)'))).toThrow(/another contract/);
  expect(() => db.run(sql('INSERT INTO selection_run VALUES (1, 5, 1, ?)'), rowKey(2, 0))).toThrow(/no bundle of it/);
});

test('what a cross-check names is stored with it, or it is not stored', () => {
  const db = database();
  const { selection, scenarios } = two(db);
  const bytes = new TextEncoder().encode('{"a report":1}');
  const report = sha256Hex(bytes);
  const trees = scenarios.map((scenario) => scenario.head().tree);
  const cell = (named_: string, tree: string | null) => ({
    author: 0,
    target: null,
    contract: sha256Text('derived'),
    tree,
    executions: [
      {
        id: 'vrun_1',
        nonce: 'a'.repeat(32),
        startedAt: '2026-01-02T00:00:00.000Z',
        durationMs: 1.5,
        exitCode: null,
        signal: null,
        report: named_,
        output: null,
        result: 'ranked',
      },
    ],
    result: { kind: 'ranked' as const, rank: [0] },
  });
  const made = (one: ReturnType<typeof cell>): Selection => ({
    ...selection,
    decidedBy: 'crosscheck',
    crosscheck: {
      kind: 'made',
      program: null,
      leftOut: [],
      finalists: trees.map((tree, i) => ({ tree, runs: [i], tests: [], omitted: 0, failedAuthors: 0, failedTests: 0, ofTests: 0 })),
      cells: [one],
      results: [],
    },
  });
  const good = made(cell(report, trees[0] ?? null));
  expect(() => addSelection(db, named(good))).toThrow(/object .* is not stored/);
  expect(() => addSelection(db, named(made(cell(report, sha256Text('no tree'))), { blobs: [{ sha: report, bytes }] }))).toThrow(
    /tree .* is not stored/,
  );
  addSelection(db, named(good, { blobs: [{ sha: report, bytes }] }));
  expect(getSelections(db, scenarios[1]?.run ?? '')).toEqual([{ sha: hashJson(good), selection: good }]);
});
