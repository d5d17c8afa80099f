// Which memory a reader finds for the head of a run.
import { expect, test } from 'vitest';
import { retrieveMemory, selectBundleIds, selectMemories, selectMemoryRun, selectUseCounts } from '#electron/store/read/memory.ts';
import { createRun } from '#electron/store/write/create-run.ts';
import { retrieve } from '#shared/domain/retrieve.ts';
import { ensure } from '#shared/lib/assert.ts';
import { database, reader, round, start } from './support/database.ts';
import { byKey, planProblems } from './support/plan.ts';
import { createScenario } from './support/scenario.ts';

const options = { caps: [9, 9], genesis: [5, 5], seedText: 'seed\n', header: { budget: { attempts: 50 } } };
const limits = { k: 10, tokenCap: 100_000, quota: 5 };

const ranked = (text: string, rank: number[]) => ({ kind: 'ranked' as const, text, rank });

test('own entries, those of the ancestors up to the branch, and how often each was shown', () => {
  const db = database();
  const s = createScenario(options);
  start(db, s);
  round(db, s, [ranked('better', [4, 5]), ranked('mixed', [3, 6]), { kind: 'invalid', text: 'schema' }]);
  round(db, s, [ranked('tie', [4, 5]), ranked('second tie', [4, 5])]);
  const r = reader(db);
  const head = s.head();
  // The scenario shows its last two entries to every tie: once each, two slots of one round.
  const shown = ensure(s.transitions[3], 'attempt 4').retrieved;
  expect(shown).toHaveLength(2);
  const found = retrieveMemory(r, { run: s.run, limits });
  const input = { entries: s.memory, head, contract: s.contract, ancestors: s.chain.map(({ id }) => id), limits };
  expect(found).toEqual(retrieve({ ...input, counters: new Map(shown.map((id) => [id, 1])) }));
  expect(found.length).toBeGreaterThan(1);
  expect(retrieveMemory(r, { run: s.run, limits: { ...limits, k: 1 } })).toEqual(found.slice(0, 1));

  // A branch from the genesis knows what was tried before it was made, on the genesis.
  const branch = createScenario({ ...options, i: 1, header: { ...options.header, parent: ensure(s.chain[0], 'genesis').id } });
  createRun(db, { ...branch.create(), from: { run: s.run, seq: 0, transitions: 3 } });
  const places = () => retrieveMemory(r, { run: branch.run, limits }).map(({ run, transition }) => `${run} ${transition}`);
  expect(places()).toEqual([`${s.run} 2`, `${s.run} 3`]);
  round(db, branch, [ranked('own', [5, 6])]);
  expect(places().toSorted()).toEqual([`${s.run} 2`, `${s.run} 3`, `${branch.run} 1`]);
});

test('a run that is not there is named', () => {
  expect(() => retrieveMemory(reader(database()), { run: 'run_none', limits })).toThrow(/no run run_none/);
});

test('every read is a range of keys', () => {
  const db = database();
  expect(planProblems(db, selectMemoryRun, ['run'], [/sqlite_autoindex_run_1/, /sqlite_autoindex_contract_1/])).toEqual([]);
  expect(planProblems(db, selectMemories, [1, 2], [byKey])).toEqual([]);
  expect(planProblems(db, selectBundleIds, [1, 2], [byKey])).toEqual([]);
  expect(db.plan(selectUseCounts.text, 1, 2).filter((step) => step.startsWith('SCAN'))).toEqual([]);
});
