// Harbor task folders as tasks: what they become, what is refused and how it is named. Nothing is run here.
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadTask, verifyTaskUnchanged, type LoadedTask, type TaskError } from '#electron/core/tasks/load-task.ts';
import { TaskInfo } from '#shared/contract/task.ts';
import { isTamperEvidentOnly } from '#shared/domain/contract.ts';
import { harborTask } from '../../support/engine/foreign-tasks.ts';

let root = '';
let folders = 0;
beforeAll(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'pawl-harbor-'));
});
afterAll(async () => {
  await rm(root, { recursive: true, force: true });
});
const fresh = (): Promise<string> => harborTask(path.join(root, `task-${folders++}`));

const loaded = async (dir: string): Promise<LoadedTask> => {
  const result = await loadTask(dir);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
};
const refused = async (dir: string): Promise<TaskError> => {
  const result = await loadTask(dir);
  if (result.ok) throw new Error('the task was accepted');
  return result.error;
};
const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

/** The fixture with `from` replaced by `to` in one of its files; the text to change must be there. */
const variant = async (name: string, from: string, to: string): Promise<string> => {
  const dir = await fresh();
  const before = await readFile(path.join(dir, name), 'utf8');
  if (!before.includes(from)) throw new Error(`${name} has no ${JSON.stringify(from)}`);
  await writeFile(path.join(dir, name), before.replace(from, to));
  return dir;
};
const toml = (from: string, to: string) => variant('task.toml', from, to);
const dockerfile = (from: string, to: string) => variant('environment/Dockerfile', from, to);

