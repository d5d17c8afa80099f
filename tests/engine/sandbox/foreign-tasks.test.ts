// Tasks of other people's formats, run as their owners would: preflight, governed run, replay and branch over a real engine and sandbox.
import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunStart } from '#shared/contract/run.ts';
import type { RunId } from '#shared/domain/ids.ts';
import { type Engine, startEngine, temporaryFolder } from '../../support/engine/engine-fixture.ts';
import { harborTask, sweBenchTask } from '../../support/engine/foreign-tasks.ts';
import { missingHere, python } from './support.ts';

const missing = await missingHere();
if (missing !== null) process.stderr.write(`SKIPPED runs of foreign tasks: ${missing}\n`);
const hasPytest = missing === null && spawnSync(python, ['-c', 'import pytest']).status === 0;
if (missing === null && !hasPytest)
  process.stderr.write(`SKIPPED an instance of SWE-bench under pytest: ${python} has none (apt-get install python3-pytest)\n`);

let engine: Engine;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  engine = await startEngine(path.join(folder.path, 'data'));
});
afterAll(async () => {
  await engine.close();
  await folder.remove();
});

const ended = async (run: RunId) => {
  for await (const _ of engine.client.stream('run.watch', { run }));
  return engine.client.call('run.get', { run });
};
const runOf = async (start: Partial<RunStart> & Pick<RunStart, 'task'>) => {
  const { run, status } = await engine.client.call('run.start', { proposer: 'search', slots: 1, seed: 1, attempts: 1, ...start });
  expect(status).toBe('running');
  return ended(run);
};
const byCommand = (command: string): Pick<RunStart, 'proposer' | 'command'> => ({ proposer: 'command', command: { command } });
const verdictOf = async (run: RunId, n: number) => (await engine.client.call('run.transition', { run, n })).verdict;

const repair = `sed -i "s/- 32/+ 32/" temperature/convert.py`;

describe.skipIf(missing !== null)('an instance of SWE-bench', () => {
  test('the seed fails what it should, a repair reaches zero rank, breaks are refused; replay and branch', async () => {
    const { file, id } = await sweBenchTask(path.join(folder.path, 'unittest'));
    const task = `${file}#${id}`;
    const preflight = await engine.client.call('task.preflight', { path: task, runs: 1 });
    expect(preflight).toMatchObject({ stable: true, genesis: { rank: [1, 1, 0, 0, 0], potential: 2 }, task: { format: 'swe-bench' } });

    // The first attempt breaks a test that passed, the second writes where nobody may, the third ends the process before anything ran.
    const detail = await runOf({
      task,
      attempts: 4,
      ...byCommand(`case $PAWL_N in
1) ${repair}; sed -i "s/raise ValueError/return ValueError/" temperature/convert.py ;;
2) echo > tests/test_convert.py ;;
3) echo "import os; os._exit(0)" > temperature/__init__.py ;;
4) ${repair} ;;
esac`),
    });
    expect(detail).toMatchObject({
      stop: 'zero_rank',
      counts: { commit: 1, incomparable: 1, invalid: 1, regression: 1 },
      head: { rank: [0, 0, 0, 0, 0] },
    });
    expect(await verdictOf(detail.id, 1)).toMatchObject({ kind: 'ranked', rank: [0, 0, 0, 1, 0] });
    expect(await verdictOf(detail.id, 2)).toMatchObject({ kind: 'invalid', code: 'protected_path' });
    expect(await verdictOf(detail.id, 3)).toMatchObject({ kind: 'ranked', rank: [1, 1, 1, 1, 1] });

    // Every decision again, from what was stored; then from the genesis once more, with the store's copies alone.
    const reports = [];
    for await (const item of engine.client.stream('replay.decisions', { run: detail.id }))
      if (item.kind === 'report') reports.push(item.report);
    expect(reports).toMatchObject([{ ok: true, transitions: 4 }]);
    await writeFile(file, '{}');
    const branch = await engine.client.call('run.start', {
      from: { run: detail.id, seq: 0 },
      proposer: 'command',
      slots: 1,
      seed: 2,
      attempts: 4,
    });
    expect(await ended(branch.run)).toMatchObject({ stop: 'zero_rank', head: { rank: [0, 0, 0, 0, 0] } });
  });

  test.skipIf(!hasPytest)('the same under pytest', async () => {
    const { file } = await sweBenchTask(path.join(folder.path, 'pytest'), {}, 'pytest');
    const detail = await runOf({ task: file, ...byCommand(repair) });
    expect(detail).toMatchObject({ stop: 'zero_rank', genesis: { potential: 2 }, head: { rank: [0, 0, 0, 0, 0] } });
  });

  test('a checkout that changes during a run stops it', async () => {
    const { file, id, checkout } = await sweBenchTask(path.join(folder.path, 'changing'));
    const changed = path.join(checkout, 'docs/notes.txt');
    const detail = await runOf({
      task: `${file}#${id}`,
      attempts: 3,
      ...byCommand(`echo more >> ${changed}; echo "# $PAWL_N" >> temperature/convert.py`),
    });
    expect(detail).toMatchObject({ stop: 'contract_changed', counts: { tie: 1 } });
    expect(await readFile(changed, 'utf8')).toContain('more');
  });
});

