import { expect, test } from 'vitest';
import { openWritable, sql } from '#electron/store/db.ts';
import { rowKey } from '#electron/store/keys.ts';
import { migrate } from '#electron/store/migrations/migrate.ts';
import { getRelatives, resolveBundle, selectBranch, selectBranches, selectByPrefix } from '#electron/store/read/branches.ts';
import {
  selectEventRows,
  selectLast,
  selectMemoryRows,
  selectSaltRows,
  selectTransitionRows,
  selectUseRows,
  selectVerdictRow,
  selectVerifierRuns,
} from '#electron/store/read/replay.ts';
import { getDecisionReplay, getReverifications, selectDecisionReplay, selectReverifications } from '#electron/store/read/replays.ts';
import { createRun } from '#electron/store/write/create-run.ts';
import { addReverification, setDecisionReplay } from '#electron/store/write/replays.ts';
import { sha256Text } from '#shared/lib/hash.ts';
import { database, start, temporaryFolder } from './support/database.ts';
import { databaseFile } from './support/files.ts';
import { byKey, namesOf, planProblems } from './support/plan.ts';
import { createScenario } from './support/scenario.ts';

test('migration 50 makes branches, re-verifications and the last decision replay', () => {
  const dir = temporaryFolder();
  const db = openWritable(databaseFile(dir), dir);
  migrate(db, 50);
  expect(db.userVersion).toBe(50);
  expect(namesOf(db, 'table')).toEqual(expect.arrayContaining(['branch', 'decision_replay', 'reverification']));
  expect(namesOf(db, 'trigger', 'branch')).toEqual(['branch_insert', 'branch_no_delete', 'branch_no_replace', 'branch_no_update']);
  expect(namesOf(db, 'trigger', 'reverification')).toEqual([
    'reverification_no_delete',
    'reverification_no_replace',
    'reverification_no_update',
  ]);
  const byBranchParent = /USING COVERING INDEX branch_parent/;
  const uniqueId = /USING INDEX sqlite_autoindex_run_1|USING COVERING INDEX sqlite_autoindex_run_1/;
  expect(planProblems(db, selectBranch, [1], [byKey, byKey, byKey])).toEqual([]);
  expect(planProblems(db, selectBranches, [1, 2], [byBranchParent, byKey, byKey])).toEqual([]);
  expect(planProblems(db, selectByPrefix, ['a', 'b'], [/USING COVERING INDEX bundle_id/])).toEqual([]);
  expect(planProblems(db, selectReverifications, [1], [/USING INDEX reverification_bundle/])).toEqual([]);
  expect(planProblems(db, selectDecisionReplay, ['run_1'], [uniqueId, byKey])).toEqual([]);
  for (const query of [selectEventRows, selectSaltRows, selectTransitionRows])
    expect(planProblems(db, query, [1, 2, 3], [byKey])).toEqual([]);
  expect(planProblems(db, selectMemoryRows, [1, 2], [byKey])).toEqual([]);
  expect(planProblems(db, selectUseRows, [1, 2], [/USING PRIMARY KEY/])).toEqual([]);
  expect(planProblems(db, selectVerdictRow, ['a'], [/USING INDEX sqlite_autoindex_verdict_1/])).toEqual([]);
  expect(planProblems(db, selectVerifierRuns, [1, 2], [byKey])).toEqual([]);
  for (const query of Object.values(selectLast)) expect(planProblems(db, query, [1, 2], [byKey])).toEqual([]);
  db.close();
});

test('a branch names the bundle that its header names, of an earlier run, once', () => {
  const db = database();
  const parent = createScenario({ i: 1, caps: [9], genesis: [3] });
  start(db, parent);
  const child = createScenario({ i: 2, caps: [9], genesis: [3], header: { seed: 2 } });
  // The header of this one names no parent.
  expect(() => createRun(db, { ...child.create(), from: { run: parent.run, seq: 0, transitions: 0 } })).toThrow(/names another parent/);
  expect(() => createRun(db, { ...child.create(), from: { run: parent.run, seq: 7, transitions: 0 } })).toThrow(/has no bundle 7/);
  const branch = createScenario({ i: 3, caps: [9], genesis: [3], header: { parent: parent.head().id } });
  createRun(db, { ...branch.create(), from: { run: parent.run, seq: 0, transitions: 0 } });
  const id = parent.head().id;
  expect(getRelatives(db, branch.run)).toEqual({ parent: { run: parent.run, seq: 0, id }, branches: [] });
  expect(getRelatives(db, parent.run)).toEqual({ parent: null, branches: [{ run: branch.run, seq: 0, id }] });
  expect(() => db.run(sql('UPDATE branch SET transitions = 3'))).toThrow(/immutable/);
  expect(() => db.run(sql('INSERT OR REPLACE INTO branch VALUES (2, ?, 1)'), rowKey(1, 0))).toThrow(/immutable/);
});

test('a bundle is found by the beginning of its id; equal histories are one', () => {
  const db = database();
  const [first, twin, other] = [1, 2, 3].map((i) => createScenario({ i, caps: [9], genesis: [i === 3 ? 4 : 3] }));
  for (const scenario of [first, twin, other]) if (scenario !== undefined) start(db, scenario);
  const id = first?.head().id ?? '';
  expect(twin?.head().id).toBe(id);
  expect(resolveBundle(db, id.slice(0, 8))).toEqual([{ run: first?.run, seq: 0, id }]);
  expect(resolveBundle(db, '')).toHaveLength(2);
  expect(resolveBundle(db, sha256Text('none'))).toEqual([]);
});

test('what replays found is kept: the last decision replay, every execution of the verifier', () => {
  const db = database();
  const scenario = createScenario({ caps: [9], genesis: [3] });
  start(db, scenario);
  const { run } = scenario;
  expect(getDecisionReplay(db, run)).toBeNull();
  const found = { at: '2026-01-01T00:00:00.000Z', events: 3, lastEvent: sha256Text('x'), transitions: 0, mismatches: 0, missing: 1 };
  setDecisionReplay(db, { run, ...found, mismatches: 4 });
  setDecisionReplay(db, { run, ...found });
  expect(getDecisionReplay(db, run)).toEqual(found);
  const execution = (id: string, rank: number[] | null) => ({
    id,
    nonce: 'ab',
    startedAt: found.at,
    durationMs: 2.5,
    exitCode: 0,
    signal: null,
    report: null,
    output: null,
    result: rank === null ? 'crash' : 'ranked',
    rank,
  });
  addReverification(db, { run, seq: 0, blobs: [], executions: [execution('a', [3]), execution('b', null)] });
  expect(getReverifications(db, { run, seq: 0 })).toMatchObject([
    { id: 'a', rank: [3], result: 'ranked' },
    { id: 'b', rank: null, result: 'crash' },
  ]);
  expect(() => addReverification(db, { run, seq: 1, blobs: [], executions: [] })).toThrow(/no bundle 1/);
  expect(() => db.run(sql('DELETE FROM reverification'))).toThrow(/immutable/);
  expect(() => db.run(sql("UPDATE reverification SET result = 'x'"))).toThrow(/immutable/);
});
