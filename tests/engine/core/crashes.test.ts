// What a whole engine makes of a machine that fails it: it says what has happened, loses nothing, and can go on.
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openReadable } from '#electron/store/db.ts';
import { RpcError } from '#shared/contract/errors.ts';
import { parseEventLine } from '#shared/domain/event-chain.ts';
import type { Engine } from '../../support/engine/engine-fixture.ts';
import { engineHere, folderHere, smallTaskHere } from '../../support/engine/in-test.ts';
import { brokenInvariants } from '../../support/invariants.ts';

const smallTask = (budget = ''): Promise<string> => smallTaskHere({ attempts: 40, budget });
const start = ({ client }: Engine, task: string) => client.call('run.start', { task, proposer: 'search', slots: 4, seed: 1 });

/** The last summary of a run whose loop ends, and the error with which it ends, if it does. */
const watched = async ({ client }: Engine, run: string) => {
  let summary = null;
  try {
    for await (const item of client.stream('run.watch', { run })) summary = item;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { summary, error };
  }
  return { summary, error: null };
};
const chain = async ({ client }: Engine, run: string): Promise<string[]> => [...(await client.call('run.chain', { run })).ids];

/** The chain of the same run that nothing happened to. */
const undisturbed = async (task: string): Promise<string[]> => {
  const engine = await engineHere();
  const { run } = await start(engine, task);
  expect(await watched(engine, run)).toMatchObject({ error: null, summary: { stop: 'budget' } });
  return chain(engine, run);
};

describe('a store whose writer dies', () => {
  const dying = new URL('../../store/support/dying-worker.ts', import.meta.url);

  test('in the middle of a transaction: the engine says so and is lost, and the next one goes on from the last commit', async () => {
    const task = await smallTask();
    const dataDir = await folderHere();
    const first = await engineHere(dataDir, dying);
    const { run } = await start(first, task);
    const { summary, error } = await watched(first, run);
    expect(error).toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(
        /^the run was interrupted: the store's writer thread has ended by itself .* the engine has to be started again.* "pawl resume run_/,
      ),
    });
    await first.core.lost;
    // The genesis and one commit; the third bundle was not committed.
    expect(summary?.counts.commit).toBe(1);
    expect(await first.client.call('run.get', { run })).toMatchObject({ status: 'interrupted', note: error?.message });
    await expect(first.client.call('run.resume', { run })).rejects.toMatchObject({ code: 'unavailable' });
    await expect(start(first, task)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('has ended by itself'),
    });
    await first.close();

    const next = await engineHere(dataDir);
    expect(await next.client.call('run.get', { run })).toMatchObject({ status: 'interrupted', counts: { commit: 1, aborted: 4 } });
    await next.client.call('run.resume', { run });
    expect(await watched(next, run)).toMatchObject({ error: null, summary: { stop: 'budget' } });
    const whole = await undisturbed(task);
    const resumed = await chain(next, run);
    expect(whole.slice(0, resumed.length)).toEqual(resumed);
    expect(resumed.length).toBeGreaterThan(2);
  });
});

describe('a full disk', () => {
  const full = new URL('../../store/support/full-worker.ts', import.meta.url);

  test('in the middle of a run: it is interrupted with the reason, nothing half is stored, and with room it goes on to the same chain', async () => {
    const task = await smallTask();
    const dataDir = await folderHere();
    const mark = path.join(dataDir, 'disk-full');
    const engine = await engineHere(dataDir, full);
    const { client } = engine;
    const { run } = await start(engine, task);
    for await (const { n } of client.stream('run.transitions', { run, after: 0, follow: true })) {
      if (n === 8) {
        await writeFile(mark, '');
        break;
      }
    }
    const { summary, error } = await watched(engine, run);
    expect(error).toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/^the run was interrupted: .*pawl\.db: .*ENOSPC.*the disk is full.*"pawl resume run_.*" goes on$/),
    });
    expect(summary).toMatchObject({ status: 'interrupted', note: error?.message });
    // Tried again on a disk that is still full, it says so again and loses nothing.
    await expect(client.call('run.resume', { run })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('the disk is full; nothing of this write was kept'),
    });
    expect(await client.call('run.get', { run })).toMatchObject({ status: 'interrupted', head: summary?.head });
    await rm(mark);
    await client.call('run.resume', { run });
    expect(await watched(engine, run)).toMatchObject({ error: null, summary: { stop: 'budget' } });
    const [resumed, whole] = [await chain(engine, run), await undisturbed(task)];
    expect(whole.slice(0, resumed.length)).toEqual(resumed);
    expect(resumed.length).toBeGreaterThan((summary?.head?.seq ?? 0) + 1);
    await engine.close();
    const db = openReadable(path.join(dataDir, 'pawl.db'), path.join(dataDir, 'blobs'));
    expect(brokenInvariants(db)).toEqual([]);
    db.close();
  });
});

describe('a clock that jumps', () => {
  afterEach(() => {
    vi.useRealTimers();
  });
  const day = 86_400_000;

  test('by days, forwards and back, between rounds: the chain, the ids, the order of runs and what was charged do not follow it', async () => {
    const task = await smallTask('wall_ms = 120000');
    const whole = await undisturbed(task);
    const dataDir = await folderHere();
    const engine = await engineHere(dataDir);
    const { client } = engine;
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-06-10T12:00:00Z') });
    const begun = performance.now();
    const { run } = await start(engine, task);
    for await (const { n } of client.stream('run.transitions', { run, after: 0, follow: true })) {
      if (n === 8) vi.setSystemTime(Date.now() + 10 * day);
      if (n === 20) vi.setSystemTime(Date.now() - 25 * day);
    }
    const detail = await client.call('run.get', { run });
    const tookMs = performance.now() - begun;
    expect(detail).toMatchObject({ stop: 'budget', transitions: 40 });
    expect(await chain(engine, run)).toEqual(whole);
    // Durations are those of a clock that only goes forwards.
    expect(detail.budget.used.wallMs).toBeGreaterThan(0);
    expect(detail.budget.used.wallMs).toBeLessThanOrEqual(Math.ceil(tookMs));
    expect(detail.budget.overshoot.wallMs).toBe(0);
    // What people read as time is what the wall said.
    const times = new Set<string>();
    for (const n of [1, 40]) {
      for (const line of (await client.call('run.transition', { run, n })).events) {
        const event = parseEventLine(line);
        if (event.ok) times.add(event.value.at.slice(0, 10));
      }
    }
    expect([...times]).toEqual(['2026-06-10', '2026-05-26']);
    // The next run is 15 days older by its clock, and still the next one.
    const next = await start(engine, task);
    expect(await watched(engine, next.run)).toMatchObject({ summary: { stop: 'budget' } });
    expect(next.run).not.toBe(run);
    const { runs } = await client.call('run.list', { limit: 10 });
    expect(runs.map(({ id }) => id)).toEqual([next.run, run]);
    expect(runs[0]?.startedAt.slice(0, 10)).toBe('2026-05-26');
    await engine.close();
    const db = openReadable(path.join(dataDir, 'pawl.db'), path.join(dataDir, 'blobs'));
    expect(brokenInvariants(db)).toEqual([]);
    db.close();
  });
});
