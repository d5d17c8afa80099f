import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createProgress } from '#electron/host/cli/progress.ts';
import { plain, type CliIo } from '#electron/host/cli/io.ts';
import { runCli } from '#electron/host/cli/program.ts';
import { table } from '#electron/host/cli/table.ts';
import { acquireEngine, type EngineHandle } from '#electron/host/engine.ts';
import { RpcError } from '#shared/contract/errors.ts';
import { createFakeCore, fakeRunner } from '../../support/fake-core.ts';
import { parseRun } from '../../support/run-document.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'pawl-cli-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Runs command lines against one fake core; the engine is acquired and left for each, as by real commands, but the runs stay. */
function setup({ startPotential = 5, columns = null as number | null, core = createFakeCore({ dataDir: dir, startPotential }) } = {}) {
  const interrupts = new Set<() => void>();
  const seen = { out: '', err: '', quit: null as number | null };
  const io: CliIo = {
    out: (text) => {
      seen.out += text;
      return Promise.resolve();
    },
    err: (text) => {
      seen.err += text;
    },
    errColumns: columns,
    env: { INIT_CWD: '/from/here' },
    onInterrupt: (callback) => {
      interrupts.add(callback);
      return () => interrupts.delete(callback);
    },
    quit: (code) => {
      seen.quit = code;
    },
    version: '1.2.3',
    acquire: () =>
      acquireEngine({
        dataDir: dir,
        addresses: [path.join(dir, 'e.sock')],
        appVersion: '1.2.3',
        startRunner: fakeRunner,
        createCore: () => ({ ...core, close: () => Promise.resolve() }),
        storeWorker: new URL('file:///none'),
        samplesDir: '/none',
        logInternal: () => 'none',
      }),
    rendererDir: '/none',
  };
  const pawl = async (...argv: string[]) => {
    Object.assign(seen, { out: '', err: '', quit: null });
    const code = await runCli(argv, io);
    return { code, ...seen };
  };
  const interrupt = () => {
    for (const callback of interrupts) callback();
  };
  return { pawl, io, interrupt, interrupts, seen, core };
}

