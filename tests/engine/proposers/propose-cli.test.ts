// `pawl run --proposer human` and `pawl propose` as they are typed, over a whole engine with the real verifier.
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { pawlIn } from '../../support/engine/pawl-on-engine.ts';
import { engineHere, folderHere, smallTaskHere } from '../../support/engine/in-test.ts';

const Run = z.object({ id: z.string(), status: z.string(), header: z.looseObject({ slots: z.int() }) });
const Proposed = z.looseObject({ n: z.int(), outcome: z.string(), reason: z.string() });
const Failure = z.object({
  error: z.object({ code: z.string(), message: z.string(), file: z.string().nullable(), field: z.string().nullable() }),
});

const numbers = (values: number[]) => `${JSON.stringify({ numbers: values })}\n`;

/** A waiting run of the small task, and a folder from which commands are typed. */
async function waiting(attempts = 20) {
  const engine = await engineHere();
  const from = await folderHere();
  const task = await smallTaskHere({ numbers: [3, 0, 4, 1], attempts });
  const pawl = (...argv: string[]) => pawlIn({ INIT_CWD: from }, engine, ...argv);
  const started = await pawl('run', task, '--proposer', 'human', '--json');
  expect(started.code).toBe(3);
  const run = Run.parse(JSON.parse(started.out));
  expect(run).toMatchObject({ status: 'waiting', header: { slots: 1 } });
  return { engine, from, pawl, run: run.id };
}

test('a whole tree: committed exits 0, rejected exits 3 with its reason, zero rank ends the run', async () => {
  const { from, pawl, run } = await waiting();
  expect((await pawl('show', run)).out).toMatch(/state +waits for your proposal \(make one with: pawl propose run_\S+ --tree DIR\)/);
  const tree = path.join(from, 'tree');
  await mkdir(tree);
  await writeFile(path.join(tree, 'numbers.json'), numbers([9, 0, 4, 1]));
  const worse = await pawl('propose', run, '--tree', 'tree');
  expect(worse.code).toBe(3);
  expect(worse.out).toMatch(/outcome +regression/);
  expect(worse.out).toMatch(/reason +worse: left from 3 to 9; nothing improved/);
  expect(worse.out).toMatch(/state +waits for your proposal/);

  await writeFile(path.join(tree, 'numbers.json'), numbers([0, 0, 9, 1]));
  const traded = await pawl('propose', run, '--tree', 'tree', '--json');
  expect([traded.code, Proposed.parse(JSON.parse(traded.out))]).toEqual([
    3,
    expect.objectContaining({
      n: 2,
      outcome: 'incomparable',
      relation: 'incomparable',
      improved: [{ key: 'left', before: 3, after: 0 }],
      worsened: [{ key: 'right', before: 5, after: 10 }],
      bundle: null,
      status: 'waiting',
      stop: null,
    }),
  ]);

  await writeFile(path.join(tree, 'numbers.json'), numbers([0, 0, 4, 1]));
  const better = await pawl('propose', run, '--tree', 'tree', '--json');
  expect(better.code).toBe(0);
  expect(Proposed.parse(JSON.parse(better.out))).toMatchObject({ outcome: 'commit', bundle: { seq: 1 }, head: { seq: 1, potential: 5 } });

  await writeFile(path.join(from, 'new.json'), numbers([0, 0, 0, 0]));
  const last = await pawl('propose', run, '--file', 'numbers.json=new.json', '--json');
  expect(last.code).toBe(0);
  expect(Proposed.parse(JSON.parse(last.out))).toMatchObject({ status: 'stopped', stop: 'zero_rank', head: { potential: 0 } });
  const over = await pawl('propose', run, '--file', 'numbers.json=new.json');
  expect(over.code).toBe(1);
  expect(over.err).toMatch(/zero_rank/);
});

test('what cannot be a candidate is said before anything is proposed', async () => {
  const { engine, from, pawl, run } = await waiting();
  const failed = async (...argv: string[]) => {
    const { code, out } = await pawl('propose', run, ...argv, '--json');
    expect(code).toBe(1);
    return Failure.parse(JSON.parse(out)).error;
  };
  const tree = path.join(from, 'tree');
  await mkdir(tree);
  await writeFile(path.join(tree, 'numbers.json'), numbers([1]));
  await writeFile(path.join(tree, 'other.txt'), 'x');
  expect(await failed('--tree', 'tree')).toMatchObject({
    code: 'bad_input',
    field: 'artifact.writable',
    message: expect.stringContaining('"other.txt"'),
  });
  await writeFile(path.join(tree, 'numbers.json'), new Uint8Array([0xff, 0xfe]));
  expect(await failed('--tree', 'tree')).toMatchObject({
    message: expect.stringContaining('UTF-8'),
    file: path.join(tree, 'numbers.json'),
  });
  expect(await failed('--tree', 'nowhere')).toMatchObject({ code: 'bad_input', field: '--tree', file: expect.stringContaining('nowhere') });
  await symlink('/etc/passwd', path.join(from, 'link'));
  expect(await failed('--file', 'numbers.json=link')).toMatchObject({ message: expect.stringContaining('symbolic link') });
  const same = path.join(from, 'same');
  await mkdir(same);
  await writeFile(path.join(same, 'numbers.json'), `${JSON.stringify({ numbers: [3, 0, 4, 1] }, null, 1)}\n`);
  expect(await failed('--tree', 'same')).toMatchObject({ message: expect.stringContaining('nothing to propose') });
  await chmod(path.join(same, 'numbers.json'), 0o755);
  expect((await pawl('propose', run, '--tree', 'same')).err).toMatch(/permission/);
  for (const argv of [[], ['--tree', 'same', '--remove', 'numbers.json'], ['--file', 'numbers.json'], ['--remove', 'a', '--remove', 'a']])
    expect((await pawl('propose', run, ...argv)).code).toBe(2);
  expect(await engine.client.call('run.get', { run })).toMatchObject({ transitions: 0, status: 'waiting' });

  // An artifact without a file that it needs is a candidate like any other, and invalid.
  const gone = await pawl('propose', run, '--remove', 'numbers.json');
  expect(gone.code).toBe(3);
  expect(gone.out).toMatch(/reason +not measured: empty: /);
});

test('stop, resume, branch and limits of a run of a person', async () => {
  const { engine, pawl, run } = await waiting();
  expect((await pawl('stop', run)).code).toBe(0);
  const resumed = await pawl('resume', run, '--json');
  expect(resumed.code).toBe(3);
  expect(Run.parse(JSON.parse(resumed.out)).status).toBe('waiting');
  const branched = await pawl('branch', `${run}/0`, '--json');
  expect(Run.parse(JSON.parse(branched.out))).toMatchObject({ status: 'waiting' });
  const task = await smallTaskHere();
  const limited = await pawl('run', task, '--proposer', 'human', '--limit', 'rounds=3', '--limit', 'wall_ms=none', '--json');
  const { id } = Run.parse(JSON.parse(limited.out));
  expect((await engine.client.call('run.get', { run: id })).header.budget).toMatchObject({ rounds: 3, wallMs: null });
  expect((await pawl('run', task, '--proposer', 'human', '--slots', '2')).err).toMatch(/slots is 1/);
  expect((await pawl('run', task, '--proposer', 'human', '--rollouts', '2')).code).toBe(2);
  expect((await pawl('run', task, '--limit', 'attempts=3')).code).toBe(2);
});
