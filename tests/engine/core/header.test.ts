// The header of a run before it is started: what would be hashed, and what keeps a start from having another one.
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { sha256Text } from '#shared/lib/hash.ts';
import { engineHere, refusal, smallTaskHere } from '../../support/engine/in-test.ts';
import { runToEnd } from '../../support/engine/ended-run.ts';

test('is the one that the run gets, to the byte, whoever proposes; nothing is stored', async () => {
  const engine = await engineHere();
  const { client } = engine;
  const task = await smallTaskHere({ attempts: 8 });
  const source = await runToEnd(engine, { task, proposer: 'search', slots: 2, seed: 5 });
  const common = { task, slots: 1, seed: 3, attempts: 2, limits: { verifierRuns: 9, wallMs: null } } as const;
  for (const start of [
    { ...common, proposer: 'search' },
    { ...common, proposer: 'command', command: { command: 'true' } },
    { ...common, proposer: 'recorded', record: source.run },
    { ...common, proposer: 'human' },
  ] as const) {
    const shown = await client.call('run.header', start);
    expect(shown.sha).toBe(sha256Text(shown.json));
    expect(JSON.parse(shown.json)).toEqual(shown.header);
    expect(shown.header.budget).toMatchObject({ attempts: 2, verifierRuns: 9, wallMs: null });
    const { run } = await client.call('run.start', { ...start, headerSha: shown.sha });
    expect(await client.call('run.get', { run })).toMatchObject({ header: shown.header, headerSha: shown.sha });
    await client.call('run.stop', { run }).catch(() => null);
  }
  const { runs } = await client.call('run.list', { limit: 10 });
  expect(runs).toHaveLength(5);
});

test('a start under another header than the one that was shown does not begin', async () => {
  const engine = await engineHere();
  const { client } = engine;
  const task = await smallTaskHere({ attempts: 8 });
  const start = { task, proposer: 'search', slots: 2, seed: 5 } as const;
  const { sha } = await client.call('run.header', start);
  await appendFile(path.join(task, 'instruction.md'), 'And another thing.\n');
  expect(await refusal(client.call('run.start', { ...start, headerSha: sha }))).toMatchObject({
    code: 'conflict',
    where: { field: 'headerSha' },
  });
  expect((await client.call('run.list', { limit: 1 })).runs).toEqual([]);
});

test('is refused by field as a start is', async () => {
  const { client } = await engineHere();
  const task = await smallTaskHere();
  const start = { task, slots: 1, seed: 1 };
  expect(await refusal(client.call('run.header', { ...start, proposer: 'command' }))).toMatchObject({ where: { field: 'command' } });
  expect(await refusal(client.call('run.header', { ...start, proposer: 'recorded' }))).toMatchObject({ where: { field: 'record' } });
  expect(await refusal(client.call('run.header', { ...start, proposer: 'human', slots: 3 }))).toMatchObject({ where: { field: 'slots' } });
  expect(await refusal(client.call('run.header', { ...start, proposer: 'search', median: ['nobody'] }))).toMatchObject({
    code: 'bad_input',
    where: { field: 'median' },
  });
});

test('runs are listed by their task', async () => {
  const engine = await engineHere();
  const { client } = engine;
  const task = await smallTaskHere({ attempts: 2 });
  const { run } = await runToEnd(engine, { task, proposer: 'search', slots: 1, seed: 1 });
  expect((await client.call('run.list', { limit: 5, task: 'small' })).runs.map(({ id }) => id)).toEqual([run]);
  expect(await client.call('run.list', { limit: 5, task: 'other' })).toEqual({ runs: [], more: false });
});