describe('pawl run', () => {
  test('to zero rank: exit 0, the whole run as one JSON document', async () => {
    const { pawl } = setup();
    const { code, out, err } = await pawl('run', 'timetable', '--json', '--seed', '7', '--slots', '2');
    expect(code).toBe(0);
    const run = parseRun(out);
    expect(run).toMatchObject({
      task: { id: 'timetable' },
      status: 'stopped',
      stop: 'zero_rank',
      genesis: { rank: [5], potential: 5 },
      header: { seed: 7, slots: 2 },
      memoryEntries: 5,
    });
    expect(run.head).toMatchObject({ seq: 5, rank: [0], potential: 0 });
    expect(run.transitions.map((t) => t.n)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(run.counts).toMatchObject({ commit: 5, tie: 5, invalid: 0 });
    expect(run.bundles.map((b) => [b.seq, b.transition, b.potential])).toEqual([
      [0, null, 5],
      [1, 2, 4],
      [2, 4, 3],
      [3, 6, 2],
      [4, 8, 1],
      [5, 10, 0],
    ]);
    expect(run.bundles[5]?.id).toBe(run.head?.id);
    expect(run.budget).toMatchObject({ attempts: { max: 100, used: 10 }, wallMs: { max: null, used: 0 } });
    expect(err.match(/^commit \d+: /gm)?.length).toBeGreaterThan(0);
  });

  test('to the end of its budget: exit 3; words for people', async () => {
    const { pawl } = setup();
    const { code, out, err } = await pawl('run', 'timetable', '--attempts', '3');
    expect(code).toBe(3);
    expect(out).toMatch(/state +stopped, budget used up/);
    expect(out).toMatch(/potential +5 at genesis, 4 at commit 1/);
    expect(out).toMatch(/rank +clashes 4/);
    expect(err).toMatch(/^run_/);
  });

  test('relative task paths are those of the caller of npm', async () => {
    const { pawl } = setup();
    const { code, out } = await pawl('run', 'missing', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toEqual({
      error: {
        code: 'bad_input',
        message: '/from/here/missing/task.toml does not exist',
        file: '/from/here/missing/task.toml',
        field: null,
      },
    });
  });

  test('a seed without verdict: exit 1', async () => {
    const { pawl } = setup();
    const words = await pawl('run', 'no-verdict');
    expect([words.code, words.out]).toEqual([1, '']);
    expect(words.err).toMatch(/could not start: the seed has no verdict: crash/);
    const json = await pawl('run', 'no-verdict', '--json');
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({
      run: 'run_00000001-0000-7000-8000-000000000000',
      error: {
        code: 'unavailable',
        message: expect.stringContaining('the seed has no verdict: crash'),
        file: '/from/here/no-verdict',
        field: null,
      },
    });
    const show = await pawl('show', '00000001', '--json');
    expect(parseRun(show.out)).toMatchObject({ status: 'not_started', genesis: null, head: null, transitions: [], bundles: [] });
  });

  test('Ctrl-C stops after the round and exits 3; the same key press twice counts once', async () => {
    const { pawl, interrupt, interrupts, seen } = setup({ startPotential: 1000 });
    const running = pawl('run', 'slow', '--json');
    await expect.poll(() => seen.err, { interval: 5 }).toMatch(/commit 1: /);
    expect(interrupts.size).toBe(1);
    interrupt();
    interrupt();
    const { code, out, quit } = await running;
    expect([code, quit]).toEqual([3, null]);
    expect(parseRun(out)).toMatchObject({ status: 'stopped', stop: 'user' });
  });

  test('a second Ctrl-C quits at once', async () => {
    const { pawl, io, interrupt, seen } = setup({ startPotential: 1000 });
    const plainIo = { ...io };
    const acquire = (data: string | undefined) => plainIo.acquire(data);
    // An engine that takes its time to stop.
    Object.assign(io, {
      acquire: async (data: string | undefined): Promise<EngineHandle> => {
        const engine = await acquire(data);
        const { client } = engine;
        return {
          ...engine,
          client: {
            ...client,
            call: (name, input, options) => (name === 'run.stop' ? new Promise(() => {}) : client.call(name, input, options)),
          },
        };
      },
    });
    const running = pawl('run', 'slow', '--attempts', '60');
    await expect.poll(() => seen.err, { interval: 5 }).toMatch(/commit 1: /);
    const first = performance.now();
    interrupt();
    await expect.poll(() => performance.now() - first, { interval: 20 }).toBeGreaterThan(450);
    expect(seen.quit).toBeNull();
    interrupt();
    expect(seen.quit).toBe(3);
    await running;
  });
});

/** The fake numbers runs in the order of their starts; seeds count up from `first`. */
const runOfSeed = (first: number, seed: string): string => `run_0000000${Number(seed) - first}-0000-7000-8000-000000000000`;

describe('pawl run --rollouts', () => {
  test('runs one after the other with seeds of their own; the table begins with the one that is picked', async () => {
    const { pawl } = setup();
    const { code, out, err } = await pawl('run', 'timetable', '--rollouts', '3', '--seed', '5', '--attempts', '6');
    expect(code).toBe(3);
    expect([...err.matchAll(/Rollout (\d) of 3, seed (\d)/g)].map((found) => found.slice(1))).toEqual([
      ['1', '5'],
      ['2', '6'],
      ['3', '7'],
    ]);
    const rows = out.split('\n').map((line) => line.trimEnd().split(/ {2,}/));
    const picked = rows[1]?.[2] ?? '';
    expect(rows[1]).toEqual(['picked', runOfSeed(5, picked), picked, 'stopped, budget used up', '6', '3', '2', '2']);
    expect(
      rows
        .slice(1, 4)
        .map((row) => row[2] ?? '')
        .toSorted(),
    ).toEqual(['5', '6', '7']);
    expect(out).toContain('\npicked because of equal ranks, the hash of its tree comes first\nno cross-check: the task declares none\n');
    expect((await pawl('runs', '--json')).out.match(/"proposer":"search"/g)).toHaveLength(3);
  });

  test('--json names the picked run and all others', async () => {
    const { pawl } = setup();
    const { code, out } = await pawl('run', 'timetable', '--rollouts', '2', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      picked: expect.stringMatching(/^run_0000000[01]-/),
      selection: { format: 'pawl.selection/1', decidedBy: 'tree', crosscheck: { kind: 'none', reason: 'not_declared' } },
      rollouts: [
        { seed: 1, stop: 'zero_rank', potential: 0, rank: [0] },
        { seed: 2, stop: 'zero_rank', potential: 0, rank: [0] },
      ],
    });
  });

  test('the cross-check decides between equal ends; every test is shown, and `pawl show` says how each run came out of it', async () => {
    const { pawl } = setup({ columns: 100 });
    const { code, out, err } = await pawl('run', 'crosscheck', '--rollouts', '3', '--seed', '4');
    expect(code).toBe(0);
    expect(err).toContain('Checking the finalists against each other: 1 of 3');
    const rows = out.split('\n').map((line) => line.trimEnd().split(/ {2,}/));
    expect(rows[1]?.slice(0, 3)).toEqual(['picked', runOfSeed(4, '6'), '6']);
    const table = rows.slice(rows.findIndex(([first]) => first === 'test'));
    expect(table.slice(0, 5)).toEqual([
      ['test', 'added by', 'counts', 'seed 4', 'seed 5', 'seed 6'],
      ['tests/0.js', 'seed 4', 'yes', 'never failed', 'never failed', 'never failed'],
      ['tests/1.js', 'seed 5', 'yes', 'never failed', 'never failed', 'never failed'],
      ['tests/2.js', 'seed 6', 'yes', 'fails', 'fails', 'fails on base, passes now'],
      ['not passed, of the others', '1 of 2', '1 of 2', '0 of 2'],
    ]);
    expect(out).toContain('picked because of equal ranks, the cross-check puts it first\n');
    expect(out).toContain('2 more tests of seed 4 not run\n');
    // Words of a task cannot drive the terminal.
    expect(out).toContain('error: the tests of seed 4 on the base: crash: the\uFFFD[2Jprogram failed\n');

    const winner = await pawl('show', runOfSeed(4, '6'));
    expect(winner.out).toMatch(/^selection +of 3 runs on 2026-01-02T03:04:05\.006Z: picked$/m);
    const other = await pawl('show', runOfSeed(4, '4'));
    expect(other.out).toMatch(/^selection +of 3 runs on .*: not picked, but run_00000002-/m);
    expect(other.out).toContain('tests/2.js');
    const json: unknown = JSON.parse((await pawl('show', runOfSeed(4, '4'), '--json')).out);
    expect(json).toMatchObject({
      selections: [{ decidedBy: 'crosscheck', order: [2, expect.any(Number), expect.any(Number)], crosscheck: { kind: 'made' } }],
    });
  });

  test('Ctrl-C ends a cross-check; the choice is made without it, and says so', async () => {
    const { pawl, interrupt, seen } = setup({ columns: 100 });
    const running = pawl('run', 'crosscheck-slow', '--rollouts', '2', '--json');
    await expect.poll(() => seen.err).toContain('Checking the finalists');
    interrupt();
    const { code, out } = await running;
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ selection: { decidedBy: 'tree', crosscheck: { kind: 'none', reason: 'not_asked' } } });
  });

  test('Ctrl-C ends the run that is under way and begins no other', async () => {
    const { pawl, interrupt, interrupts, core } = setup();
    const running = pawl('run', 'slow', '--rollouts', '4', '--json');
    await expect.poll(() => core.liveRuns()).toBe(1);
    await expect.poll(() => interrupts.size).toBeGreaterThan(0);
    interrupt();
    const { code, out } = await running;
    expect(code).toBe(3);
    expect(JSON.parse(out)).toMatchObject({ rollouts: [{ stop: 'user' }], selection: { decidedBy: 'only' } });
  });

  test('a task that cannot start ends them all', async () => {
    const { pawl } = setup();
    expect(await pawl('run', 'no-verdict', '--rollouts', '3')).toMatchObject({ code: 1, out: '' });
  });
});

