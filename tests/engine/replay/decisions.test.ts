// The decision replay over runs with every outcome: what was not touched matches to the last field.
import { expect, test } from 'vitest';
import { randomScript } from '../../support/engine/random-script.ts';
import { createStoredRun } from '../../support/engine/stored-run.ts';
import { storeHere } from '../../support/engine/in-test.ts';
import { replay } from './support.ts';
import { commitmentOf } from '#electron/governor/event-writer.ts';
import { commitment } from '#shared/domain/event-chain.ts';

test('a run of many outcomes matches in every field', async () => {
  const { store } = await storeHere();
  const stored = await createStoredRun(store, {
    contract: { caps: [12, 12, 12] },
    seed: { rank: [4, 4, 4] },
    script: randomScript(3, 12),
    header: { slots: 4, budget: { attempts: 80 } },
  });
  await stored.go(store);
  const report = await replay(store, stored.run, stored.proposer);
  expect(report.mismatches).toEqual([]);
  expect(report.missing).toEqual([]);
  expect(report).toMatchObject({ ok: true, transitions: (await store.getSummary(stored.run))?.transitions, open: false });
});

test('confirmed, unstable, retried and unconfirmed attempts match', async () => {
  const { store } = await storeHere();
  for (const [i, paired] of [false, true].entries()) {
    const stored = await createStoredRun(store, {
      i,
      contract: {
        caps: [12, 12, 12],
        measurement: { confirmRuns: 3, paired, preflightRuns: 3 },
        infraRetries: 2,
        aggregates: ['worst', 'median', 'worst'],
      },
      seed: { rank: [5, 6, 6] },
      script: randomScript(5 + i, 11),
      header: { slots: 3, budget: { attempts: 90, verifierRuns: 260 } },
      verifier: {
        // Every second tree is flaky, every seventh execution falls over once.
        override: (tree, time, state) => {
          if (!('rank' in state)) return state;
          const number = Number.parseInt(tree.slice(0, 6), 16);
          if (number % 7 === 0 && time === 1) return { noVerdict: 'infra' };
          return number % 2 === 0 ? { rank: state.rank.map((r, k) => (k === 0 && time % 2 === 0 ? r + 1 : r)) } : state;
        },
      },
    });
    await stored.go(store);
    const report = await replay(store, stored.run, stored.proposer);
    expect(report.mismatches).toEqual([]);
    expect(report).toMatchObject({ ok: true, missing: [] });
    const counts = (await store.getSummary(stored.run))?.counts;
    expect(counts?.unstable).toBeGreaterThan(0);
    expect(counts?.commit).toBeGreaterThan(0);
    expect(report.recorded.host).toBeGreaterThan(0);
  }
});

test('a run that was killed again and again and resumed matches, its aborted attempts as they were recorded', async () => {
  const opened = await storeHere();
  let { store } = opened;
  const stored = await createStoredRun(store, {
    contract: { caps: [12, 12, 12] },
    seed: { rank: [5, 5, 5] },
    script: randomScript(11, 12),
    header: { slots: 3, budget: { attempts: 42 } },
    beforeWrite: (loop, writes) => {
      if (writes === 5 || writes === 9 || writes === 13) loop.close();
      if (writes === 17) loop.stop();
    },
  });
  let aborted = 0;
  for (;;) {
    const end = await stored.go(store);
    store = await opened.reopen();
    await store.recover('2026-01-01T00:00:01.000Z');
    const report = await replay(store, stored.run, stored.proposer);
    expect(report.mismatches).toEqual([]);
    expect(report.ok).toBe(true);
    aborted = report.recorded.aborted;
    if (end.kind === 'stopped' && end.reason !== 'user') break;
    const state = await store.getResumeState(stored.run);
    if (state === null) throw new Error('no state');
    await store.resumeRun({
      run: stored.run,
      at: '2026-01-01T00:00:02.000Z',
      event: { type: 'resume', body: { from: state.head.id, nextN: state.nextN } },
    });
  }
  expect(aborted).toBeGreaterThan(0);
});

test('a round that is under way is left out', async () => {
  const { store } = await storeHere();
  const stored = await createStoredRun(store, {
    contract: { caps: [12, 12] },
    seed: { rank: [5, 5] },
    script: randomScript(2, 12),
    header: { slots: 2, budget: { attempts: 40 } },
    beforeWrite: (loop, writes) => {
      if (writes === 5) loop.close();
    },
  });
  await stored.go(store);
  const report = await replay(store, stored.run, stored.proposer);
  expect(report.mismatches).toEqual([]);
  expect(report).toMatchObject({ ok: true, open: true, transitions: 2 });
});

test('a run whose seed got no verdict, and one that begins at zero rank', async () => {
  const { store } = await storeHere();
  const dead = await createStoredRun(store, {
    i: 1,
    contract: { caps: [3] },
    seed: { noVerdict: 'malformed' },
    script: () => 'base',
  });
  const done = await createStoredRun(store, { i: 2, contract: { caps: [3] }, seed: { rank: [0] }, script: () => 'base' });
  for (const stored of [dead, done]) {
    const report = await replay(store, stored.run, stored.proposer);
    expect(report.mismatches).toEqual([]);
    expect(report).toMatchObject({ ok: true, transitions: 0 });
  }
});

test('a verifier that gives no verdict any more stops the run, and that is recomputed', async () => {
  const { store } = await storeHere();
  const stored = await createStoredRun(store, {
    contract: { caps: [9] },
    seed: { rank: [5] },
    script: ({ n }) => ({ state: { noVerdict: n % 2 === 0 ? 'attestation' : 'verifier_timeout', salt: n } }),
    header: { slots: 2, verifierDeadAfter: 4 },
  });
  expect(await stored.go(store)).toMatchObject({ reason: 'verifier_dead' });
  const report = await replay(store, stored.run, stored.proposer);
  expect(report.mismatches).toEqual([]);
  expect(report).toMatchObject({ ok: true, transitions: 4 });
});

test('the commitments that the governor makes with the hash of the platform are those of the shared rule', () => {
  for (let size = 0; size < 200; size += 7) {
    const salt = Uint8Array.from({ length: 32 }, (_, i) => (i * 37 + size) % 256);
    const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 11) % 256);
    expect(commitmentOf(salt, bytes)).toBe(commitment(Buffer.from(salt).toString('hex'), bytes));
  }
  expect(() => commitmentOf(new Uint8Array(31), new Uint8Array())).toThrow(/32 bytes/);
});
