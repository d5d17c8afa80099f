import { expect, test } from 'vitest';
import { openWritable, sql, type WritableDb } from '#electron/store/db.ts';
import { rowKey } from '#electron/store/keys.ts';
import { migrate } from '#electron/store/migrations/migrate.ts';
import { heldRequests, outputsOf, registrationsOf, selectHeld, selectOutputs, selectRegistrations } from '#electron/store/read/autos.ts';
import { selectOutputRows, selectRegistrationRows } from '#electron/store/read/replay.ts';
import { getTransition } from '#electron/store/read/transitions.ts';
import { commitRound } from '#electron/store/write/commit-round.ts';
import { openRound, storeProposals } from '#electron/store/write/open-round.ts';
import type { AutoRows, BlobInput } from '#electron/store/api.ts';
import { type AutoOutput, recordText } from '#shared/domain/auto-evidence.ts';
import { sha256Hex } from '#shared/lib/hash.ts';
import { bytesOf } from '../support/engine/builders.ts';
import { database, start, temporaryFolder } from './support/database.ts';
import { databaseFile } from './support/files.ts';
import { namesOf, planProblems } from './support/plan.ts';
import { createScenario, type Scenario } from './support/scenario.ts';

const blobOf = (text: string): BlobInput => {
  const bytes = bytesOf(text);
  return { sha: sha256Hex(bytes), bytes };
};
const requestBlob = (name: string): BlobInput => blobOf(recordText({ format: 'pawl.auto.request/1', name, command: ['lint', name] }));

/** Commits one round of an attempt with `autos` beside it. */
function roundWith(db: WritableDb, s: Scenario, text: string, autos: AutoRows, blobs: readonly BlobInput[]): void {
  openRound(db, s.open(1));
  storeProposals(db, s.proposals(1));
  const input = s.commit([{ kind: 'ranked', text, rank: [4] }]);
  commitRound(db, { ...input, blobs: [...input.blobs, ...blobs], autos });
  s.apply(input);
}

const begun = (): { db: WritableDb; s: Scenario } => {
  const db = database();
  const s = createScenario({ i: 1, caps: [9], genesis: [3] });
  start(db, s);
  return { db, s };
};

test('migration 80 makes outputs and registrations', () => {
  const dir = temporaryFolder();
  const db = openWritable(databaseFile(dir), dir);
  migrate(db, 80);
  expect(db.userVersion).toBe(80);
  for (const table of ['auto_output', 'auto_registration'])
    expect(namesOf(db, 'trigger', table)).toEqual([`${table}_no_delete`, `${table}_no_replace`, `${table}_no_update`]);
  const byPlace = /USING PRIMARY KEY/;
  for (const query of [selectOutputs, selectRegistrations]) expect(planProblems(db, query, [1], [byPlace])).toEqual([]);
  for (const query of [selectOutputRows, selectRegistrationRows, selectHeld])
    expect(planProblems(db, query, [1, 2], [byPlace])).toEqual([]);
  db.close();
});

test('what commands said is found by its attempt, cut where it is long, with the name of its record', () => {
  const { db, s } = begun();
  const tree = s.head().tree;
  const outputs: AutoOutput[] = [
    { format: 'pawl.auto/1', name: 'size', command: ['wc', '-c'], tree, at: 'proposal', ending: 'exit 0', output: 'é'.repeat(20_000) },
    { format: 'pawl.auto/1', name: 'lint', command: ['lint'], tree, at: 'candidate', ending: 'took too long', output: '' },
  ];
  const blobs = outputs.map((output) => blobOf(recordText(output)));
  roundWith(db, s, 'a', { registrations: [], outputs: blobs.map(({ sha }, position) => ({ n: 1, position, tree, record: sha })) }, blobs);
  expect(outputsOf(db, rowKey(1, 1))).toEqual(outputs.map((output, i) => ({ sha: blobs[i]?.sha, output })));
  const { autos } = getTransition(db, { run: s.run, n: 1 }) ?? {};
  expect(autos?.map(({ name, at, cut, record, output }) => [name, at, cut, record, output.length])).toEqual([
    ['size', 'proposal', true, blobs[0]?.sha, 8_192],
    ['lint', 'candidate', false, blobs[1]?.sha, 0],
  ]);
});

test('a run goes on with the requests that held, in the order in which they first did', () => {
  const { db, s } = begun();
  const [a, b, c] = ['a', 'b', 'c'].map(requestBlob);
  if (a === undefined || b === undefined || c === undefined) throw new Error('three requests');
  const row = (n: number, position: number, { sha }: BlobInput, refusal: 'not_allowed' | null = null) => ({
    n,
    position,
    record: sha,
    refusal,
  });
  roundWith(db, s, '1', { outputs: [], registrations: [row(1, 0, c, 'not_allowed'), row(1, 1, b)] }, [b, c]);
  roundWith(db, s, '2', { outputs: [], registrations: [row(2, 0, a), row(2, 1, b)] }, [a]);
  expect(heldRequests(db, 1).map(({ name }) => name)).toEqual(['b', 'a']);
  expect(registrationsOf(db, rowKey(1, 1))).toMatchObject([{ request: { name: 'c' }, refusal: 'not_allowed' }, { refusal: null }]);
  expect(heldRequests(db, 2)).toEqual([]);
});

test('they are written once, name what is stored, and damage is said', () => {
  const { db, s } = begun();
  const tree = s.head().tree;
  const request = requestBlob('a');
  const none = blobOf('no record');
  roundWith(
    db,
    s,
    '1',
    {
      outputs: [{ n: 1, position: 0, tree, record: none.sha }],
      registrations: [{ n: 1, position: 0, record: request.sha, refusal: null }],
    },
    [request, none],
  );
  for (const [table, column] of [
    ['auto_output', 'tree'],
    ['auto_registration', 'refusal'],
  ] as const) {
    expect(() => db.run(sql(`UPDATE ${table} SET ${column} = ${column}`))).toThrow(/immutable/);
    expect(() => db.run(sql(`DELETE FROM ${table}`))).toThrow(/immutable/);
    expect(() => db.run(sql(`INSERT OR REPLACE INTO ${table} SELECT * FROM ${table} LIMIT 1`))).toThrow(/immutable/);
  }
  expect(() => db.run(sql('INSERT INTO auto_output VALUES (?, 1, ?, ?)'), rowKey(1, 1), tree, sha256Hex(bytesOf('gone')))).toThrow(
    /FOREIGN KEY/,
  );
  expect(() => db.run(sql("INSERT INTO auto_registration VALUES (?, 1, ?, 'because')"), rowKey(1, 1), request.sha)).toThrow(/CHECK/);
  expect(() => getTransition(db, { run: s.run, n: 1 })).toThrow(/gone or damaged/);
});
