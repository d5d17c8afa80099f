// A full disk: a write fails as a whole, says so, and succeeds once there is room.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { sql } from '#electron/store/db.ts';
import { StoreError } from '#electron/store/errors.ts';
import { commitRound } from '#electron/store/write/commit-round.ts';
import { openRound, storeProposals } from '#electron/store/write/open-round.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { database, start } from './support/database.ts';
import { databaseFile } from './support/files.ts';
import { stateOf } from './support/state.ts';
import { four, threeCounts } from './support/writes.ts';

test('a database that may not grow', () => {
  const db = database();
  const s = threeCounts();
  start(db, s);
  openRound(db, s.open(4));
  storeProposals(db, s.proposals(4));
  const input = s.commit(four.map((spec) => (spec.kind === 'ranked' ? { ...spec, text: `${spec.text} ${'x'.repeat(30_000)}` } : spec)));
  const before = stateOf(db);
  const pages = db.get(sql<{ page_count: number }>('PRAGMA page_count'))?.page_count ?? 0;
  db.exec(`PRAGMA max_page_count = ${pages + 4}`);
  const refused = (): unknown => {
    try {
      return commitRound(db, input);
    } catch (error) {
      return error;
    }
  };
  const error = refused();
  expect(error).toBeInstanceOf(StoreError);
  expect(error).toMatchObject({ kind: 'full', message: expect.stringContaining('the disk is full; nothing of this write was kept') });
  expect(error).toMatchObject({ message: expect.stringContaining(db.file) });
  expect(stateOf(db)).toEqual(before);
  db.exec('PRAGMA max_page_count = 1073741823');
  commitRound(db, input);
  expect(brokenInvariants(db)).toEqual([]);
});

const small = mkdtempSync(join(tmpdir(), 'pawl-full-'));
afterAll(() => rmSync(small, { recursive: true }));
const onSmallDisk = (script: string) =>
  spawnSync(
    'unshare',
    ['--user', '--map-root-user', '--mount', 'sh', '-c', `mount -t tmpfs -o size=4m tmpfs "$1" && ${script}`, 'sh', small],
    {
      encoding: 'utf8',
    },
  );
const probe = process.platform === 'linux' ? onSmallDisk('true') : null;
const missing =
  probe === null
    ? `there is none on ${process.platform}`
    : probe.status === 0
      ? null
      : `a small disk cannot be made here: ${(probe.error?.message ?? probe.stderr).trim()}`;
if (missing !== null) process.stderr.write(`SKIPPED the store on a disk of 4 MB: ${missing}\n`);

describe.skipIf(missing !== null)('on a disk of 4 MB', () => {
  test('every write that finds it full leaves what was there, and is done once there is room', () => {
    const script = fileURLToPath(new URL('support/full-disk.ts', import.meta.url));
    const { status, stdout, stderr } = onSmallDisk(`exec "${process.execPath}" "${script}" "$1"`);
    expect([status, stderr]).toEqual([0, '']);
    const refused = (file: string) => ({ kind: 'full', message: expect.stringContaining(file), kept: true });
    const facts = z.record(z.string(), z.unknown()).parse(JSON.parse(stdout));
    expect(facts).toMatchObject({
      created: refused(databaseFile(small)),
      full: refused(databaseFile(small)),
      'full again': refused(databaseFile(small)),
      large: refused(`${small}/blobs/`),
      files: [],
      'large with room': 'done',
      'files with room': 1,
      close: 'done',
      reopened: true,
      recovered: 1,
      broken: [],
    });
  });
});
