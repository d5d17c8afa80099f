// The responses of a run, proposed again: the same chain under a header of its own.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { engineHere, refusal, smallTaskHere } from '../../support/engine/in-test.ts';
import { replayed, runToEnd } from '../../support/engine/ended-run.ts';

const examTimetable = fileURLToPath(new URL('../../../resources/tasks/exam-timetable', import.meta.url));

test('the record of a run of the sample gives the same trees, ranks and outcomes, and ends where it ends', async () => {
  const engine = await engineHere();
  const start = { task: examTimetable, slots: 4, seed: 7 };
  const original = await runToEnd(engine, { ...start, proposer: 'search', attempts: 24 });
  const again = await runToEnd(engine, { ...start, seed: 99, proposer: 'recorded', record: original.run, attempts: 28 });
  expect(original.trees.length).toBeGreaterThan(1);
  expect(again.trees).toEqual(original.trees);
  const facts = ({ rows }: typeof again) =>
    rows.map(({ n, round, slot, outcome, tree, rank }) => ({ n, round, slot, outcome, tree, rank }));
  expect(facts(again).slice(0, 24)).toEqual(facts(original));
  // Beyond the record nothing is proposed.
  expect(again.rows.slice(24).map(({ outcome, code }) => [outcome, code])).toEqual(
    Array.from({ length: 4 }, () => ['invalid', 'no_candidate']),
  );
  const last = await engine.client.call('run.transition', { run: again.run, n: 28 });
  expect(last.verdict).toMatchObject({ message: 'end_of_record: the record ends after 24 attempts' });

  expect(again.detail.header.proposer).toMatchObject({ kind: 'recorded', options: { of: original.detail.header.proposer, attempts: 24 } });
  expect(again.detail.headerSha).not.toBe(original.detail.headerSha);
  expect(JSON.stringify(again.detail.header)).not.toContain(original.run);

  expect(await replayed(engine, again.run)).toMatchObject({ ok: true, transitions: 28 });

  // A record of a record is a record of the same proposer, its empty attempts included.
  const third = await runToEnd(engine, { ...start, proposer: 'recorded', record: again.run, attempts: 24 });
  expect(facts(third)).toEqual(facts(original));
  expect(third.detail.header.proposer).toMatchObject({ options: { of: { kind: 'search' }, attempts: 28 } });
});

test('a record that goes on after an interruption ends as if it had not been', async () => {
  const engine = await engineHere();
  const task = await smallTaskHere({ attempts: 24 });
  const start = { task, slots: 4, seed: 3 };
  const original = await runToEnd(engine, { ...start, proposer: 'search' });
  const { run } = await engine.client.call('run.start', { ...start, proposer: 'recorded', record: original.run });
  await engine.client.call('run.stop', { run }).catch(() => null);
  const summary = await engine.client.call('run.get', { run });
  if (summary.stop === 'user') await engine.client.call('run.resume', { run });
  for await (const _ of engine.client.stream('run.watch', { run }));
  const { client } = engine;
  const chains = await Promise.all([original.run, run].map((id) => client.call('run.chain', { run: id })));
  expect(chains[1]?.ranks).toEqual(chains[0]?.ranks);
});

test('a start says what is missing, and what belongs to another proposer', async () => {
  const engine = await engineHere();
  const task = await smallTaskHere();
  const start = { task, slots: 1, seed: 1 };
  const { client } = engine;
  expect(await refusal(client.call('run.start', { ...start, proposer: 'recorded' }))).toMatchObject({
    code: 'bad_input',
    where: { field: 'record' },
  });
  const record = 'run_01890000-0000-7000-8000-000000000000';
  expect(await refusal(client.call('run.start', { ...start, proposer: 'recorded', record }))).toMatchObject({ code: 'not_found' });
  expect(await refusal(client.call('run.start', { ...start, proposer: 'search', record }))).toMatchObject({
    code: 'bad_input',
    where: { field: 'record' },
  });
  expect(await refusal(client.call('run.start', { ...start, proposer: 'command' }))).toMatchObject({
    code: 'bad_input',
    where: { field: 'command' },
  });
  expect(await refusal(client.call('run.start', { ...start, slots: 2, proposer: 'human' }))).toMatchObject({
    code: 'bad_input',
    where: { field: 'slots' },
  });
});
