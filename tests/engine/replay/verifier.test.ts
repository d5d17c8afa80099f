// The verifier replay: match, drift and flake per coordinate, kept beside the certificate.
import { expect, test } from 'vitest';
import { prepareReverification, replayBundle } from '#electron/core/replay/verifier-replay.ts';
import { createReportingVerifier, type ReportingOptions } from '../../support/engine/reporting-verifier.ts';
import { createStoredRun } from '../../support/engine/stored-run.ts';
import { storeHere } from '../../support/engine/in-test.ts';
import { replay } from './support.ts';

async function aRun() {
  const opened = await storeHere();
  const stored = await createStoredRun(opened.store, {
    contract: { caps: [9, 9, 9] },
    seed: { rank: [5, 5, 5] },
    script: ({ draw }) => ({ state: { rank: [5 - draw, 5, 5] } }),
    header: { slots: 1, budget: { attempts: 2 } },
  });
  await stored.go(opened.store);
  const again = async (seq: number, options: ReportingOptions) => {
    const deps = { store: opened.store, verifiers: createReportingVerifier({ name: `again${seq}`, ...options }) };
    return replayBundle(deps, await prepareReverification(deps, stored.run), seq, new AbortController().signal);
  };
  return { ...opened, store: opened.store, stored, again };
}

test('the same values are a match, another value every time a drift, values that differ a flake', async () => {
  const { store, stored, again } = await aRun();
  expect(await again(1, {})).toMatchObject({
    seq: 1,
    result: 'match',
    ranks: [
      [4, 5, 5],
      [4, 5, 5],
    ],
  });
  const moved = await again(2, {
    override: (_tree, time, state) =>
      'rank' in state ? { rank: state.rank.map((r, i) => (i === 1 ? r + 1 : i === 2 ? r + time : r)) } : state,
  });
  expect(moved.result).toBe('flake');
  expect(moved.coordinates).toEqual([
    { key: 'o0', result: 'match', certified: 3, again: [3, 3] },
    { key: 'o1', result: 'drift', certified: 5, again: [6, 6] },
    { key: 'o2', result: 'flake', certified: 5, again: [6, 7] },
  ]);
  const drift = await again(0, { override: (_tree, _time, state) => ('rank' in state ? { rank: state.rank.map(() => 1) } : state) });
  expect(drift.result).toBe('drift');
  const dead = await again(0, { override: () => ({ noVerdict: 'crash' }) });
  expect(dead).toMatchObject({ result: 'no_verdict', coordinates: [], ranks: [null, null] });
  expect(dead.message).toMatch(/^crash: /);

  // Kept, every execution, and nothing that was certified has changed.
  expect((await store.getReverifications({ run: stored.run, seq: 0 })).map(({ result, rank }) => [result, rank])).toEqual([
    ['ranked', [1, 1, 1]],
    ['ranked', [1, 1, 1]],
    ['crash', null],
    ['crash', null],
  ]);
  expect((await replay(store, stored.run, stored.proposer)).ok).toBe(true);
});

test('a bundle that is not there, and a replay that is cancelled', async () => {
  const { store, stored, again } = await aRun();
  await expect(again(7, {})).rejects.toMatchObject({ code: 'not_found' });
  const deps = { store, verifiers: createReportingVerifier() };
  const prepared = await prepareReverification(deps, stored.run);
  await expect(replayBundle(deps, prepared, 0, AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' });
  expect(await store.getReverifications({ run: stored.run, seq: 0 })).toEqual([]);
});
