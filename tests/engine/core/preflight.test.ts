// Preflight over a whole engine: a verifier that disagrees with itself, the two ways on, and what a run under a revised contract is held to.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import type { Engine } from '../../support/engine/engine-fixture.ts';
import { flakyCount, type SmallTaskOptions } from '../../support/engine/small-task.ts';
import { engineHere, refusal, smallTaskHere } from '../../support/engine/in-test.ts';

const engineWith = async (options: SmallTaskOptions): Promise<{ engine: Engine; client: Engine['client']; task: string }> => {
  const task = await smallTaskHere(options);
  const engine = await engineHere();
  return { engine, client: engine.client, task };
};

const proposed = { proposer: 'search' as const, slots: 2, seed: 3 };
// One in 2^29 that thirty measurements of a coin agree.
const manyRuns = 'preflight_runs = 30\nconfirm_runs = 3';
const flaky: SmallTaskOptions = { verify: flakyCount, measurement: manyRuns, attempts: 12 };

describe('a seed that is measured differently from one time to the next', () => {
  test('does not start a run: the error names the obligation, its values and both options, and nothing is stored', async () => {
    const { client, task } = await engineWith(flaky);
    const error = await refusal(client.call('run.start', { task, ...proposed }));
    expect(error.code).toBe('unstable');
    expect(error.where).toEqual({ field: 'right' });
    expect(error.message).toMatch(/30 measurements of the same seed disagree/);
    expect(error.message).toMatch(/^right took the values [78](, [78]){19}, and 10 more: --quarantine right .*--median right/m);
    expect(error.message).not.toContain('left');
    expect((await client.call('run.list', { limit: 10 })).runs).toEqual([]);
  });

  test('quarantined: the run starts under the next version of the contract and commits by what is left', async () => {
    const { engine, client, task } = await engineWith(flaky);
    const { contractSha: before } = await client.call('task.inspect', { path: task });
    const { run, status, note } = await client.call('run.start', { task, ...proposed, quarantine: ['right'] });
    expect(status).toBe('running');
    expect(note).toBe('the budget is 12 attempts');
    for await (const _ of client.stream('run.watch', { run }));
    const detail = await client.call('run.get', { run });
    expect(detail.contractBody).toMatchObject({ previous: before, version: 2, advisory: [{ key: 'right', better: 'lower' }] });
    expect(detail.contractBody.obligations.map(({ key }) => key)).toEqual(['left']);
    expect(detail.header.contract).toBe(detail.contract);
    expect(detail.contract).not.toBe(before);
    expect(detail.stop).toBe('budget');
    expect(detail.counts.commit).toBeGreaterThan(0);
    expect(detail.counts.no_verdict).toBe(0);
    const commit = (await client.call('run.page', { run, after: 0, limit: 50 })).find(({ outcome }) => outcome === 'commit');
    const whole = await client.call('run.transition', { run, n: commit?.n ?? 0 });
    expect(whole.verdict).toMatchObject({ kind: 'ranked', stable: true, runs: [{}, {}, {}], advisory: { right: expect.any(Number) } });
    expect(whole.transition.cost.charged.verifierRuns).toBe(6);

    // Every execution has its row: thirty of the seed, three of the candidate and three of the base beside it.
    const db = new Database(path.join(engine.dataDir, 'pawl.db'), { readonly: true });
    const runsOf = (sha: string | null) =>
      db.prepare('SELECT count(*) FROM verifier_run r JOIN verdict v ON v.no = r.key >> 16 WHERE v.sha = ?').pluck().get(sha);
    const { bundle } = await client.call('run.bundle', { run, seq: 0 });
    expect(runsOf(bundle.verdict)).toBe(30);
    expect(runsOf(whole.transition.verdict)).toBe(3);
    const executions = db.prepare('SELECT count(*) FROM verifier_run').pluck().get();
    db.close();
    expect(executions).toBe(30 + detail.budget.used.verifierRuns);
  });

  test('with its median it starts, and the contract says so', async () => {
    const { client, task } = await engineWith(flaky);
    const { run, status } = await client.call('run.start', { task, ...proposed, median: ['right'] });
    expect(status).toBe('running');
    for await (const _ of client.stream('run.watch', { run }));
    const { contractBody, genesis } = await client.call('run.get', { run });
    expect(contractBody.obligations.map(({ aggregate }) => aggregate)).toEqual(['worst', 'median']);
    expect([15, 16]).toContain(genesis?.potential);
  });

  test.each([
    ['a key that is not there', { quarantine: ['rigth'] }, 'quarantine', /rigth is no obligation of this task; it has: left, right/],
    ['everything', { quarantine: ['left', 'right'] }, 'quarantine', /leave at least one/],
    ['both', { quarantine: ['right'], median: ['right'] }, 'median', /keep one of the two/],
  ])('a choice that cannot be made is refused before anything is measured: %s', async (_, choices, field, message) => {
    const { client, task } = await engineWith({ ...flaky, verify: 'throw new Error("not to be run");' });
    const calls = [
      () => client.call('run.start', { task, ...proposed, ...choices }),
      () => client.call('task.preflight', { path: task, ...choices }),
    ];
    for (const call of calls) {
      const error = await refusal(call());
      expect(error).toMatchObject({ code: 'bad_input', where: { field } });
      expect(error.message).toMatch(message);
    }
  });
});

