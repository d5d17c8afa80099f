// The store as the engine holds it: threads, journal, errors across threads, closing.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { JournalItem } from '#shared/contract/app.ts';
import { sha256Hex } from '#shared/lib/hash.ts';
import { StoreError } from '#electron/store/errors.ts';
import { blobFile, createBlobWriter } from '#electron/store/blob-files.ts';
import { type OpenStore, openStore } from '#electron/store/store.ts';
import { database, temporaryFolder } from './support/database.ts';
import { databaseFile } from './support/files.ts';
import { createScenario, type Scenario, type SlotSpec } from './support/scenario.ts';

const worker = new URL('../../electron/store/worker.ts', import.meta.url);
const dyingWorker = new URL('support/dying-worker.ts', import.meta.url);

const opened = async (dir = temporaryFolder()): Promise<OpenStore> => {
  const store = await openStore({ dataDir: dir, worker });
  onTestFinished(() => store.close());
  return store;
};

const round = async (store: OpenStore, s: Scenario, specs: readonly SlotSpec[]) => {
  await store.openRound(s.open(specs.length));
  await store.storeProposals(s.proposals(specs.length));
  const input = s.commit(specs);
  await store.commitRound(input);
  s.apply(input);
  return input;
};
const scenario = (i = 0) => createScenario({ i, caps: [9, 9], genesis: [5, 5], header: { budget: { attempts: 100 } } });

test('a write is seen by every read that begins after it', async () => {
  const store = await opened();
  const s = scenario();
  await store.createRun(s.create());
  for (let i = 1; i <= 5; i++) {
    await round(store, s, [{ kind: 'ranked', text: `t${i}`, rank: [5 - i, 5] }]);
    const seen = await Promise.all([
      store.getSummary(s.run),
      store.getSummary(s.run),
      store.getTransition({ run: s.run, n: i }),
      store.getChain(s.run),
    ]);
    expect(seen[0]?.head?.id).toBe(s.head().id);
    expect(seen[1]?.transitions).toBe(i);
    expect(seen[2]?.transition).toEqual(s.transitions[i - 1]);
    expect(seen[3]?.ids).toEqual(s.chain.map(({ id }) => id));
  }
  expect(store.sqliteVersion).toMatch(/^3\./);
});

test('every read function answers across the threads', async () => {
  const store = await opened();
  const s = scenario();
  await store.createRun(s.create());
  await round(store, s, [
    { kind: 'ranked', text: 'a', rank: [4, 5] },
    { kind: 'ranked', text: 'b', rank: [4, 6], output: 'said' },
  ]);
  expect((await store.listRuns({ limit: 5 })).runs).toHaveLength(1);
  expect((await store.getRun(s.run))?.header).toEqual(s.header);
  expect(await store.resolveRun(s.run.slice(0, 12))).toEqual([s.run]);
  expect(await store.pageTransitions({ run: s.run, after: 1, limit: 10 })).toMatchObject([{ n: 2, outcome: 'incomparable' }]);
  const columns = await store.getColumns({ run: s.run, from: 1, to: 2, resolution: 1 });
  expect(columns.kind === 'rows' && [...columns.ranks]).toEqual([4, 5, 4, 6]);
  const bundle = await store.getBundle({ run: s.run, seq: 1 });
  expect(bundle?.bundle).toEqual(s.head());
  expect(await store.getManifest(s.head().tree)).toEqual(bundle?.files);
  expect(new TextDecoder().decode((await store.getBlob(bundle?.files[0]?.sha ?? '')) ?? undefined)).toBe('a');
  expect((await store.getResumeState(s.run))?.nextN).toBe(3);
  expect(await store.lastJournal()).toBe(4);
  expect(await store.getSettings()).toEqual({ theme: 'system', language: 'system' });
  expect(await store.setSettings({ theme: 'light' })).toEqual({ theme: 'light', language: 'system' });
});

test('bytes cross whole, be they views of a larger buffer or files, and the caller keeps its own', async () => {
  const store = await opened();
  const s = scenario();
  const created = s.create();
  const pool = new Uint8Array(2_000_000).map((_, i) => (i * 7919) % 251);
  const view = pool.subarray(1_000, 900_000);
  const small = Buffer.from('a small Buffer lives in a shared pool');
  await store.createRun({ ...created, blobs: [...created.blobs, ...[view, small].map((bytes) => ({ sha: sha256Hex(bytes), bytes }))] });
  expect(view.byteLength).toBe(899_000);
  expect(Buffer.from((await store.getBlob(sha256Hex(view))) ?? []).equals(view)).toBe(true);
  expect(Buffer.from((await store.getBlob(sha256Hex(small))) ?? []).toString()).toBe('a small Buffer lives in a shared pool');
  expect(await store.getBlob('a'.repeat(64))).toBeNull();
});

