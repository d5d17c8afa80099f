// A candidate by a person: a transition like any other, on a run that stands still.
import { expect, test } from 'vitest';
import { engineHere, folderHere, refusal, smallTaskHere } from '../../support/engine/in-test.ts';
import { readEnded, replayed, runToEnd } from '../../support/engine/ended-run.ts';

const numbersFile = (numbers: number[]) => ({ path: 'numbers.json', text: `${JSON.stringify({ numbers })}\n` });

// The count of the small task, which never comes to its end for four nines.
const slowOnNines = `
  const { numbers } = JSON.parse(pawl.files['artifact/numbers.json']);
  while (numbers.every((x) => x === 9)) {}
  const sum = (list) => list.reduce((total, x) => total + x, 0);
  return {
    nonce: pawl.nonce, tree: pawl.tree, contract: pawl.contract,
    values: { left: sum(numbers.slice(0, 2)), right: sum(numbers.slice(2)) }, advisory: {}, details: {},
  };`;

test('what a person proposes is verified, decided and stored like every other attempt', async () => {
  const engine = await engineHere();
  const { client } = engine;
  // A run that was stopped by its user before it came to anything.
  const task = await smallTaskHere({ numbers: [3, 0, 4, 1], attempts: 200 });
  const { run } = await client.call('run.start', { task, proposer: 'search', slots: 2, seed: 1 });
  await client.call('run.stop', { run });
  const before = await readEnded(engine, run);
  expect(before.detail.stop).toBe('user');
  const base = before.trees.length - 1;
  const rank = before.detail.head?.rank ?? [];
  const first = before.rows.length + 1;

  // Worse: rejected, whoever wrote it.
  expect(await client.call('run.propose', { run, base, files: [numbersFile([9, 9, 9, 9])] })).toEqual({
    n: first,
    outcome: 'regression',
    stop: 'user',
  });
  // Outside of what may be written, and out of the tree.
  expect(await client.call('run.propose', { run, base, files: [{ path: 'other.txt', text: 'x' }] })).toMatchObject({ outcome: 'invalid' });
  expect(await client.call('run.propose', { run, base, files: [{ path: '../numbers.json', text: 'x' }] })).toMatchObject({
    outcome: 'invalid',
  });
  // The rejected tree again: known from the cache, still rejected.
  expect(await client.call('run.propose', { run, base, files: [numbersFile([9, 9, 9, 9])] })).toMatchObject({ outcome: 'regression' });
  // Better: committed, and the head is another one now.
  expect(await client.call('run.propose', { run, base, files: [numbersFile([1, 0, 0, 0])] })).toMatchObject({ outcome: 'commit' });
  expect(await refusal(client.call('run.propose', { run, base, files: [numbersFile([0, 0, 0, 0])] }))).toMatchObject({
    code: 'conflict',
    where: { field: 'base' },
  });
  const after = await readEnded(engine, run);
  expect(after.rows.slice(first - 1).map(({ outcome, code, slot }) => [outcome, code, slot])).toEqual([
    ['regression', null, 0],
    ['invalid', 'protected_path', 0],
    ['invalid', 'bad_path', 0],
    ['regression', null, 0],
    ['commit', null, 0],
  ]);
  expect(rank.reduce((a, b) => a + b, 0)).toBeGreaterThan(1);
  expect(after.detail.head?.rank).toEqual([1, 0]);
  expect(after.detail.memoryEntries + after.detail.counts.commit).toBe(after.detail.transitions);
  expect(after.detail.header.proposer.kind).toBe('search');
  const { transition } = await client.call('run.transition', { run, n: first });
  expect(transition.cost.charged).toMatchObject({ attempts: 1, requests: 1, promptTokens: 0, rounds: 1 });

  // Its proposer goes on from there; a decision replay knows both kinds of responses.
  await client.call('run.resume', { run });
  await client.call('run.stop', { run }).catch(() => null);
  expect(await replayed(engine, run)).toMatchObject({ ok: true, mismatches: [], missing: [] });
});

