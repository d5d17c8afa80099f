import { expect, test } from 'vitest';
import { openWritable } from '#electron/store/db.ts';
import { migrate } from '#electron/store/migrations/migrate.ts';
import { selectBundle, selectChain } from '#electron/store/read/bundles.ts';
import { selectBase, selectBucketRows, selectCommitBefore, selectRows } from '#electron/store/read/columns.ts';
import { selectRank } from '#electron/store/read/genesis-rank.ts';
import { selectBackwards, selectFinal, selectRun, selectSeedVerdict } from '#electron/store/read/resume.ts';
import { selectBodies, selectPage, selectPrefix, selectRunNo, selectSummary, selectTaskPage } from '#electron/store/read/runs.ts';
import { selectMemory, selectOne, selectPage as selectTransitions, selectUses } from '#electron/store/read/transitions.ts';
import { selectVerdict } from '#electron/store/read/verdicts.ts';
import { temporaryFolder } from './support/database.ts';
import { databaseFile } from './support/files.ts';
import { byKey, planProblems, namesOf } from './support/plan.ts';

const opened = () => {
  const dir = temporaryFolder();
  const db = openWritable(databaseFile(dir), dir);
  migrate(db, 20);
  return db;
};

test('migration 20 makes the tables of runs with their triggers', () => {
  const db = opened();
  expect(db.userVersion).toBe(20);
  expect(namesOf(db, 'table')).toEqual([
    'blob',
    'bundle',
    'contract',
    'header',
    'memory',
    'memory_use',
    'round_slot',
    'run',
    'transition',
    'tree',
    'verdict',
    'verifier_run',
  ]);
  // Two indexes besides the keys would make every commit dearer; a new one needs a query that cannot do without.
  expect(namesOf(db, 'index')).toEqual([]);
  for (const table of ['contract', 'header', 'verdict', 'memory_use']) {
    expect(namesOf(db, 'trigger', table)).toEqual([`${table}_no_delete`, `${table}_no_replace`, `${table}_no_update`]);
  }
  expect(namesOf(db, 'trigger', 'bundle')).toEqual([
    'bundle_commit',
    'bundle_genesis',
    'bundle_insert',
    'bundle_long_rank',
    'bundle_no_delete',
    'bundle_no_update',
    'bundle_recertify',
    'bundle_short_rank',
  ]);
  expect(namesOf(db, 'trigger', 'transition')).toEqual([
    'transition_commit',
    'transition_insert',
    'transition_no_delete',
    'transition_no_update',
  ]);
  expect(namesOf(db, 'trigger', 'memory')).toEqual(['memory_insert', 'memory_no_delete', 'memory_no_update']);
  expect(namesOf(db, 'trigger', 'verifier_run')).toEqual(['verifier_run_insert', 'verifier_run_no_delete', 'verifier_run_no_update']);
  expect(namesOf(db, 'trigger', 'run')).toEqual(['run_begins', 'run_head', 'run_no_delete', 'run_no_replace', 'run_no_update', 'run_stop']);
  db.close();
});

test('lists, points and ranges search the keys: no scan, no sort', () => {
  const db = opened();
  const byId = /run\b.*|r USING INDEX sqlite_autoindex_run_1 \(id[=<>]/;
  expect(planProblems(db, selectPage, [9, 10], [byKey, byKey, byKey])).toEqual([]);
  expect(planProblems(db, selectTaskPage, [9, 'task', 10], [byKey, byKey, byKey])).toEqual([]);
  expect(planProblems(db, selectSummary, ['run'], [byId, byKey, byKey])).toEqual([]);
  expect(planProblems(db, selectBodies, ['run'], [byId, byKey, /sqlite_autoindex_contract_1/])).toEqual([]);
  expect(planProblems(db, selectRunNo, ['run'], [byId, /sqlite_autoindex_contract_1/])).toEqual([]);
  expect(planProblems(db, selectRun, ['run'], [byId, byKey, /sqlite_autoindex_contract_1/])).toEqual([]);
  expect(
    planProblems(db, selectPrefix, ['run_', 'run_~'], [/run USING COVERING INDEX sqlite_autoindex_run_1 \(id>\? AND id<\?\)/]),
  ).toEqual([]);
  expect(planProblems(db, selectTransitions, [1, 2, 3], [byKey, byKey, byKey])).toEqual([]);
  expect(planProblems(db, selectOne, [1], [byKey, byKey, byKey])).toEqual([]);
  expect(planProblems(db, selectMemory, [1], [byKey])).toEqual([]);
  expect(planProblems(db, selectUses, [1], [/memory_use USING PRIMARY KEY \(transition=\?\)/])).toEqual([]);
  expect(planProblems(db, selectRows, [1, 2], [byKey])).toEqual([]);
  expect(planProblems(db, selectBucketRows, [1, 2], [byKey])).toEqual([]);
  expect(planProblems(db, selectBase, [1], [byKey])).toEqual([]);
  expect(planProblems(db, selectRank, [1], [byKey])).toEqual([]);
  expect(planProblems(db, selectCommitBefore, [1, 2, 3], [byKey])).toEqual([]);
  expect(planProblems(db, selectBundle, [1], [byKey, byKey])).toEqual([]);
  expect(planProblems(db, selectChain, [1, 2], [byKey])).toEqual([]);
  expect(planProblems(db, selectVerdict, ['a'], [/sqlite_autoindex_verdict_1/])).toEqual([]);
  expect(planProblems(db, selectFinal, [1, 2], [byKey, /sqlite_autoindex_verdict_1/])).toEqual([]);
  expect(planProblems(db, selectSeedVerdict, [1], [byKey, /sqlite_autoindex_verdict_1/])).toEqual([]);
  expect(planProblems(db, selectBackwards, [1, 2], [byKey])).toEqual([]);
  db.close();
});