test('the journal tells of each durable write, in order, before its promise resolves', async () => {
  const store = await opened();
  const told: JournalItem[] = [];
  const stop = store.onJournal((items) => told.push(...items));
  const s = scenario();
  const created = store.createRun(s.create());
  const open = store.openRound(s.open(1));
  await created;
  expect(told.map(({ type }) => type)).toContain('create');
  await open;
  await store.storeProposals(s.proposals(1));
  await store.commitRound(s.commit([{ kind: 'head' }]));
  expect(told).toEqual(await store.getJournal({ after: 0, limit: 100 }));
  expect(told.map(({ journal, type }) => [journal, type])).toEqual([
    [1, 'create'],
    [2, 'round'],
    [3, 'proposals'],
    [4, 'commit'],
  ]);
  stop();
  await store.stopRun({
    run: s.run,
    at: '2026-04-01T00:00:00.000Z',
    reason: 'user',
    note: null,
    event: { type: 'stop', body: { reason: 'user' } },
  });
  expect(told).toHaveLength(4);
});

test('errors keep their kind and say what is wrong', async () => {
  const store = await opened();
  const s = scenario();
  await store.createRun(s.create());
  const kind = (promise: Promise<unknown>) =>
    promise.then(
      () => 'resolved',
      (error: unknown) => (error instanceof StoreError ? error.kind : String(error)),
    );
  expect(await kind(store.createRun(s.create()))).toBe('immutable');
  expect(await kind(store.getChain('run_none'))).toBe('not_found');
  expect(await kind(store.commitRound(s.commit([{ kind: 'head' }])))).toBe('conflict');
  const open = s.open(1);
  expect(await kind(store.openRound({ ...open, at: 'now' }))).toBe('constraint');
  expect(await kind(store.openRound({ ...open, event: { type: 'stop', body: JSON.parse('{"reason":"tired"}') } }))).toBe('constraint');
  await expect(store.openRound({ ...open, base: 'a'.repeat(64) })).rejects.toThrow(/is not the head/);
  expect(await kind(store.openRound(open))).toBe('resolved');
});

test('a damaged blob is an error of that read only', async () => {
  const dir = temporaryFolder();
  const store = await opened(dir);
  const s = scenario();
  const noise = new Uint8Array(300_000).map((_, i) => (i * i * 31 + i * 7 + (i >> 3)) % 256);
  const created = s.create();
  await store.createRun({ ...created, blobs: [...created.blobs, { sha: sha256Hex(noise), bytes: noise }] });
  const db = database(dir);
  createBlobWriter(join(dir, 'blobs'))('c'.repeat(64), noise);
  db.exec(`INSERT INTO blob (sha, size, codec) VALUES ('${'c'.repeat(64)}', 300000, 'raw')`);
  await expect(store.getBlob('c'.repeat(64))).rejects.toMatchObject({ kind: 'corrupt', message: expect.stringContaining('c'.repeat(64)) });
  expect((await store.getBlob(sha256Hex(noise)))?.length).toBe(300_000);
});

test('leftover files go after a start, stored ones stay', async () => {
  const dir = temporaryFolder();
  const orphan = 'ab'.repeat(32);
  createBlobWriter(join(dir, 'blobs'))(orphan, new Uint8Array([1]));
  const store = await opened(dir);
  await expect.poll(() => existsSync(blobFile(join(dir, 'blobs'), orphan))).toBe(false);
  expect(await store.lastJournal()).toBe(0);
});

test('closing waits for writes, empties the log and ends the threads; afterwards everything is refused', async () => {
  const dir = temporaryFolder();
  const store = await openStore({ dataDir: dir, worker });
  const s = scenario();
  const write = store.createRun(s.create());
  const closed = store.close();
  await expect(write).resolves.toBeUndefined();
  await closed;
  await store.close();
  expect(existsSync(`${databaseFile(dir)}-wal`)).toBe(false);
  await expect(store.getSummary(s.run)).rejects.toMatchObject({ kind: 'closed' });
  await expect(store.createRun(s.create())).rejects.toMatchObject({ kind: 'closed' });
  const again = await opened(dir);
  expect((await again.getSummary(s.run))?.id).toBe(s.run);
});