describe('other commands', () => {
  test('runs, show, stop, resume', async () => {
    const { pawl } = setup();
    expect(await pawl('runs')).toMatchObject({ code: 0, out: expect.stringContaining('No runs yet') });
    expect((await pawl('run', 'timetable')).code).toBe(0);
    expect((await pawl('run', 'other', '--attempts', '3')).code).toBe(3);
    const list = await pawl('runs');
    expect(list.out.split('\n').map((line) => line.trimEnd().split(/ {2,}/).slice(1, 6))).toEqual([
      ['task', 'state', 'attempts', 'commits', 'potential'],
      ['other', 'budget', '3', '1', '5 -> 4'],
      ['timetable', 'zero_rank', '10', '5', '5 -> 0'],
      [],
    ]);
    const json: unknown = JSON.parse((await pawl('runs', '--json')).out);
    expect(json).toMatchObject({ runs: [{ task: { id: 'other' } }, { task: { id: 'timetable' } }] });

    expect(parseRun((await pawl('show', '00000001', '--json')).out)).toMatchObject({ task: { id: 'other' }, stop: 'budget' });
    const words = await pawl('show', 'run_00000001');
    expect(words.out).toMatch(/^ *1 +1 +1 +tie +on 0 +5$/m);
    expect(words.out).toMatch(/^ *2 +2 +1 +commit +on 0 +4 +-> bundle 1$/m);

    const stop = await pawl('stop', '00000001', '--json');
    expect(stop.code).toBe(1);
    expect(JSON.parse(stop.out)).toMatchObject({ error: { code: 'conflict' } });
    expect((await pawl('resume', '00000001')).code).toBe(1);
    expect(JSON.parse((await pawl('show', '99999999', '--json')).out)).toMatchObject({ error: { code: 'not_found' } });
    expect((await pawl('show', 'short')).err).toMatch(/shorter than 8/);
  });

  test('preflight --print-task shows what a task was read as, and what could not be carried over, and measures nothing', async () => {
    const core = createFakeCore({ dataDir: dir, startPotential: 5 });
    let measured = 0;
    const own = core.handlers['task.preflight'];
    const counted = (...call: Parameters<typeof own>) => {
      measured++;
      return own(...call);
    };
    const { pawl } = setup({ core: { ...core, handlers: { ...core.handlers, 'task.preflight': counted } } });
    const { code, out } = await pawl('preflight', 'foreign', '--print-task');
    expect(code).toBe(0);
    expect(out).toMatch(/read as +a Harbor task folder/);
    expect(out).toContain('- network: task.toml: environment.allow_internet is true\uFFFD[2J');
    expect(out).toContain('--- task.toml\nversion = 1\n');
    expect(out).toContain('--- artifact/ (1 files, 1 writable: w)\nw- 1 a.json\n');
    expect((await pawl('preflight', 'plain', '--print-task')).out).not.toContain('what is different here');
    const json = await pawl('preflight', 'foreign', '--print-task', '--json');
    expect(JSON.parse(json.out)).toMatchObject({ task: { format: 'harbor' }, toml: 'version = 1\n', artifact: [{ writable: true }] });
    expect(await pawl('preflight', 'foreign', '--print-task', '--runs', '2', '--json')).toMatchObject({
      code: 2,
      out: expect.stringContaining('"field":"--runs"'),
    });
    expect(measured).toBe(0);
    expect((await pawl('preflight', 'plain')).code).toBe(0);
    expect(measured).toBe(1);
  });

  test('"tamper-evident only" stands wherever verdicts of a shared task are shown', async () => {
    const core = createFakeCore({ dataDir: dir, startPotential: 5 });
    const shared = <Body extends { verifier: object }>(body: Body): Body => ({
      ...body,
      verifier: { ...body.verifier, kind: 'command', runsCandidate: true, isolation: 'shared' },
    });
    const { 'run.get': get, 'task.preflight': measure } = core.handlers;
    const sha = 'a'.repeat(64);
    const handlers: typeof core.handlers = {
      ...core.handlers,
      'run.get': async (...call) => {
        const detail = await get(...call);
        return { ...detail, contractBody: shared(detail.contractBody) };
      },
      'task.preflight': async (...call) => {
        const found = await measure(...call);
        return { ...found, task: { ...found.task, contract: shared(found.task.contract) } };
      },
      async *'replay.verifier'() {
        const bundle = { seq: 0, bundle: sha, tree: sha, result: 'match' as const, message: null, coordinates: [], ranks: [[0]] };
        yield await Promise.resolve({ kind: 'bundle' as const, bundle });
      },
    };
    const { pawl } = setup({ core: { ...core, handlers } });
    const label = /candidate +shares the sandbox of the verifier: tamper-evident only/;
    expect((await pawl('run', 'timetable')).out).toMatch(label);
    expect((await pawl('show', '00000000')).out).toMatch(label);
    expect(parseRun((await pawl('show', '00000000', '--json')).out).tamperEvidentOnly).toBe(true);
    expect((await pawl('preflight', 'timetable')).out).toMatch(label);
    expect(JSON.parse((await pawl('preflight', 'timetable', '--json')).out)).toMatchObject({ tamperEvidentOnly: true });
    expect((await pawl('replay', '00000000', '--verifier')).out).toMatch(label);
    expect(JSON.parse((await pawl('replay', '00000000', '--verifier', '--json')).out)).toMatchObject({ tamperEvidentOnly: true });
    expect((await pawl('run', 'timetable', '--rollouts', '2')).out).toMatch(/^candidate code shares .*tamper-evident only$/m);
    expect(JSON.parse((await pawl('run', 'timetable', '--rollouts', '2', '--json')).out)).toMatchObject({
      rollouts: [{ tamperEvidentOnly: true }, { tamperEvidentOnly: true }],
    });
    // And only there.
    const plain = setup();
    for (const argv of [
      ['run', 'timetable'],
      ['show', '00000000'],
      ['preflight', 'timetable'],
    ])
      expect((await plain.pawl(...argv)).out).not.toMatch(/tamper-evident|candidate /);
    expect(parseRun((await plain.pawl('show', '00000000', '--json')).out).tamperEvidentOnly).toBe(false);
  });

  test('preflight names what is unstable, and takes the choices that go on', async () => {
    const { pawl } = setup();
    const stable = await pawl('preflight', 'timetable', '--runs', '3');
    expect(stable.code).toBe(0);
    expect(stable.out).toMatch(/seed +stable: a run would start/);
    expect(stable.out).toMatch(/measured +3 times, 1 ms in the middle/);
    const unstable = await pawl('preflight', 'unstable');
    expect(unstable.code).toBe(1);
    expect(unstable.out).toMatch(/unstable: clashes; a run needs a choice for each/);
    expect(unstable.out).toMatch(/clashes +worst +unstable +- +5 6/);
    expect(unstable.out).toMatch(
      /^clashes took the values 5, 6: --quarantine clashes makes it advisory, --median clashes takes its median$/m,
    );
    const json = await pawl('preflight', 'unstable', '--json');
    expect(JSON.parse(json.out)).toMatchObject({ stable: false, error: { code: 'unstable', field: 'clashes' } });
    const chosen = await pawl('preflight', 'unstable', '--quarantine', 'other', '--quarantine', 'clashes', '--json');
    expect(chosen.code).toBe(0);
    expect(JSON.parse(chosen.out)).toMatchObject({ stable: true, genesis: { potential: 5 } });
  });

  test('a run stopped from another command can be resumed to its end', async () => {
    const { pawl, seen, core } = setup();
    const running = pawl('run', 'slow', '--json');
    await expect.poll(() => seen.err, { interval: 5 }).toMatch(/commit 1: /);
    const stopping = another(core);
    const stopped = await stopping('stop', '00000000', '--json');
    expect(JSON.parse(stopped)).toMatchObject({ id: 'run_00000000-0000-7000-8000-000000000000', stop: 'user' });
    expect((await running).code).toBe(3);
    const resumed = await pawl('resume', '00000000', '--json');
    expect(resumed.code).toBe(0);
    expect(parseRun(resumed.out)).toMatchObject({ stop: 'zero_rank' });
  });

  test('one process hosts the engine until the runs of the others have ended', async () => {
    const begun = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const last: Readonly<Record<number, Promise<void>>> = { 4: begun.promise, 12: over.promise };
    const core = createFakeCore({
      dataDir: dir,
      startPotential: 1000,
      // Each run's last attempt waits for the other command.
      beforeAttempt: async ({ budget }, n) => (n === budget.max.attempts ? last[n] : undefined),
    });
    const host = setup({ core });
    const running = host.pawl('run', 'any', '--attempts', '4');
    await expect.poll(() => host.seen.err, { interval: 5 }).toMatch(/commit 1: /);
    // Meanwhile another command starts a run in it, which ends later.
    const other = another(core)('run', 'any', '--attempts', '12', '--json');
    await expect.poll(() => core.liveRuns(), { interval: 5 }).toBe(2);
    begun.resolve();
    await expect.poll(() => host.seen.err, { interval: 5 }).toMatch(/it goes on until they end/);
    over.resolve();
    expect(parseRun(await other)).toMatchObject({ stop: 'budget', budget: { attempts: { used: 12 } } });
    expect((await running).code).toBe(3);
  });

  /** A second command line, as of another process: its engine is the one that the first hosts, or the next one on the same store. */
  function another(core: ReturnType<typeof createFakeCore>) {
    const { pawl } = setup({ core });
    return async (...argv: string[]) => (await pawl(...argv)).out;
  }
});