describe('what a folder becomes', () => {
  test('contract, seed, verifier and instruction', async () => {
    const task = await loaded(await fresh());
    expect(TaskInfo.parse(task.info)).toEqual(task.info);
    expect(task.info).toMatchObject({
      format: 'harbor',
      id: 'fixtures.count-words',
      title: 'fixtures/count-words: Repair a program that counts',
    });
    const { contract } = task;
    expect(contract.verifier).toMatchObject({
      kind: 'command',
      command: ['sh', 'verifier/run.sh'],
      adapter: 'harbor',
      isolation: 'shared',
      places: [
        { at: '/app', from: null },
        { at: '/logs', from: null },
        { at: '/tests', from: 'verifier/tests' },
      ],
      env: ['COUNT_WORDS_TOKEN'],
      timeoutsMs: { run: 30_500 },
      limits: { memoryMb: 512, cpuS: 61, fileMb: 1_024 },
    });
    expect(isTamperEvidentOnly(contract)).toBe(true);
    expect(contract.obligations).toMatchObject([{ key: 'reward', kind: 'ordinal', cap: 100 }]);
    expect(contract.from).toEqual(['reward to 1 by 0.01']);
    expect(contract.artifact).toMatchObject({ writable: ['**'], protectedPaths: [], allowEmpty: true });
    expect(task.seedFiles.map(({ path: name, mode }) => [name, mode])).toEqual([
      ['run.sh', 'exec'],
      ['src/count.py', 'file'],
    ]);
    expect(task.verifierFiles.map(({ path: name, mode }) => [name, mode])).toEqual([
      ['verifier/run.sh', 'exec'],
      ['verifier/tests/check.py', 'file'],
      ['verifier/tests/test.sh', 'exec'],
    ]);
    const script = text(task.verifierFiles[0]?.bytes);
    expect(script).toContain(`export MODE='plain'\nexport GREETING='hello'\nexport STRICT='it'\\''s on'\n`);
    expect(script).toContain('\n/tests/test.sh > ');
    expect(text(task.instruction)).toMatch(/^# Count words\n[^]*\n\nThe files that can be changed are those of \/app;/);
  });

  test('the reference solution is in no tree, no verifier, no prompt and no contract', async () => {
    const dir = await fresh();
    const task = await loaded(dir);
    const everything = [JSON.stringify([task.info, task.document]), text(task.instruction)];
    for (const { bytes } of [...task.seedFiles, ...task.verifierFiles]) everything.push(text(bytes));
    expect(everything.join('\n')).not.toContain('SECRET_OF_THE_SOLUTION');
    await rm(path.join(dir, 'solution'), { recursive: true });
    expect((await loaded(dir)).contract.sha).toBe(task.contract.sha);
  });

  test('what is different or left out is said by name; unknown members and other files are listed', async () => {
    const dir = await toml('allow_internet = false', 'gpus = 1');
    await writeFile(path.join(dir, 'notes.md'), 'x');
    await writeFile(path.join(dir, 'environment/.dockerignore'), '*.md');
    await writeFile(
      path.join(dir, 'tests/test.sh'),
      '# curl in a comment\nset -e\napt-get update && apt-get install -y curl\nuvx pytest\n',
    );
    const { notes } = (await loaded(dir)).info;
    expect(notes.map(({ code, file, field }) => `${code} ${file} ${field}`)).toEqual([
      'unused task.toml task.keywords',
      'unused task.toml agent.timeout_sec',
      'unused task.toml environment.build_timeout_sec',
      'unknown-field task.toml environment.colour',
      'unused task.toml metadata',
      'outside-workdir environment/Dockerfile COPY',
      'dockerignore environment/.dockerignore null',
      'variable task.toml verifier.env.TOKEN',
      'image environment/Dockerfile FROM',
      'dockerfile environment/Dockerfile ENV (line 5)',
      'dockerfile environment/Dockerfile RUN (line 13)',
      'dockerfile environment/Dockerfile USER (line 17)',
      'network task.toml environment.allow_internet',
      'gpus task.toml environment.gpus',
      'cpus task.toml environment.cpus',
      'storage task.toml environment.storage_mb',
      'network tests/test.sh line 3',
      'network tests/test.sh line 3',
      'network tests/test.sh line 4',
      'tamper-evident tests/test.sh null',
      'solution solution/ null',
      'unused . null',
      'reward tests/test.sh null',
    ]);
  });

  test('the oldest form, with nothing but defaults', async () => {
    const dir = await fresh();
    await writeFile(path.join(dir, 'task.toml'), 'version = "1.0"\n[environment]\nmemory = "2G"\nstorage = "512M"\n');
    await writeFile(path.join(dir, 'environment/Dockerfile'), 'FROM debian\n');
    const task = await loaded(dir);
    expect(task.info.id).toBe(path.basename(dir));
    expect(task.contract.verifier).toMatchObject({ timeoutsMs: { run: 600_000 }, limits: { memoryMb: 2_048, cpuS: 600, fileMb: 512 } });
    expect(task.seedFiles).toEqual([]);
    expect(task.info.notes).toContainEqual(expect.objectContaining({ code: 'workdir', message: 'is not said; /app is assumed' }));
  });

  test('rewards of its own, and a working folder of its own', async () => {
    const task = await loaded(await toml('[metadata]', '[metadata.pawl]\nrewards = ["style to 10 by 2.5", "correct >= 1"]\n[metadata]'));
    expect(task.contract.from).toEqual(['style to 10 by 2.5', 'correct >= 1']);
    expect(task.contract.obligations).toMatchObject([
      { key: 'style', kind: 'ordinal', cap: 4 },
      { key: 'correct', kind: 'binary', cap: 1 },
    ]);
    const moved = await loaded(await toml('colour = "green"', 'workdir = "/app/src"'));
    expect(moved.seedFiles.map(({ path: name }) => name)).toEqual(['count.py']);
    expect(moved.contract.verifier.places?.[0]).toEqual({ at: '/app/src', from: null });
  });

  test("a task.toml that has members of Pawl's own is one of Pawl's own", async () => {
    expect(await refused(await toml('schema_version = "1.2"', 'id = "mine"'))).toMatchObject({
      message: expect.stringMatching(/artifact\/ is missing/),
    });
    const dir = await fresh();
    await writeFile(path.join(dir, 'task.toml'), '');
    expect((await loaded(dir)).info.format).toBe('harbor');
  });
});

describe('a folder that cannot be used names file and field', () => {
  test.each<[what: string, make: () => Promise<string>, file: string, field: string | null, message: RegExp]>([
    [
      'a time of another type',
      () => toml('timeout_sec = 30.5', 'timeout_sec = "soon"'),
      'task.toml',
      'verifier.timeout_sec',
      /is "soon"; it must be a number of seconds/,
    ],
    ['no time at all', () => toml('timeout_sec = 30.5', 'timeout_sec = 0'), 'task.toml', 'verifier.timeout_sec', /above 0/],
    [
      'a memory of another type',
      () => toml('memory_mb = 512', 'memory_mb = 1.5'),
      'task.toml',
      'environment.memory_mb',
      /an integer from 1/,
    ],
    ['a size that is none', () => toml('memory_mb = 512', 'memory = "much"'), 'task.toml', 'environment.memory', /a size such as "512M"/],
    [
      'an environment that is no table',
      () => toml('env = { GREETING = "hello" }', 'env = ["x"]'),
      'task.toml',
      'environment.env',
      /a table of texts/,
    ],
    ['a variable of another type', () => toml('GREETING = "hello"', 'GREETING = 5'), 'task.toml', 'environment.env.GREETING', /is 5/],
    [
      'rewards of another type',
      () => toml('[metadata]', '[metadata.pawl]\nrewards = "x"\n[metadata]'),
      'task.toml',
      'metadata.pawl.rewards',
      /a list of rules/,
    ],
    [
      'an unknown member of ours',
      () => toml('[metadata]', '[metadata.pawl]\nrewards = ["a"]\nreward = 1\n[metadata]'),
      'task.toml',
      'metadata.pawl.reward',
      /is unknown; known here are rewards/,
    ],
    [
      'a rule that is none',
      () => toml('[metadata]', '[metadata.pawl]\nrewards = ["a > 1"]\n[metadata]'),
      'task.toml (as adapted)',
      'obligation[0].from',
      /is no rule for a reward/,
    ],
    ['broken TOML', () => toml('[task]', '[task'), 'task.toml', null, /./],
    ['several steps', () => toml('[agent]', '[[steps]]\nname = "one"\n[agent]'), 'task.toml', 'steps', /several steps/],
    ['Windows', () => toml('cpus = 2', 'os = "windows"'), 'task.toml', 'environment.os', /is "windows"; tests run on Linux only/],
    [
      'a working folder of the system',
      () => toml('colour = "green"', 'workdir = "/usr/src/app"'),
      'task.toml',
      'environment.workdir',
      /at or below \/usr/,
    ],
    [
      'the root as its working folder',
      () => dockerfile('WORKDIR $HOME_DIR', 'WORKDIR /'),
      'environment/Dockerfile',
      'WORKDIR',
      /is "\/", which is no absolute path/,
    ],
    [
      'the tests as its working folder',
      () => toml('colour = "green"', 'workdir = "/tests/x"'),
      'task.toml',
      'environment.workdir',
      /\/tests\/x lies in \/tests/,
    ],
    [
      'a copy of nothing',
      () => dockerfile('COPY data.txt', 'COPY none.txt'),
      'environment/Dockerfile',
      'line 12',
      /copies "none\.txt", which is not in environment/,
    ],
    [
      'a copy from outside',
      () => dockerfile('COPY data.txt', 'COPY ../solution/solve.sh'),
      'environment/Dockerfile',
      'line 12',
      /copies "\.\.\/solution\/solve\.sh", which is not in environment/,
    ],
    [
      'a name that no tree can have',
      () => dockerfile('COPY data.txt /data/', 'COPY data.txt "/app/a:b"'),
      'artifact/',
      null,
      /has a colon/,
    ],
  ])('%s', async (_, make, file, field, message) => {
    const error = await refused(await make());
    expect(error).toMatchObject({ file, field, message: expect.stringMatching(message) });
  });

  test.each<[what: string, change: (dir: string) => Promise<unknown>, message: RegExp]>([
    ['no instruction', (dir) => rm(path.join(dir, 'instruction.md')), /instruction\.md is missing/],
    ['no tests', (dir) => rm(path.join(dir, 'tests'), { recursive: true }), /tests\/ is missing/],
    ['no environment', (dir) => rm(path.join(dir, 'environment'), { recursive: true }), /environment\/ is missing/],
    ['no test.sh', (dir) => rm(path.join(dir, 'tests/test.sh')), /tests\/test\.sh is missing/],
    [
      'no Dockerfile',
      (dir) => rm(path.join(dir, 'environment/Dockerfile')),
      /environment\/Dockerfile is missing, and so is environment\.docker_image/,
    ],
    [
      'an image without a Dockerfile',
      async (dir) => {
        await rm(path.join(dir, 'environment/Dockerfile'));
        await writeFile(path.join(dir, 'task.toml'), '[environment]\ndocker_image = "x/y:1"\n');
      },
      /environment\.docker_image is "x\/y:1" and there is no environment\/Dockerfile.*COPY \. \/app/,
    ],
    [
      'a service beside it',
      (dir) => writeFile(path.join(dir, 'environment/docker-compose.yaml'), 'services:\n  main: {}\n  db:\n    image: x\n'),
      /docker-compose\.yaml: services declares "db", and no service can be started/,
    ],
    [
      'services that cannot be read',
      (dir) => writeFile(path.join(dir, 'environment/docker-compose.yaml'), 'services: {a: {}}\n'),
      /cannot be read for the services/,
    ],
    ['a link in the tests', (dir) => symlink('/etc/passwd', path.join(dir, 'tests/l')), /tests\/l is a symbolic link/],
    ['a link in the environment', (dir) => symlink('../solution', path.join(dir, 'environment/l')), /environment\/l is a symbolic link/],
    [
      'a huge instruction',
      (dir) => writeFile(path.join(dir, 'instruction.md'), 'x'.repeat(5 * 1024 * 1024)),
      /instruction\.md has 5242880 bytes/,
    ],
  ])('%s', async (_, change, message) => {
    const dir = await fresh();
    await change(dir);
    expect((await refused(dir)).message).toMatch(message);
  });
});

describe('a run is held to all of it', () => {
  const changed = async (change: (dir: string) => Promise<unknown>) => {
    const dir = await fresh();
    const task = await loaded(dir);
    await change(dir);
    const result = await verifyTaskUnchanged(task, dir);
    return result.ok ? 'unchanged' : result.error;
  };
  const edit = (name: string, from: string, to: string) => async (dir: string) => {
    const file = path.join(dir, name);
    await writeFile(file, (await readFile(file, 'utf8')).replace(from, to));
  };

  test('the solution, descriptions, comments and files that are not placed may change', async () => {
    expect(await changed(async () => {})).toBe('unchanged');
    expect(await changed((dir) => writeFile(path.join(dir, 'solution/solve.sh'), 'x'))).toBe('unchanged');
    expect(await changed(edit('task.toml', 'difficulty = "easy"', 'difficulty = "hard"'))).toBe('unchanged');
    expect(await changed((dir) => writeFile(path.join(dir, 'environment/other.txt'), 'x'))).toBe('unchanged');
  });

  test.each<[what: string, change: (dir: string) => Promise<unknown>, message: RegExp]>([
    ['a test', edit('tests/check.py', '"1 1\\n"', '"1 2\\n"'), /verifier\/tests\/check\.py has changed/],
    ['a file of the seed', edit('environment/src/count.py', '+ 1', '+ 2'), /src\/count\.py has changed/],
    ['where a file goes', edit('environment/Dockerfile', 'COPY --chmod=755 run.sh ./', 'COPY --chmod=755 run.sh ./go.sh'), /go\.sh is new/],
    ['a variable', edit('task.toml', 'GREETING = "hello"', 'GREETING = "bye"'), /verifier\/run\.sh has changed/],
    ['the time', edit('task.toml', '30.5', '31'), /what the task asks for has changed/],
    ['the instruction', edit('instruction.md', 'Repair', 'Break'), /the instruction has changed/],
    ['the folder is gone', (dir) => mkdir(`${dir}-x`).then(() => rm(dir, { recursive: true })), /is not there/],
  ])('%s', async (_, change, message) => {
    expect(await changed(change)).toMatch(message);
  });
});
