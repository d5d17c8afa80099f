// The built command line in processes of its own, on the real engine.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@playwright/test';
import Database from 'better-sqlite3';
import { z } from 'zod';
import { takeLock } from '#electron/host/lock.ts';
import { ensure } from '#shared/lib/assert.ts';
import { pawl, startNpm, startPawl } from '../support/pawl.ts';
import { parseRun } from '../support/run-document.ts';

const task = 'resources/tasks/exam-timetable';

let dir = '';
test.beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'pawl-cli-'));
});
test.afterEach(() => {
  // Nothing of any command is left: the folder is free.
  const lock = takeLock(dir);
  lock?.release();
  rmSync(dir, { recursive: true, force: true });
  expect(lock).not.toBeNull();
});

/** The document of a run that has certified something. */
const parse = (text: string) => {
  const run = parseRun(text);
  return { ...run, head: ensure(run.head, 'head'), genesis: ensure(run.genesis, 'genesis') };
};
const sum = (rank: readonly number[]) => rank.reduce((a, b) => a + b, 0);

test('run, show and runs agree; the document is consistent in itself', async () => {
  const done = await pawl(['run', task, '--attempts', '40', '--seed', '5', '--json', '--data', dir]);
  expect(done.code, done.stderr).toBe(3);
  const run = parse(done.stdout);
  expect(run).toMatchObject({
    status: 'stopped',
    stop: 'budget',
    task: { id: 'exam-timetable' },
    header: { seed: 5, slots: 4 },
    budget: { attempts: { max: 40, used: 40 } },
  });
  expect(run.transitions.map((t) => t.n)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
  expect(Object.values(run.counts).reduce((a, b) => a + b, 0)).toBe(40);
  expect(run.bundles).toHaveLength((run.counts['commit'] ?? 0) + 1);
  expect(run.memoryEntries).toBe(40 - (run.counts['commit'] ?? 0));
  expect(run.head.potential).toBe(sum(run.head.rank));
  expect(run.genesis.potential).toBe(sum(run.genesis.rank));
  expect(run.bundles.at(-1)).toMatchObject({ seq: run.head.seq, id: run.head.id, rank: run.head.rank });
  for (const t of run.transitions) expect(t.bundle !== null).toBe(t.outcome === 'commit');

  const show = await pawl(['show', run.id.slice(4, 22), '--json', '--data', dir]);
  expect(JSON.parse(show.stdout)).toEqual(JSON.parse(done.stdout));
  expect(JSON.parse((await pawl(['runs', '--json', '--data', dir])).stdout)).toMatchObject({ runs: [{ id: run.id }] });
  const words = await pawl(['show', run.id, '--data', dir]);
  expect(
    words.stdout
      .split('\n')
      .filter((line) => / (commit|tie|regression|incomparable|duplicate|invalid|not_selected) /.test(line) && /^ *\d+ /.test(line)),
  ).toHaveLength(40);
});

test('the same command gives the same chain, whatever else runs', async () => {
  const args = ['run', task, '--attempts', '24', '--seed', '9', '--json', '--data', dir];
  // Two commands at once on one folder: one owns the engine, the other is its client.
  const [a, b] = await Promise.all([pawl(args), pawl(args)]);
  expect([a.code, b.code], `${a.stderr}\n${b.stderr}`).toEqual([3, 3]);
  const fingerprint = (text: string) =>
    createHash('sha256')
      .update(JSON.stringify(parse(text).transitions.map(({ n, outcome, tree, rank, bundle }) => ({ n, outcome, tree, rank, bundle }))))
      .digest('hex');
  expect(fingerprint(a.stdout)).toBe(fingerprint(b.stdout));
  expect(parse(a.stdout).id).not.toBe(parse(b.stdout).id);
  expect(JSON.parse((await pawl(['runs', '--json', '--data', dir])).stdout)).toMatchObject({
    runs: [{ stop: 'budget' }, { stop: 'budget' }],
  });
});

test('Ctrl-C stops after the round and exits 3; resume goes on to the end', async () => {
  const running = startPawl(['run', task, '--attempts', '200', '--json', '--data', dir]);
  await running.seen(/commit 1: /);
  running.child.kill('SIGINT');
  const stopped = await running.finished;
  expect(stopped.code, stopped.stderr).toBe(3);
  const run = parse(stopped.stdout);
  expect(run).toMatchObject({ status: 'stopped', stop: 'user' });
  expect(run.transitions.length).toBeLessThan(200);
  const resumed = await pawl(['resume', run.id, '--json', '--data', dir]);
  expect(parse(resumed.stdout)).toMatchObject({ id: run.id, budget: { attempts: { max: 200, used: 200 } } });
  expect(parse(resumed.stdout).transitions.slice(0, run.transitions.length)).toEqual(run.transitions);
});

test('through npm: Ctrl-C of the terminal reaches npm, shell and command, and exits 3 all the same', async () => {
  const running = startNpm(['run', '-s', 'pawl', '--', 'run', task, '--attempts', '5000', '--json', '--data', dir]);
  await running.seen(/commit 1: /);
  process.kill(-(running.child.pid ?? 0), 'SIGINT');
  const { code, stdout, stderr } = await running.finished;
  expect(code, stderr).toBe(3);
  expect(parse(stdout)).toMatchObject({ stop: 'user' });
});

test('npm start without a display serves, says why, and ends with npm', async () => {
  test.skip(
    process.platform !== 'linux' || process.env['DISPLAY'] !== undefined || process.env['WAYLAND_DISPLAY'] !== undefined,
    'there is a display',
  );
  const running = startNpm(['start', '--', '--data', dir]);
  await running.seen(/Serving the app to a browser, because there is no display/);
  await running.seen(/http:\/\/127\.0\.0\.1:\d+\/#token=/);
  // npm passes it to its shell, which dies of it and tells nobody.
  running.child.kill('SIGTERM');
  await running.finished;
});

test('a run that was killed is interrupted, and can be resumed', async () => {
  const running = startPawl(['run', task, '--attempts', '120', '--data', dir]);
  await running.seen(/commit 1: /);
  running.child.kill('SIGKILL');
  await running.finished;
  const list = z
    .object({ runs: z.array(z.looseObject({ id: z.string(), status: z.string() })) })
    .parse(JSON.parse((await pawl(['runs', '--json', '--data', dir])).stdout));
  expect(list.runs).toMatchObject([{ status: 'interrupted', stop: null }]);
  const resumed = await pawl(['resume', list.runs[0]?.id ?? '', '--json', '--data', dir]);
  expect(resumed.code, resumed.stderr).toBe(3);
  expect(parse(resumed.stdout)).toMatchObject({ stop: 'budget', budget: { attempts: { used: 120 } } });
});

test('errors: one JSON document, exit 1 could not run, exit 2 usage', async () => {
  const missing = await pawl(['run', 'no/such/task', '--json', '--data', dir]);
  expect(missing.code).toBe(1);
  expect(JSON.parse(missing.stdout)).toMatchObject({
    error: { code: expect.stringMatching(/bad_input|not_found/), message: expect.stringContaining('no/such/task') },
  });
  const usage = await pawl(['run', task, '--slots', 'many', '--json', '--data', dir]);
  expect(usage.code).toBe(2);
  expect(JSON.parse(usage.stdout)).toMatchObject({ error: { code: 'bad_input', field: '--slots' } });
  writeFileSync(path.join(dir, 'file'), '');
  const folder = await pawl(['runs', '--json', '--data', path.join(dir, 'file')]);
  expect(folder.code).toBe(1);
  expect(JSON.parse(folder.stdout)).toMatchObject({ error: { code: 'unavailable', file: path.join(dir, 'file') } });
  expect(await pawl(['stop', '00000000', '--data', dir])).toMatchObject({ code: 1, stdout: '' });
});

test('preflight measures the seed and stores nothing', async () => {
  const done = await pawl(['preflight', task, '--runs', '2', '--json', '--data', dir]);
  expect(done.code, done.stderr).toBe(0);
  const Preflight = z.looseObject({
    stable: z.literal(true),
    runs: z.literal(2),
    genesis: z.object({ rank: z.array(z.int()), potential: z.int() }),
    obligations: z.array(z.looseObject({ key: z.string() })),
  });
  const { genesis, obligations } = Preflight.parse(JSON.parse(done.stdout));
  expect(genesis.rank).toHaveLength(obligations.length);
  expect(genesis.potential).toBe(sum(genesis.rank));
  expect(JSON.parse((await pawl(['runs', '--json', '--data', dir])).stdout)).toEqual({ runs: [] });
});

test('a reader that goes away is no error', async () => {
  await pawl(['run', task, '--attempts', '40', '--data', dir]);
  const shown = startPawl([
    'show',
    z.object({ runs: z.array(z.looseObject({ id: z.string() })) }).parse(JSON.parse((await pawl(['runs', '--json', '--data', dir])).stdout))
      .runs[0]?.id ?? '',
    '--data',
    dir,
  ]);
  shown.child.stdout?.destroy();
  const { code, stderr } = await shown.finished;
  expect(code, stderr).toBe(0);
  expect(stderr).not.toMatch(/pawl:|EPIPE/);
});

test('relative --data is that of the caller', async () => {
  await pawl(['runs', '--data', 'sub/folder'], { INIT_CWD: dir });
  expect(existsSync(path.join(dir, 'sub/folder/pawl.db'))).toBe(true);
});

test('six commands at once that end at once: each says what is wrong with its task, none that its engine went', async () => {
  for (let round = 0; round < 3; round++) {
    const all = await Promise.all(Array.from({ length: 6 }, () => pawl(['run', path.join(dir, 'missing'), '--json', '--data', dir])));
    expect(
      all.map(({ stdout }) => Reflect.get(Object(JSON.parse(stdout)), 'error')).map((error) => Reflect.get(Object(error), 'code')),
    ).toEqual(Array.from({ length: 6 }, () => 'bad_input'));
  }
});

test('a runner that is killed interrupts the run: exit 1 with the command that goes on', async () => {
  test.skip(process.platform === 'win32', 'needs ps');
  const running = startPawl(['run', task, '--attempts', '400', '--json', '--data', dir]);
  await running.seen(/commit 1: /);
  const processes = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  const runner = processes
    .map((line) => line.trim().split(/\s+/))
    .find(([, parent, ...args]) => Number(parent) === running.child.pid && args.join(' ').includes('runner'));
  process.kill(Number(runner?.[0]), 'SIGKILL');
  const { code, stdout, stderr } = await running.finished;
  expect(code, stderr).toBe(1);
  const { error } = z.object({ error: z.object({ code: z.literal('unavailable'), message: z.string() }) }).parse(JSON.parse(stdout));
  const id = /pawl resume (run_[0-9a-f-]+)/.exec(error.message)?.[1] ?? '';
  expect(JSON.parse((await pawl(['show', id, '--json', '--data', dir])).stdout)).toMatchObject({ status: 'interrupted', stop: null });
  const resumed = await pawl(['resume', id, '--json', '--data', dir]);
  expect(resumed.code, resumed.stderr).toBe(3);
  expect(parse(resumed.stdout)).toMatchObject({ stop: 'budget', counts: { no_verdict: 0 } });
});

test('a database of a newer version or a damaged one is named, and is no internal error', async () => {
  const file = path.join(dir, 'pawl.db');
  expect((await pawl(['runs', '--data', dir])).code).toBe(0);
  const db = new Database(file);
  db.pragma('user_version = 9999');
  db.close();
  const newer = await pawl(['runs', '--json', '--data', dir]);
  expect([newer.code, JSON.parse(newer.stdout)]).toMatchObject([1, { error: { code: 'incompatible', file } }]);
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
  writeFileSync(file, 'no database at all, but long enough to be taken for one. '.repeat(100));
  const damaged = await pawl(['runs', '--json', '--data', dir]);
  expect([damaged.code, JSON.parse(damaged.stdout)]).toMatchObject([1, { error: { code: 'unavailable', file } }]);
});

test('an engine that is suspended: the next command and a second server say so in time, and go on when it does', async () => {
  test.skip(process.platform === 'win32', 'no signals');
  const first = startPawl(['serve', '--data', dir]);
  await first.seen(/#token=/);
  first.child.kill('SIGSTOP');
  const begun = performance.now();
  const [list, second] = await Promise.all([pawl(['runs', '--json', '--data', dir]), pawl(['serve', '--data', dir])]);
  expect(performance.now() - begun).toBeLessThan(30_000);
  const who =
    process.platform === 'linux' ? `process ${first.child.pid}\\) that is suspended.*kill -CONT ${first.child.pid}` : 'does not answer';
  expect([list.code, JSON.parse(list.stdout)]).toMatchObject([
    1,
    { error: { code: 'unavailable', message: expect.stringMatching(who), file: dir } },
  ]);
  expect([second.code, second.stderr]).toEqual([1, expect.stringMatching(who)]);
  first.child.kill('SIGCONT');
  expect((await pawl(['runs', '--json', '--data', dir])).code).toBe(0);
  first.child.kill('SIGTERM');
  await first.finished;
});