test('a perfect candidate ends the run, and then there is nothing to propose on', async () => {
  const engine = await engineHere();
  const { client } = engine;
  const { run, rows } = await runToEnd(engine, {
    task: await smallTaskHere({ attempts: 1 }),
    proposer: 'search',
    slots: 1,
    seed: 1,
  });
  expect(rows).toHaveLength(1);
  expect(await refusal(client.call('run.propose', { run, base: 0, files: [numbersFile([0, 0])] }))).toMatchObject({ code: 'conflict' });
  const task = await smallTaskHere({ attempts: 500 });
  const other = await client.call('run.start', { task, proposer: 'search', slots: 1, seed: 1 });
  expect(await refusal(client.call('run.propose', { run: other.run, base: 0, files: [numbersFile([0, 0])] }))).toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('live'),
  });
  await client.call('run.stop', { run: other.run });
  const base = (await readEnded(engine, other.run)).trees.length - 1;
  expect(await client.call('run.propose', { run: other.run, base, files: [numbersFile([0, 0, 0, 0])] })).toMatchObject({
    outcome: 'commit',
    stop: 'zero_rank',
  });
});

test('a run of a person waits between proposals, with no loop, and takes a stop and a resume', async () => {
  const engine = await engineHere();
  const { client } = engine;
  const task = await smallTaskHere({ numbers: [3, 0, 4, 1], attempts: 20 });
  const started = await client.call('run.start', { task, proposer: 'human', slots: 1, seed: 1 });
  const { run } = started;
  expect(started).toMatchObject({ status: 'waiting', note: expect.stringContaining('20 attempts') });
  expect(engine.core.liveRuns()).toBe(0);
  const seen: string[] = [];
  for await (const { status } of client.stream('run.watch', { run })) seen.push(status);
  expect(seen).toEqual(['waiting']);

  expect(await client.call('run.propose', { run, base: 0, files: [numbersFile([9, 9, 9, 9])] })).toEqual({
    n: 1,
    outcome: 'regression',
    stop: null,
  });
  expect(await client.call('run.propose', { run, base: 0, files: [numbersFile([3, 0, 4, 0])] })).toEqual({
    n: 2,
    outcome: 'commit',
    stop: null,
  });
  expect(await client.call('run.get', { run })).toMatchObject({
    status: 'waiting',
    stop: null,
    proposer: 'human',
    transitions: 2,
    head: { seq: 1, rank: [3, 4] },
    header: { proposer: { kind: 'human', version: 1, options: {} }, slots: 1 },
  });
  // It waits already: there is nothing to resume.
  expect(await refusal(client.call('run.resume', { run }))).toMatchObject({ code: 'conflict', message: expect.stringContaining('waits') });

  expect(await client.call('run.stop', { run })).toEqual({ stop: 'user' });
  expect(await client.call('run.get', { run })).toMatchObject({ status: 'stopped', stop: 'user' });
  expect(await refusal(client.call('run.stop', { run }))).toMatchObject({ code: 'conflict' });
  await client.call('run.resume', { run });
  expect(await client.call('run.get', { run })).toMatchObject({ status: 'waiting', stop: null });
  // Proposing on a stopped one goes on with it too.
  await client.call('run.stop', { run });
  expect(await client.call('run.propose', { run, base: 1, files: [numbersFile([0, 0, 0, 0])] })).toEqual({
    n: 3,
    outcome: 'commit',
    stop: 'zero_rank',
  });
  expect(await refusal(client.call('run.resume', { run }))).toMatchObject({ code: 'conflict' });
  expect(await replayed(engine, run)).toMatchObject({ ok: true, mismatches: [], missing: [], transitions: 3 });

  // What a person proposed is a record like any other.
  const again = await runToEnd(engine, { task, proposer: 'recorded', record: run, slots: 1, seed: 1 });
  expect(again.detail).toMatchObject({ stop: 'zero_rank', counts: { commit: 2, regression: 1 } });
  expect(again.detail.header.proposer.options).toMatchObject({ of: { kind: 'human' }, attempts: 3 });
});