test('recover() through the threads, twice', async () => {
  const dir = temporaryFolder();
  const first = await openStore({ dataDir: dir, worker });
  const s = scenario();
  await first.createRun(s.create());
  await first.openRound(s.open(2));
  await first.close();
  const store = await opened(dir);
  const told: JournalItem[] = [];
  store.onJournal((items) => told.push(...items));
  expect(await store.recover('2026-04-01T00:00:00.000Z')).toEqual([s.run]);
  expect(await store.recover('2026-04-01T00:00:00.000Z')).toEqual([]);
  expect(told.map(({ type }) => type)).toEqual(['recover']);
  expect(await store.getSummary(s.run)).toMatchObject({ status: 'interrupted', transitions: 2, counts: { aborted: 2 } });
});

test('a writer that dies in the middle of a transaction is said to be lost, and the next one finds the state before it', async () => {
  const dir = temporaryFolder();
  const store = await openStore({ dataDir: dir, worker: dyingWorker, readers: 1 });
  const s = scenario();
  await store.createRun(s.create());
  await round(store, s, [{ kind: 'ranked', text: 'one', rank: [4, 5] }]);
  await store.openRound(s.open(1));
  await store.storeProposals(s.proposals(1));
  const told: JournalItem[] = [];
  store.onJournal((items) => told.push(...items));
  const input = s.commit([{ kind: 'ranked', text: 'two', rank: [3, 5] }]);
  const lost = {
    kind: 'lost',
    message: expect.stringMatching(/writer thread has ended by itself \(code 3\); the engine has to be started again/),
  };
  const [first, second] = await Promise.allSettled([store.commitRound(input), store.commitRound(input)]);
  expect([first, second]).toMatchObject([{ reason: lost }, { reason: lost }]);
  await store.lost;
  await expect(store.commitRound(input)).rejects.toMatchObject(lost);
  expect(told).toEqual([]);
  // What was committed can still be read, and nothing else.
  expect((await store.getSummary(s.run))?.head?.id).toBe(s.head().id);
  await store.close();

  const next = await opened(dir);
  expect(await next.getSummary(s.run)).toMatchObject({ head: { id: s.head().id }, transitions: 1 });
  expect(await next.recover('2026-04-01T00:00:00.000Z')).toEqual([s.run]);
  expect(await next.getSummary(s.run)).toMatchObject({ head: { id: s.head().id }, transitions: 2, counts: { commit: 1, aborted: 1 } });
});

test('closing loses nothing', async () => {
  const store = await openStore({ dataDir: temporaryFolder(), worker });
  let lost = false;
  void store.lost.then(() => {
    lost = true;
  });
  await store.close();
  await expect(store.lastJournal()).rejects.toMatchObject({ kind: 'closed' });
  expect(lost).toBe(false);
});

test('a store that cannot be opened says why and leaves no thread', async () => {
  const dir = temporaryFolder();
  writeFileSync(databaseFile(dir), 'no database '.repeat(1_000));
  await expect(openStore({ dataDir: dir, worker })).rejects.toMatchObject({
    kind: 'corrupt',
    message: expect.stringContaining(databaseFile(dir)),
  });
  const newer = temporaryFolder();
  const db = database(newer);
  db.exec('PRAGMA user_version = 999');
  db.close();
  const before = readFileSync(databaseFile(newer));
  await expect(openStore({ dataDir: newer, worker })).rejects.toMatchObject({ kind: 'incompatible' });
  expect(readFileSync(databaseFile(newer)).equals(before)).toBe(true);
  const file = join(dir, 'file');
  writeFileSync(file, '');
  await expect(openStore({ dataDir: file, worker })).rejects.toBeInstanceOf(StoreError);
});

test('the log stays small under writes without a pause', async () => {
  const dir = temporaryFolder();
  const store = await opened(dir);
  const s = scenario();
  await store.createRun(s.create());
  for (let i = 0; i < 60; i++) await round(store, s, [{ kind: 'ranked', text: `${i} ${'x'.repeat(20_000)}`, rank: [9, 9] }]);
  // 60 rounds write about 10 MB of pages; the log begins again after each checkpoint.
  expect(statSync(`${databaseFile(dir)}-wal`).size).toBeLessThan(6_000_000);
});
