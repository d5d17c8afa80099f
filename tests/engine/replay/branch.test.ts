// Branches over a whole engine: everything from the store, the verdicts of the ancestors known, every decision made anew.
import { rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { RpcError } from '#shared/contract/errors.ts';
import type { RunStart } from '#shared/contract/run.ts';
import type { Engine } from '../../support/engine/engine-fixture.ts';
import { createStoredRun } from '../../support/engine/stored-run.ts';
import { bytesOf } from '../../support/engine/builders.ts';
import { replayed } from '../../support/engine/ended-run.ts';
import { engineHere, smallTaskHere, storeHere } from '../../support/engine/in-test.ts';
import { replay } from './support.ts';

async function toItsEnd({ client }: Engine, start: RunStart) {
  const { run } = await client.call('run.start', start);
  for await (const _ of client.stream('run.watch', { run }, { window: 2 }));
  return client.call('run.get', { run });
}

test('a branch needs no task folder, names its parent, and replays; badge, relatives, divergence', async () => {
  const engine = await engineHere();
  const { client } = engine;
  const task = await smallTaskHere({ attempts: 40 });
  const parent = await toItsEnd(engine, { task, proposer: 'search', slots: 2, seed: 3 });
  expect(parent.head?.seq).toBeGreaterThan(1);
  await rm(task, { recursive: true });

  const chain = await client.call('run.chain', { run: parent.id });
  const id = chain.ids[1] ?? '';
  expect(await client.call('run.resolveBundle', { ref: id.slice(0, 12) })).toEqual({ run: parent.id, seq: 1, id });
  expect(await client.call('run.resolveBundle', { ref: `${parent.id}/1` })).toEqual({ run: parent.id, seq: 1, id });
  const branch = await toItsEnd(engine, { from: { run: parent.id, seq: 1 }, proposer: 'search', slots: 2, seed: 4, attempts: 20 });
  expect(branch).toMatchObject({ parent: id, contract: parent.contract, header: { parent: id } });
  expect(branch.budget.max).toEqual({ ...parent.budget.max, attempts: 20 });
  expect(branch.transitions).toBe(20);
  expect(branch.genesis?.potential).toBe((await client.call('run.bundle', { run: parent.id, seq: 1 })).bundle.potential);

  expect(await client.call('run.relatives', { run: branch.id })).toMatchObject({ parent: { run: parent.id, seq: 1, id }, branches: [] });
  expect(await client.call('run.relatives', { run: parent.id })).toEqual({ parent: null, branches: [{ run: branch.id, seq: 1, id }] });
  const divergence = await client.call('run.divergence', { a: parent.id, b: branch.id });
  expect(divergence.common).toEqual({ run: parent.id, seq: 1, id });
  const { first } = divergence;
  expect(first?.a?.run).toBe(parent.id);
  expect(first?.b?.run).toBe(branch.id);
  expect(first?.a?.row.baseSeq).toBeGreaterThanOrEqual(1);

  for (const run of [parent.id, branch.id]) {
    expect(await client.call('replay.status', { run })).toMatchObject({ state: 'never' });
    const report = await replayed(engine, run);
    expect(report.mismatches).toEqual([]);
    expect(report.ok).toBe(true);
    expect(await client.call('replay.status', { run })).toMatchObject({ state: 'matches', transitions: report.transitions });
  }
  expect((await replayed(engine, branch.id)).recorded.ancestors).toBeGreaterThan(0);
});

test('what cannot be branched is refused', async () => {
  const engine = await engineHere();
  const task = await smallTaskHere({ attempts: 6 });
  const parent = await toItsEnd(engine, { task, proposer: 'search', slots: 2, seed: 3 });
  const start = (more: object): Promise<unknown> =>
    engine.client.call('run.start', { proposer: 'search', slots: 1, seed: 1, ...more }).then(
      () => null,
      (error: unknown) => (error instanceof RpcError ? `${error.code}: ${error.message}` : error),
    );
  expect(await start({})).toMatch(/bad_input: .*exactly one of task and from/);
  expect(await start({ task, from: { run: parent.id, seq: 0 } })).toMatch(/exactly one of task and from/);
  expect(await start({ from: { run: parent.id, seq: 999 } })).toMatch(/not_found: .*no bundle 999/);
  expect(await start({ from: { run: parent.id, seq: 0 }, quarantine: ['left'] })).toMatch(/bad_input: .*under the contract of its parent/);
  expect(await start({ from: { run: parent.id, seq: 0 }, proposer: 'openai' })).toMatch(/bad_input: .*proposed by "search"/);
  const resolve = (ref: string): Promise<unknown> =>
    engine.client.call('run.resolveBundle', { ref }).catch((error: unknown) => (error instanceof RpcError ? error.code : error));
  expect(await resolve('abc')).toBe('bad_input');
  expect(await resolve('not a bundle')).toBe('bad_input');
  expect(await resolve('0123456789abcdef')).toBe('not_found');
});

test('a candidate rejected late is known and commits from an earlier head; what is known is not verified again', async () => {
  const { store } = await storeHere();
  // Two obligations. The second commit closes the way for what only improves the first.
  const late = { rank: [2, 5], salt: 9 };
  const steps = [{ rank: [4, 5] }, { rank: [1, 5] }, late, { rank: [9, 9], salt: 1 }];
  const parent = await createStoredRun(store, {
    i: 1,
    contract: { caps: [9, 9] },
    seed: { rank: [5, 5] },
    script: ({ draw }) => ({ state: steps[draw - 1] ?? { rank: [5, 6], salt: draw } }),
    header: { slots: 1, budget: { attempts: 4 } },
  });
  await parent.go(store);
  expect((await store.pageTransitions({ run: parent.run, after: 0, limit: 10 })).map(({ outcome }) => outcome)).toEqual([
    'commit',
    'commit',
    'regression',
    'regression',
  ]);
  const found = await store.getBundle({ run: parent.run, seq: 1 });
  const files = await Promise.all(
    (found?.files ?? []).map(async ({ path, mode, sha }) => ({ path, mode, bytes: (await store.getBlob(sha)) ?? bytesOf('') })),
  );
  const again = [{ rank: [9, 9], salt: 1 }, late, { rank: [9, 9], salt: 1 }];
  const branch = await createStoredRun(store, {
    i: 2,
    contract: { caps: [9, 9] },
    seed: { rank: [4, 5] },
    files,
    from: { run: parent.run, seq: 1, transitions: 4 },
    script: ({ draw }) => ({ state: again[draw - 1] ?? { rank: [7, 7], salt: draw } }),
    header: { slots: 1, budget: { attempts: 3 }, ...(found === null ? {} : { parent: found.bundle.id }) },
  });
  await branch.go(store);
  const rows = await store.pageTransitions({ run: branch.run, after: 0, limit: 10 });
  expect(rows.map(({ outcome, verdictSource }) => [outcome, verdictSource])).toEqual([
    // Known from the parent: rejected without an execution.
    ['regression', 'cache'],
    // Known too, and it would commit: measured afresh.
    ['commit', 'fresh'],
    ['regression', 'cache'],
  ]);
  // The seed and the one that commits.
  expect(branch.verifier.verified).toHaveLength(2);
  const report = await replay(store, branch.run, branch.proposer);
  expect(report.mismatches).toEqual([]);
  expect(report).toMatchObject({ ok: true, recorded: { ancestors: 5 } });
  // A parent that goes on meanwhile changes nothing of what the branch knew.
  expect((await store.getAncestorVerdicts(branch.run)).map(({ n }) => n)).toEqual([null, 1, 2, 3, 4]);
});
