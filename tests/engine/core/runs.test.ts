// The contract's run procedures over a whole engine: real store, real runner, a small real task.
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import type { RunSummary, TransitionRow } from '#shared/contract/run.ts';
import { parseEventLine } from '#shared/domain/event-chain.ts';
import type { Engine } from '../../support/engine/engine-fixture.ts';
import { engineHere, folderHere, refusal, smallTaskHere } from '../../support/engine/in-test.ts';

const start = ({ client }: Engine, task: string, more: { attempts?: number; seed?: number; slots?: number } = {}) =>
  client.call('run.start', { task, proposer: 'search', slots: 4, seed: 1, ...more });

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
};

/** The last summary of a run that ends by itself. */
const ended = async ({ client }: Engine, run: string): Promise<RunSummary> => {
  const [last] = (await all(client.stream('run.watch', { run }))).slice(-1);
  if (last === undefined) throw new Error('no summary');
  return last;
};

describe('a run from start to stop', () => {
  test('starts, is seen live, ends by budget, and every view agrees', async () => {
    const engine = await engineHere();
    const { client } = engine;
    const { run, status } = await start(engine, await smallTaskHere({ attempts: 40 }));
    expect(status).toBe('running');
    const [summaries, live] = await Promise.all([
      all(client.stream('run.watch', { run })),
      all(client.stream('run.transitions', { run, after: 0, follow: true })),
    ]);
    const last = summaries.at(-1);
    expect(last).toMatchObject({ status: 'stopped', stop: 'budget', transitions: 40, proposer: 'search', slots: 4, seed: 1 });
    expect(live.map(({ n }) => n)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
    expect(engine.core.liveRuns()).toBe(0);

    const detail = await client.call('run.get', { run });
    expect(detail.header.proposer).toEqual({ kind: 'search', version: 1, options: { operators: ['json-replace', 'json-swap'] } });
    expect(detail.budget.used).toMatchObject({ attempts: 40, rounds: 10, requests: 40 });
    const commits = live.filter(({ outcome }) => outcome === 'commit');
    expect(commits.length).toBeGreaterThan(0);
    expect(detail.counts.commit).toBe(commits.length);
    expect(detail.memoryEntries).toBe(40 - commits.length);
    const chain = await client.call('run.chain', { run });
    expect(chain.count).toBe(commits.length + 1);
    expect(chain.ids.at(-1)).toBe(detail.head?.id);

    const page = await client.call('run.page', { run, after: 10, limit: 5 });
    expect(page).toEqual(live.slice(10, 15));
    const resumed: TransitionRow[] = await all(client.stream('run.transitions', { run, after: 35, follow: true }));
    expect(resumed).toEqual(live.slice(35));
    const { runs } = await client.call('run.list', { limit: 10 });
    expect(runs).toEqual([last]);

    const [first] = commits;
    const transition = await client.call('run.transition', { run, n: first?.n ?? 0 });
    expect(transition).toMatchObject({
      transition: { outcome: 'commit', verdictSource: 'fresh' },
      verdict: { kind: 'ranked' },
      memory: null,
    });
    expect(transition.changes?.map((change) => change.path)).toEqual(['numbers.json']);
    const types = transition.events.map((line) => {
      const event = parseEventLine(line);
      return event.ok ? event.value.type : event.error;
    });
    expect(new Set(types)).toEqual(new Set(['round', 'proposal', 'verdict', 'decision']));
    const bundle = await client.call('run.bundle', { run, seq: 1 });
    expect(bundle.bundle.id).toBe(first?.bundle);
    const bytes = await client.blob(bundle.files[0]?.sha ?? '');
    expect(JSON.parse(new TextDecoder().decode(bytes ?? undefined))).toHaveProperty('numbers');
    const columns = await client.call('run.columns', { run, from: 1, to: 40, resolution: 1 });
    expect(columns).toMatchObject({ kind: 'rows', count: 40, m: 2 });
  });

  test('a seed at zero rank stops before its first attempt', async () => {
    const engine = await engineHere();
    const started = await start(engine, await smallTaskHere({ numbers: [0, 0, 0, 0] }));
    expect(started.status).toBe('stopped');
    expect(await ended(engine, started.run)).toMatchObject({ stop: 'zero_rank', transitions: 0, genesis: { potential: 0 } });
    expect((await refusal(engine.client.call('run.resume', { run: started.run }))).message).toContain('zero_rank');
  });

  test('a seed without a verdict is stored as not started, with the reason', async () => {
    const engine = await engineHere();
    const started = await start(engine, await smallTaskHere({ verify: 'throw new Error("no such room");' }));
    expect(started.status).toBe('not_started');
    expect(started.note).toContain('no such room');
    expect(await ended(engine, started.run)).toMatchObject({ status: 'not_started', genesis: null, head: null, note: started.note });
    expect(await refusal(engine.client.call('run.resume', { run: started.run }))).toMatchObject({ code: 'conflict' });
  });
});

describe('stop and resume', () => {
  const counting = `
    const { numbers } = JSON.parse(pawl.files['artifact/numbers.json']);
    const sum = numbers.reduce((total, x) => total + x, 0);
    return { nonce: pawl.nonce, tree: pawl.tree, contract: pawl.contract, values: { left: sum, right: 0 }, advisory: {}, details: {} };`;

  test('a stop answers with the reason once the last round is stored; resume goes on to the same chain', async () => {
    const task = await smallTaskHere({ attempts: 200, verify: counting, numbers: [9, 8, 7, 6, 5, 4, 3, 2, 1, 1] });
    const engine = await engineHere();
    const { client } = engine;
    const whole = await start(engine, task, { seed: 3 });
    await ended(engine, whole.run);
    const chain = await client.call('run.chain', { run: whole.run });

    const { run } = await start(engine, task, { seed: 3 });
    for await (const { n } of client.stream('run.transitions', { run, after: 0, follow: true })) if (n >= 8) break;
    expect(await refusal(client.call('run.resume', { run }))).toMatchObject({ code: 'conflict' });
    expect(await client.call('run.stop', { run })).toEqual({ stop: 'user' });
    const stopped = await client.call('run.get', { run });
    expect(stopped).toMatchObject({ status: 'stopped', stop: 'user' });
    expect(await refusal(client.call('run.stop', { run }))).toMatchObject({ code: 'conflict' });

    await client.call('run.resume', { run });
    const end = await ended(engine, run);
    expect(end.stop).not.toBe('user');
    const again = await client.call('run.chain', { run });
    // Attempts that the stop aborted were charged, so the budget may end this one earlier.
    expect(chain.ids.slice(0, again.ids.length)).toEqual(again.ids);
    expect(again.ids.length).toBeGreaterThan(2);
  });

  test('a runner that is killed interrupts the run and says nothing about its verifier; another one goes on to the same chain', async () => {
    const task = await smallTaskHere({ attempts: 200, verify: counting, numbers: [9, 8, 7, 6, 5, 4, 3, 2, 1, 1] });
    const folder = await folderHere();
    const first = await engineHere(folder);
    const whole = await start(first, task, { seed: 3 });
    await ended(first, whole.run);
    const chain = await first.client.call('run.chain', { run: whole.run });
    const { run } = await start(first, task, { seed: 3 });
    const watched = refusal(ended(first, run));
    for await (const { n } of first.client.stream('run.transitions', { run, after: 0, follow: true })) if (n >= 8) break;
    first.runner.kill('SIGKILL');
    const words = {
      code: 'unavailable',
      message: expect.stringMatching(new RegExp(`process that runs verifiers has ended.*pawl resume ${run}`)),
    };
    expect(await watched).toMatchObject(words);
    const interrupted = await first.client.call('run.get', { run });
    expect(interrupted).toMatchObject({ status: 'interrupted', stop: null, note: words.message });
    expect(interrupted.counts.no_verdict).toBe(0);
    // Nothing is begun without it.
    expect(await refusal(first.client.call('run.resume', { run }))).toMatchObject({ code: 'unavailable' });
    expect(await refusal(start(first, task))).toMatchObject({ code: 'unavailable' });
    expect(await refusal(first.client.call('task.preflight', { path: task, slots: 4 }))).toMatchObject({ code: 'unavailable' });
    expect((await first.client.call('run.list', { limit: 10 })).runs).toHaveLength(2);
    await first.close();

    const second = await engineHere(folder);
    await second.client.call('run.resume', { run });
    expect(await ended(second, run)).toMatchObject({ status: 'stopped' });
    const again = await second.client.call('run.chain', { run });
    expect(chain.ids.slice(0, again.ids.length)).toEqual(again.ids);
    expect(again.ids.length).toBeGreaterThan(2);
  });

  test('an engine that closes leaves an interrupted run; the next one aborts its open round and can go on with it', async () => {
    const task = await smallTaskHere({ attempts: 200, verify: counting, numbers: [9, 8, 7, 6, 5, 4, 3, 2, 1, 1] });
    const folder = await folderHere();
    const first = await engineHere(folder);
    const { run } = await start(first, task);
    for await (const { n } of first.client.stream('run.transitions', { run, after: 0, follow: true })) if (n >= 6) break;
    await first.close();

    const second = await engineHere(folder);
    const [before] = await all(second.client.stream('run.watch', { run }));
    expect(before).toMatchObject({ status: 'interrupted', stop: null });
    await second.client.call('run.resume', { run });
    const end = await ended(second, run);
    expect(end).toMatchObject({ status: 'stopped', stop: 'budget', transitions: 200 });
    expect(end.counts.aborted % 4).toBe(0);
  });

  test('a task folder that changed or went stops the resumed run before its next round', async () => {
    const task = await smallTaskHere({ attempts: 200, verify: counting, numbers: [9, 8, 7, 6, 5, 4, 3, 2, 1, 1] });
    const engine = await engineHere();
    const { run } = await start(engine, task);
    await engine.client.call('run.stop', { run });
    await writeFile(path.join(task, 'verifier/check.js'), 'function verify() {}');
    await engine.client.call('run.resume', { run });
    const changed = await ended(engine, run);
    expect(changed).toMatchObject({ status: 'stopped', stop: 'contract_changed' });
    expect(changed.note).toContain('verifier/check.js');
    expect((await refusal(engine.client.call('run.resume', { run }))).code).toBe('conflict');
    await rm(task, { recursive: true });
  });
});

describe('a store that fails', () => {
  test('the run is interrupted, those who watch it are told why, and it goes on to the same chain once the cause is gone', async () => {
    const task = await smallTaskHere({ attempts: 60, numbers: [9, 8, 7, 6, 5, 4, 3, 2, 1, 1] });
    const engine = await engineHere();
    const { client } = engine;
    const whole = await start(engine, task, { seed: 5 });
    await ended(engine, whole.run);

    const { run } = await start(engine, task, { seed: 5 });
    const watched = refusal(all(client.stream('run.watch', { run })));
    for await (const { n } of client.stream('run.transitions', { run, after: 0, follow: true })) if (n >= 4) break;
    // What a full disk does to a write, from outside of the engine: every round's transaction is refused and rolled back.
    const db = new Database(path.join(engine.dataDir, 'pawl.db'));
    db.exec("CREATE TRIGGER no_room BEFORE INSERT ON transition BEGIN SELECT RAISE(ABORT, 'no room left'); END");
    const failure = await watched;
    expect(failure.code).toBe('internal');
    const id = /no room left.*\(log ([0-9a-f]+)\)/.exec(failure.message)?.[1];
    expect(id).toBeDefined();
    const { status, stop, note, transitions } = await ended(engine, run);
    expect({ status, stop, note }).toEqual({ status: 'interrupted', stop: null, note: failure.message });
    expect((await client.call('run.page', { run, after: 0, limit: 200 })).map(({ n }) => n)).toEqual(
      Array.from({ length: transitions }, (_, i) => i + 1),
    );
    expect((await refusal(client.call('run.resume', { run }))).message).toContain('no room left');

    db.exec('DROP TRIGGER no_room');
    db.close();
    await client.call('run.resume', { run });
    expect(await ended(engine, run)).toMatchObject({
      status: 'stopped',
      stop: 'budget',
      note: null,
      transitions: 60,
      counts: { aborted: 4 },
    });
    const [chain, again] = await Promise.all([client.call('run.chain', { run: whole.run }), client.call('run.chain', { run })]);
    expect(chain.ids.slice(0, again.ids.length)).toEqual(again.ids);
    await engine.close();
    expect(await readFile(path.join(engine.dataDir, 'logs/engine.jsonl'), 'utf8')).toContain(id);
  });
});

describe('refusals name what, where and what to do', () => {
  test('of a start', async () => {
    const engine = await engineHere();
    const task = await smallTaskHere();
    const server = { baseUrl: 'http://127.0.0.1:9/v1' };
    expect(await refusal(engine.client.call('run.start', { task, proposer: 'openai', slots: 1, seed: 0, server }))).toMatchObject({
      code: 'unavailable',
      where: { field: 'server.baseUrl' },
      message: expect.stringContaining('nothing listens at http://127.0.0.1:9/v1'),
    });
    const nowhere = await refusal(start(engine, path.join(task, 'nowhere')));
    expect(nowhere.code).toMatch(/bad_input|not_found/);
    expect((await engine.client.call('run.list', { limit: 10 })).runs).toEqual([]);
  });

  test('of runs, transitions and prefixes', async () => {
    const engine = await engineHere();
    const { client } = engine;
    const { run } = await start(engine, await smallTaskHere({ attempts: 4 }));
    await ended(engine, run);
    const other = 'run_00000000-0000-7000-8000-000000000000';
    for (const call of [
      () => client.call('run.get', { run: other }),
      () => client.call('run.chain', { run: other }),
      () => client.call('run.stop', { run: other }),
      () => client.call('run.resume', { run: other }),
      () => client.call('run.transition', { run, n: 99 }),
      () => client.call('run.bundle', { run, seq: 99 }),
      () => client.call('run.page', { run: other, after: 0, limit: 1 }),
      () => all(client.stream('run.watch', { run: other })),
      () => client.call('run.resolve', { prefix: 'ffffffff-ffff' }),
    ]) {
      expect((await refusal(call())).code).toBe('not_found');
    }
    expect(await client.call('run.resolve', { prefix: run })).toEqual({ run });
    expect(await client.call('run.resolve', { prefix: run.slice(4, 30) })).toEqual({ run });
    expect(await refusal(client.call('run.resolve', { prefix: 'run_0' }))).toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('give 8 or more characters of the id'),
    });
    expect(await refusal(client.call('run.columns', { run, from: 1, to: 20_000, resolution: 1 }))).toMatchObject({ code: 'bad_input' });
  });

  test('the app says what it is, and streams its journal', async () => {
    const engine = await engineHere();
    const info = await engine.client.call('app.info', {});
    expect(info).toMatchObject({
      version: '0.0.0-test',
      dataDir: engine.dataDir,
      sandbox: { available: expect.any(Boolean), message: expect.stringMatching(/sandbox|bubblewrap/) },
    });
    expect(info.sqlite).toMatch(/^3\./);
    expect(info.samples.map(({ id }) => id)).toContain('exam-timetable');
    const { run } = await start(engine, await smallTaskHere({ attempts: 4 }));
    const items: string[] = [];
    for await (const item of engine.client.stream('app.journal', { after: 0 })) {
      expect(item.run).toBe(run);
      items.push(item.type);
      if (item.journal === (await engine.core.journal()) && engine.core.liveRuns() === 0) break;
    }
    expect(items.length).toBeGreaterThan(1);
    expect(await engine.client.call('settings.set', { theme: 'dark' })).toMatchObject({ theme: 'dark' });
    expect(await engine.client.call('settings.get', {})).toMatchObject({ theme: 'dark' });
  });
});