test('waiting costs no wall time, and a spent budget is the end', async () => {
  const engine = await engineHere();
  const { client } = engine;
  const task = await smallTaskHere({ numbers: [3, 0, 4, 1], attempts: 2 });
  const { run } = await client.call('run.start', { task, proposer: 'human', slots: 1, seed: 1 });
  let proposing = 0;
  const propose = async (numbers: number[]) => {
    const before = performance.now();
    const made = await client.call('run.propose', { run, base: 0, files: [numbersFile(numbers)] });
    proposing += performance.now() - before;
    return made;
  };
  expect(await propose([9, 9, 9, 9])).toMatchObject({ n: 1, stop: null });
  // Time passes in which nobody proposes: at least a second proposal's worth.
  const waited = performance.now();
  while (performance.now() - waited < 2 * proposing) await client.call('run.get', { run });
  expect(await propose([8, 9, 9, 9])).toMatchObject({ n: 2, stop: 'budget' });
  const { budget } = await client.call('run.get', { run });
  // A round is charged in whole milliseconds.
  expect(budget.used.wallMs).toBeLessThanOrEqual(proposing + 2);
  expect(await refusal(client.call('run.propose', { run, base: 0, files: [numbersFile([0, 0, 0, 0])] }))).toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('budget'),
  });
});

test('an engine that ends while a proposal is verified aborts the attempt; the run waits as before', async () => {
  const folder = await folderHere();
  // Never answers within the test: the engine is closed while it runs.
  const task = await smallTaskHere({ numbers: [3, 0, 4, 1], attempts: 20, verify: slowOnNines });
  const first = await engineHere(folder);
  const { run } = await first.client.call('run.start', { task, proposer: 'human', slots: 1, seed: 1 });
  const lost = refusal(first.client.call('run.propose', { run, base: 0, files: [numbersFile([9, 9, 9, 9])] }));
  for await (const { status } of first.client.stream('run.watch', { run })) if (status === 'running') break;
  for await (const item of first.client.stream('app.journal', { after: 0 })) if (item.run === run && item.type === 'round') break;
  await first.close();
  expect(await lost).toMatchObject({ code: 'closed' });

  const second = await engineHere(folder);
  const { client } = second;
  expect(await client.call('run.get', { run })).toMatchObject({ status: 'waiting', transitions: 1, counts: { aborted: 1 } });
  expect(await client.call('run.propose', { run, base: 0, files: [numbersFile([3, 0, 4, 0])] })).toEqual({
    n: 2,
    outcome: 'commit',
    stop: null,
  });
  expect(await replayed(second, run)).toMatchObject({ ok: true, mismatches: [], missing: [] });
});

test('a person may go on from any bundle of another run, and nobody else may', async () => {
  const engine = await engineHere();
  const { client } = engine;
  const task = await smallTaskHere({ attempts: 24 });
  const parent = await runToEnd(engine, { task, proposer: 'search', slots: 4, seed: 3 });
  const from = { run: parent.run, seq: parent.trees.length - 1 };
  const { run, status } = await client.call('run.start', { from, proposer: 'human', slots: 1, seed: 3, limits: { rounds: 7 } });
  expect(status).toBe('waiting');
  const { header } = await client.call('run.get', { run });
  expect(header).toMatchObject({ proposer: { kind: 'human' }, budget: { attempts: 24, rounds: 7 } });
  expect(await client.call('run.propose', { run, base: 0, files: [numbersFile([0, 0, 0, 0])] })).toMatchObject({
    outcome: 'commit',
    stop: 'zero_rank',
  });
  expect(await replayed(engine, run)).toMatchObject({ ok: true });
  expect(await refusal(client.call('run.start', { from: { run, seq: 1 }, proposer: 'search', slots: 1, seed: 1 }))).toMatchObject({
    where: { field: 'proposer' },
  });
});