describe('usage', () => {
  test.each([
    [['run'], 'task'],
    [['run', 'a', '--slots', '0'], '--slots'],
    [['run', 'a', '--slots', '65'], '--slots'],
    [['run', 'a', '--attempts', '1.5'], '--attempts'],
    [['run', 'a', '--seed', '-1'], '--seed'],
    [['run', 'a', '--proposer', 'oracle'], '--proposer'],
    [['serve', '--port', '70000'], '--port'],
    [['run', 'a', 'b'], null],
    [['show', 'x', '--unheard'], '--unheard'],
    [['unheard'], null],
    [['runs', '--data', ''], '--data'],
    [[], null],
  ])('%j is a usage error', async (argv, field) => {
    const { pawl } = setup();
    const json = await pawl(...argv, '--json');
    expect(json.code).toBe(2);
    expect(JSON.parse(json.out)).toEqual({
      error: { code: 'bad_input', message: expect.stringContaining('see pawl --help'), file: null, field },
    });
    const words = await pawl(...argv);
    expect([words.code, words.out]).toEqual([2, '']);
    expect(words.err).toMatch(/^pawl: .+\n$/);
  });

  test.each([
    [['--proposer', 'command'], '--command', 'needs --command'],
    [['--proposer', 'recorded'], '--from', 'needs --from'],
    [['--command', 'true'], '--command', 'belongs to --proposer command'],
    [['--command-timeout', '5'], '--command-timeout', 'belongs to --proposer command'],
    [['--from', 'run_01234567'], '--from', 'belongs to --proposer recorded'],
    [['--proposer', 'recorded', '--from', 'run_01234567', '--rollouts', '2'], '--rollouts', 'the same record'],
  ])('run with %j is a usage error', async (argv, field, message) => {
    const { pawl } = setup();
    const { code, out } = await pawl('run', 'timetable', ...argv, '--json');
    expect(code).toBe(2);
    expect(JSON.parse(out)).toEqual({ error: { code: 'bad_input', message: expect.stringContaining(message), file: null, field } });
  });

  test('--version, --help and the help of a command', async () => {
    const { pawl } = setup();
    expect(await pawl('--version')).toMatchObject({ code: 0, out: '1.2.3\n' });
    const help = await pawl('--help');
    expect(help.code).toBe(0);
    for (const name of ['run', 'preflight', 'runs', 'show', 'stop', 'resume', 'serve'])
      expect(help.out).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
    // Every option of every command, and `help` says the same.
    for (const option of ['--proposer', '--rollouts', '--quarantine', '--print-task', '--decisions', '--from', '--port', '--unsandboxed'])
      expect(help.out).toContain(`  ${option}`);
    expect((await pawl('help')).out).toBe(help.out);
    expect((await pawl('help', 'run')).out).toBe((await pawl('run', '--help')).out);
    expect(help.out).not.toMatch(/import/);
    expect((await pawl('run', '--help')).out).toMatch(/--data <dir>/);
  });

  test('a folder that cannot be had: exit 1 with its name', async () => {
    const { pawl, io } = setup();
    Object.assign(io, { acquire: () => Promise.reject(new RpcError('unavailable', 'the data folder /x is locked', { file: '/x' })) });
    expect(await pawl('runs', '--json')).toMatchObject({ code: 1, out: expect.stringContaining('"file":"/x"') });
  });
});

