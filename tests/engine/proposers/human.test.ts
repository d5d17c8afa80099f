// A candidate by a person: a transition like any other, on a run that stands still.
import { expect, test } from 'vitest';
import { engineOn, readEnded, refusal, replayed, runToEnd, smallTask } from './support.ts';

const numbersFile = (numbers: number[]) => ({ path: 'numbers.json', text: `${JSON.stringify({ numbers })}\n` });

test('what a person proposes is verified, decided and stored like every other attempt', async () => {
  const engine = await engineOn();
  const { client } = engine;
  // A run that was stopped by its user before it came to anything.
  const task = await smallTask({ numbers: [3, 0, 4, 1], attempts: 200 });
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
  const engine = await engineOn();
  const { client } = engine;
  const { run, rows } = await runToEnd(engine, {
    task: await smallTask({ attempts: 1 }),
    proposer: 'search',
    slots: 1,
    seed: 1,
  });
  expect(rows).toHaveLength(1);
  expect(await refusal(client.call('run.propose', { run, base: 0, files: [numbersFile([0, 0])] }))).toMatchObject({ code: 'conflict' });
  const task = await smallTask({ attempts: 500 });
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