describe.skipIf(missing !== null)('a Harbor task', () => {
  test('its own test.sh ranks: in its folders, with its variables; a repair in two steps, and the same recorded', async () => {
    const task = await harborTask(path.join(folder.path, 'count-words'));
    // The first attempt leaves a full reward itself and keeps the tests from running, which is not believed; the second repairs one fault, the third both.
    const repairs = `case $PAWL_N in
1) printf 'import os\\nopen("/logs/verifier/reward.txt", "w").write("1")\\n' > src/count.py ;;
2) sed -i 's/ + 1//' src/count.py ;;
3) sed -i 's/split(" ")/split()/' src/count.py ;;
esac`;
    const detail = await runOf({ task, attempts: 4, ...byCommand(repairs) });
    expect(detail).toMatchObject({
      stop: 'zero_rank',
      genesis: { potential: 100 },
      counts: { no_verdict: 1, commit: 2 },
      head: { rank: [0] },
    });
    expect(await verdictOf(detail.id, 1)).toMatchObject({
      kind: 'no_verdict',
      code: 'crash',
      message: expect.stringContaining('not trusted'),
    });
    expect(await verdictOf(detail.id, 2)).toMatchObject({ kind: 'ranked', rank: [75], details: { reward: 'reward is 0.25' } });
    const { verdict } = await engine.client.call('run.transition', { run: detail.id, n: 3 });
    const output = verdict?.kind === 'ranked' ? (verdict.runs[0]?.output ?? null) : null;
    const said = output === null ? '' : new TextDecoder().decode((await engine.core.blob(output)) ?? undefined);
    expect(said).toBe("/app hello it's on none plain ['run.sh', 'src']\n");

    const again = await runOf({ task, attempts: 3, proposer: 'recorded', record: detail.id });
    expect(again).toMatchObject({ stop: 'zero_rank', head: { rank: [0] } });
  });

  test('the built-in search gets ahead without a hint; a test that changes meanwhile stops a run', async () => {
    const task = await harborTask(path.join(folder.path, 'searched'));
    expect(await runOf({ task, attempts: 2 })).toMatchObject({ counts: { commit: 1 }, head: { rank: [75] } });
    const changed = path.join(task, 'tests/check.py');
    const detail = await runOf({ task, attempts: 3, ...byCommand(`echo "# more" >> ${changed}; echo "# $PAWL_N" >> src/count.py`) });
    expect(detail).toMatchObject({ stop: 'contract_changed', counts: { tie: 1 } });
    // Without a sandbox nothing could be where its tests look for it.
    await expect(
      engine.client.call('run.start', { task, proposer: 'search', slots: 1, seed: 1, attempts: 1, unsandboxed: true }),
    ).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('/app, /logs, /tests') });
  });
});
