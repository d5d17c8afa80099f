// The check of the invariants, which the crash tests rely on, finds each of them broken.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openReadable } from '#electron/store/db.ts';
import { openDirectStore } from '../support/engine/direct-store.ts';
import { createStoredRun } from '../support/engine/stored-run.ts';
import { randomScript } from '../support/engine/random-script.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { copyAsLeft } from '../store/support/state.ts';
import { openPast } from './replay/support.ts';

const base = mkdtempSync(path.join(tmpdir(), 'pawl-invariants-'));
const dataDir = path.join(base, 'whole');
let commits = 0;
beforeAll(async () => {
  const store = openDirectStore(dataDir);
  const run = await createStoredRun(store, {
    contract: { caps: [12, 12, 12] },
    seed: { rank: [6, 6, 6] },
    script: randomScript(4, 12),
    header: { slots: 3, budget: { attempts: 30 } },
  });
  await run.go(store);
  commits = (await store.getSummary(run.run))?.head?.seq ?? 0;
  await store.close();
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

const found = (edit?: string): string[] => {
  const dir = mkdtempSync(path.join(base, 'edited-'));
  copyAsLeft(dataDir, dir);
  if (edit !== undefined) {
    const past = openPast(dir);
    expect(past.prepare(edit).run().changes).toBeGreaterThan(0);
    past.close();
  }
  const db = openReadable(path.join(dir, 'pawl.db'), path.join(dir, 'blobs'));
  try {
    return brokenInvariants(db);
  } finally {
    db.close();
  }
};

test('a run that nobody touched breaks none', () => {
  expect(commits).toBeGreaterThan(2);
  expect(found()).toEqual([]);
});

const lastBundle = 'key = (SELECT max(key) FROM bundle)';
const lastTransition = 'key = (SELECT max(key) FROM transition)';
const ofCandidate = `sha = (SELECT json_extract(CAST(t.manifest AS TEXT), '$[1].sha') FROM tree t JOIN bundle b ON b.tree = t.sha ORDER BY b.key DESC)`;

test.each([
  ['I1', 'a coordinate that gets worse', `UPDATE bundle SET rank = json_set(rank, '$[0]', 12) WHERE ${lastBundle}`],
  ['I2', 'a potential that is no sum', `UPDATE bundle SET potential = potential + 1 WHERE ${lastBundle}`],
  [
    'I2',
    'a commit that changes nothing',
    `UPDATE bundle SET rank = (SELECT rank FROM bundle b WHERE b.key = bundle.key - 1) WHERE ${lastBundle}`,
  ],
  ['I3', 'another parent', `UPDATE bundle SET parent = (SELECT min(id) FROM bundle) WHERE ${lastBundle}`],
  ['I3', 'a lost bundle', `DELETE FROM bundle WHERE ${lastBundle}`],
  ['I3', 'a head that is not the last', 'UPDATE run SET head = head - 1'],
  ['I4', 'a wrong count', 'UPDATE run SET n_tie = n_tie + 1'],
  ['I4', 'a lost round', `UPDATE transition SET round = round + 2 WHERE ${lastTransition}`],
  ['I5', 'a lost memory entry', 'DELETE FROM memory WHERE key = (SELECT max(key) FROM memory)'],
  ['I6', 'an attempt on another base', `UPDATE transition SET base = base - 1 WHERE ${lastTransition}`],
  ['I6', 'a commit of another tree', 'UPDATE transition SET tree = (SELECT min(sha) FROM tree) WHERE outcome = 0'],
  ['I7', 'another summary', `UPDATE bundle SET summary_text = 'other' WHERE ${lastBundle}`],
  ['I7', 'another tree', `UPDATE bundle SET tree = (SELECT min(sha) FROM tree) WHERE ${lastBundle}`],
  ['I8', 'a lost line', 'DELETE FROM event WHERE key = (SELECT max(key) FROM event)'],
  ['I8', 'a changed line', `UPDATE event SET line = replace(line, '"slot":0', '"slot":1') WHERE line LIKE '%"slot":0%'`],
  ['I8', 'another stop than the chain says', "UPDATE run SET stop = 'user'"],
  ['I9', 'a charge that nobody made', 'UPDATE run SET used_requests = used_requests + 1'],
  ['I9', 'more than the budget', 'UPDATE run SET used_attempts = max_attempts + 1'],
  [
    'I12',
    'other features',
    "UPDATE memory SET body = json_set(body, '$.features.improved', 3) WHERE key = (SELECT min(key) FROM memory WHERE json_extract(body, '$.features.improved') = 0)",
  ],
  ['I14', 'a commit from the cache', "UPDATE transition SET source = 'cache' WHERE outcome = 0"],
  ['I15', 'lost bytes', `DELETE FROM blob WHERE ${ofCandidate}`],
  ['I15', 'changed bytes', `UPDATE blob SET bytes = CAST('x' AS BLOB) WHERE ${ofCandidate}`],
  ['I15', 'a lost tree', `DELETE FROM tree WHERE sha = (SELECT tree FROM bundle WHERE ${lastBundle})`],
])('%s: %s', (invariant, _, edit) => {
  expect(found(edit)).toContainEqual(expect.stringMatching(`^${invariant} `));
});