describe('output', () => {
  test('text of strangers cannot drive the terminal', () => {
    expect(plain('a\x1b[2Jb\u202ec\x9b\n')).toBe('a\uFFFD[2Jb\uFFFDc\uFFFD\n');
  });

  test('tables are aligned', () => {
    expect(
      table(
        [
          ['a', 'long heading', 'z'],
          ['1', 22, 'last'],
          ['333', 4, ''],
        ],
        new Set([1]),
      ),
    ).toBe('a    long heading  z\n1              22  last\n333             4\n');
  });

  test('on a terminal the bar rewrites itself, at most ten times a second, never wider than the terminal', async () => {
    const { pawl, seen } = setup({ columns: 40 });
    await pawl('run', 'timetable', '--attempts', '8');
    const bars = seen.err.split('\r\x1b[K').slice(1);
    expect(bars.length).toBeGreaterThan(0);
    for (const bar of bars) expect(bar.split('\n')[0]?.length).toBeLessThan(40);
    expect(seen.err).not.toMatch(/^commit/m);
  });

  test('elsewhere one line per commit', () => {
    let text = '';
    const progress = createProgress({ err: (t) => void (text += t), errColumns: null });
    const summary = (n: number, seq: number) => ({
      transitions: n,
      counts: { commit: seq },
      budget: { max: { attempts: 9 } },
      head: { seq, potential: 9 - seq },
      stop: null,
    });
    for (const [n, seq] of [
      [1, 0],
      [2, 1],
      [3, 1],
      [4, 3],
    ] as const)
      progress.update(summary(n, seq));
    progress.end();
    expect(text).toBe('commit 1: 2/9 attempts, 1 commits, potential 8\ncommit 3: 4/9 attempts, 3 commits, potential 6\n');
  });
});