describe('a run under a revised contract', () => {
  const quarantined = async (client: Engine['client'], task: string): Promise<string> => {
    const { run } = await client.call('run.start', { task, ...proposed, attempts: 5_000, quarantine: ['right'] });
    for await (const { n } of client.stream('run.transitions', { run, after: 0, follow: true })) if (n >= 2) break;
    return run;
  };

  test('stops and goes on although the folder has the version before it', async () => {
    const { client, task } = await engineWith(flaky);
    const run = await quarantined(client, task);
    await client.call('run.stop', { run });
    const { transitions } = await client.call('run.get', { run });
    await client.call('run.resume', { run });
    for await (const { n } of client.stream('run.transitions', { run, after: transitions, follow: true })) if (n > transitions + 2) break;
    expect((await client.call('run.stop', { run })).stop).toBe('user');
  });

  test('is stopped by a change of the folder, also between stop and resume', async () => {
    const { client, task } = await engineWith(flaky);
    const run = await quarantined(client, task);
    await client.call('run.stop', { run });
    const toml = path.join(task, 'task.toml');
    await writeFile(toml, (await readFile(toml, 'utf8')).replace('cap = 1000', 'cap = 999'));
    await client.call('run.resume', { run });
    for await (const _ of client.stream('run.watch', { run }));
    expect(await client.call('run.get', { run })).toMatchObject({ stop: 'contract_changed' });
  });
});

describe('task.preflight', () => {
  test('of a stable task: values, genesis, times and the forecast; nothing is stored', async () => {
    const { client, task } = await engineWith({ measurement: 'preflight_runs = 4\nconfirm_runs = 2', budget: 'verifier_runs = 11' });
    const result = await client.call('task.preflight', { path: task });
    expect(result).toMatchObject({
      runs: 4,
      stable: true,
      genesis: { rank: [8, 7], potential: 15 },
      obligations: [
        { key: 'left', aggregate: 'worst', values: [8, 8, 8, 8], stable: true },
        { key: 'right', aggregate: 'worst', values: [7, 7, 7, 7], stable: true },
      ],
      verifier: { executions: 4 },
      // Two measurements of the candidate and two of the base: eleven runs buy two attempts.
      forecast: { attempts: 2, dimension: 'verifierRuns', few: true },
    });
    expect(result.verifier?.p95Ms).toBeGreaterThanOrEqual(result.verifier?.medianMs ?? Number.NaN);
    expect((await client.call('run.list', { limit: 10 })).runs).toEqual([]);
    expect((await client.call('task.preflight', { path: task, runs: 2 })).obligations[0]?.values).toEqual([8, 8]);
    const started = await client.call('run.start', { task, ...proposed });
    expect(started.note).toBe('the budget buys at least 2 attempts, limited by verifier runs, which is very few');
    for await (const _ of client.stream('run.watch', { run: started.run }));
  });

  test('of an unstable one: which obligation, and the same with a choice made', async () => {
    const { client, task } = await engineWith(flaky);
    const result = await client.call('task.preflight', { path: task });
    expect(result).toMatchObject({ stable: false, genesis: null, verdict: { kind: 'ranked', stable: false, rank: [8, 8] } });
    expect(result.obligations.map(({ key, stable }) => [key, stable])).toEqual([
      ['left', true],
      ['right', false],
    ]);
    const chosen = await client.call('task.preflight', { path: task, quarantine: ['right'] });
    expect(chosen).toMatchObject({ stable: true, genesis: { rank: [8] } });
    expect(new Set(chosen.advisory[0]?.values)).toEqual(new Set([7, 8]));
    expect(chosen.task.contract.previous).toBe(result.task.contractSha);
    expect(await client.call('task.preflight', { path: task, median: ['right'] })).toMatchObject({ stable: true });
  });

  test('of a seed without a verdict: says why', async () => {
    const { client, task } = await engineWith({ verify: 'throw new Error("broken");', measurement: 'infra_retries = 1' });
    const result = await client.call('task.preflight', { path: task });
    expect(result).toMatchObject({
      stable: false,
      genesis: null,
      verdict: { kind: 'no_verdict', code: 'crash' },
      verifier: { executions: 2 },
    });
    expect(result.obligations.every(({ values }) => values.length === 0)).toBe(true);
  });
});
