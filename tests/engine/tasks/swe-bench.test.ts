// Instances of SWE-bench as tasks: what they become, what is refused and how it is named. Nothing is run here.
import { cp, mkdir, mkdtemp, readFile, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadTask, verifyTaskUnchanged, type LoadedTask, type TaskError } from '#electron/core/tasks/load-task.ts';
import { collectScript, runScript } from '#electron/core/tasks/swe-bench/runner-script.ts';
import { listTests, maxSingleTests, obligationsOf, planOf } from '#electron/core/tasks/swe-bench/tests.ts';
import { TaskInfo } from '#shared/contract/task.ts';
import { isTamperEvidentOnly } from '#shared/domain/contract.ts';
import { baseCommit, sweBenchCheckout, sweBenchIds, sweBenchInstance, sweBenchTask } from '../../support/engine/foreign-tasks.ts';

let root = '';
let folders = 0;
beforeAll(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'pawl-swe-bench-'));
});
afterAll(async () => {
  await rm(root, { recursive: true, force: true });
});
const fresh = (): string => path.join(root, `task-${folders++}`);

const loaded = async (ref: string): Promise<LoadedTask> => {
  const result = await loadTask(ref);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
};
const refused = async (ref: string): Promise<TaskError> => {
  const result = await loadTask(ref);
  if (result.ok) throw new Error('the task was accepted');
  return result.error;
};
const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);
const fileOf = (task: LoadedTask, name: string): string =>
  text([...task.seedFiles, ...task.verifierFiles].find((file) => file.path === name)?.bytes);

describe('what an instance becomes', () => {
  test('contract: an obligation a test, the harness report, one sandbox, the tests protected', async () => {
    const { file, id } = await sweBenchTask(fresh());
    const task = await loaded(file);
    expect(TaskInfo.parse(task.info)).toEqual(task.info);
    expect(task.info).toMatchObject({ format: 'swe-bench', path: `${file}#${id}`, id, title: `fixtures/temperature: ${id}` });
    const { contract } = task;
    expect(contract.obligations.map(({ title, kind, cap }) => [title, kind, cap])).toEqual([
      ['FAIL_TO_PASS: test_boiling (tests.test_convert.FahrenheitTest)', 'binary', 1],
      ['FAIL_TO_PASS: test_freezing (tests.test_convert.FahrenheitTest)', 'binary', 1],
      ['PASS_TO_PASS: test_freezing (tests.test_convert.KelvinTest)', 'binary', 1],
      ['PASS_TO_PASS: test_impossible (tests.test_convert.KelvinTest)', 'binary', 1],
      ['PASS_TO_PASS: test_measured (tests.test_convert.FahrenheitTest)', 'binary', 1],
    ]);
    expect(new Set(contract.obligations.map(({ key }) => key)).size).toBe(5);
    expect(contract.from[0]).toBe('FAIL_TO_PASS::test_boiling (tests.test_convert.FahrenheitTest)');
    expect(contract.verifier).toMatchObject({
      kind: 'command',
      adapter: 'swe-bench',
      isolation: 'shared',
      places: [{ at: '/testbed', from: null }],
    });
    expect(isTamperEvidentOnly(contract)).toBe(true);
    expect(contract.artifact).toMatchObject({ writable: ['**'], protectedPaths: ['**/conftest.py', 'tests/test_convert.py'] });
    // The tests of the instance stand in the seed; nothing of the history does.
    expect(task.seedFiles.map((one) => one.path)).toEqual([
      'docs/notes.txt',
      'temperature/__init__.py',
      'temperature/convert.py',
      'tests/__init__.py',
      'tests/test_convert.py',
    ]);
    expect(fileOf(task, 'tests/test_convert.py')).toContain('class FahrenheitTest');
    expect(task.verifierFiles.map((one) => one.path)).toEqual(['verifier/collect.py', 'verifier/plan.json', 'verifier/run.py']);
    expect(fileOf(task, 'verifier/run.py')).toBe(runScript);
    expect(fileOf(task, 'verifier/collect.py')).toBe(collectScript);
    expect(text(task.instruction)).toContain('gives 148, and it should give 212');
    expect(task.info.operators).toContain('token-operator');
  });

  test('the reference solution is in no tree, no verifier, no prompt and no contract', async () => {
    const solution = 'SECRET_OF_THE_SOLUTION';
    const { file } = await sweBenchTask(fresh(), { patch: `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+${solution}\n` });
    const task = await loaded(file);
    const everything = JSON.stringify([
      task.info,
      task.document,
      text(task.instruction),
      [...task.seedFiles, ...task.verifierFiles].map((one) => text(one.bytes)),
    ]);
    expect(everything).not.toContain(solution);
    expect(task.info.notes).toContainEqual(expect.objectContaining({ code: 'solution', field: 'patch' }));
    // Neither is it held to: a task without one is the same.
    const { file: without } = await sweBenchTask(fresh(), { patch: undefined });
    expect((await loaded(without)).contract.sha).toBe(task.contract.sha);
  });

  test('what is different or left out is said by name; unknown members are listed', async () => {
    const { file } = await sweBenchTask(fresh());
    const { notes } = (await loaded(file)).info;
    expect(notes.map(({ code, field }) => `${code} ${field}`)).toEqual([
      'environment version',
      'tests-visible test_patch',
      'tamper-evident null',
      'solution patch',
      'working-tree null',
      'unused hints_text',
      'unused created_at',
      'unused environment_setup_commit',
      'unused difficulty',
      'unknown-field colour',
    ]);
  });

  test('by pytest: files in the plan, and a key for ids that have other characters', async () => {
    const { file } = await sweBenchTask(
      fresh(),
      {
        PASS_TO_PASS: ['tests/test_convert.py::KelvinTest::test_freezing', 'tests/test_convert.py::test_*[a b?]', 'tests/gone.py::test_x'],
      },
      'pytest',
    );
    const task = await loaded(file);
    expect(JSON.parse(fileOf(task, 'verifier/plan.json'))).toMatchObject({
      runner: 'pytest',
      targets: ['tests/gone.py', 'tests/test_convert.py'],
    });
    expect(task.contract.obligations[0]?.key).toBe('f2p/tests/test_convert.py::FahrenheitTest::test_boiling');
    expect(task.contract.obligations[3]?.key).toMatch(/^p2p\/tests\/test_convert\.py::test__\[a_b_\]-[0-9a-f]{8}$/);
    expect(task.contract.from[3]).toBe('PASS_TO_PASS::tests/test_convert.py::test_\\*[a b\\?]');
    // A file that a listed test is in is nobody's to write, also where it is not there.
    expect(task.contract.artifact.protectedPaths).toEqual(['**/conftest.py', 'tests/gone.py', 'tests/test_convert.py']);
  });

  test('a test file that the patch adds, and one that it removes, are protected paths', async () => {
    const patch = `diff --git a/tests/new.py b/tests/new.py
new file mode 100644
--- /dev/null
+++ b/tests/new.py
@@ -0,0 +1 @@
+new = True
diff --git a/docs/notes.txt b/docs/notes.txt
deleted file mode 100644
--- a/docs/notes.txt
+++ /dev/null
@@ -1 +0,0 @@
-Kelvin has no degrees.
`;
    const { file } = await sweBenchTask(fresh(), { test_patch: patch });
    const task = await loaded(file);
    expect(task.seedFiles.map((one) => one.path)).toEqual([
      'temperature/__init__.py',
      'temperature/convert.py',
      'tests/__init__.py',
      'tests/new.py',
      'tests/test_convert.py',
    ]);
    expect(task.contract.artifact.protectedPaths).toEqual(['**/conftest.py', 'docs/notes.txt', 'tests/new.py']);
  });

  test('one of many: a line of a JSONL file, an entry of a list; the name of the file may have a #', async () => {
    const dir = fresh();
    const { id } = await sweBenchTask(dir);
    const [one, two] = await Promise.all([sweBenchInstance('unittest'), sweBenchInstance('pytest')]);
    const lines = path.join(dir, 'some#1.jsonl');
    await writeFile(lines, `${JSON.stringify(one)}\n\n${JSON.stringify(two)}\nno JSON, and nobody asks for it\n`);
    expect((await loaded(`${lines}#${id}`)).info.path).toBe(`${lines}#${id}`);
    const list = path.join(dir, 'list.json');
    await writeFile(list, JSON.stringify([one, two], null, 2));
    expect((await loaded(`${list}#${id}`)).contract.sha).toBe((await loaded(`${lines}#${id}`)).contract.sha);
    expect(await refused(list)).toMatchObject({
      message: expect.stringMatching(/list\.json holds 2 instances; write #ID .* such as #fixtures__temperature-1/),
    });
    expect(await refused(`${list}#none`)).toMatchObject({ message: expect.stringContaining('holds no instance called "none"') });
    expect(await refused(`${lines}#none`)).toMatchObject({ message: expect.stringContaining('holds no instance called "none"') });
    await writeFile(list, JSON.stringify([one, one]));
    expect(await refused(`${list}#${id}`)).toMatchObject({
      code: 'duplicate_key',
      message: expect.stringContaining('holds 2 instances called'),
    });
  });
});

describe('the checkout', () => {
  test.each<[what: string, change: (checkout: string) => Promise<unknown>]>([
    ['a detached head', (dir) => writeFile(path.join(dir, '.git/HEAD'), `${baseCommit}\n`)],
    [
      'a packed reference',
      async (dir) => {
        await unlink(path.join(dir, '.git/refs/heads/main'));
        const packed = `# pack-refs with: peeled fully-peeled sorted\n${'1'.repeat(40)} refs/heads/mainly\n${baseCommit} refs/heads/main\n^${'2'.repeat(40)}\n`;
        await writeFile(path.join(dir, '.git/packed-refs'), packed);
      },
    ],
    [
      'a reference to a reference',
      async (dir) => {
        await writeFile(path.join(dir, '.git/HEAD'), 'ref: refs/heads/other\n');
        await writeFile(path.join(dir, '.git/refs/heads/other'), 'ref: refs/heads/main\n');
      },
    ],
    [
      'history in a folder of the tree, which is left out as well',
      async (dir) => {
        await mkdir(path.join(dir, 'docs/.git'));
        await writeFile(path.join(dir, 'docs/.git/config'), 'x');
        await writeFile(path.join(dir, 'tests/.git'), 'gitdir: ../../elsewhere');
      },
    ],
  ])('%s', async (_, change) => {
    const { file, checkout } = await sweBenchTask(fresh());
    await change(checkout);
    const task = await loaded(file);
    expect(task.seedFiles.filter((one) => one.path.split('/').includes('.git'))).toEqual([]);
  });

  test('may be a link to where its owner keeps it', async () => {
    const dir = fresh();
    const { file, checkout } = await sweBenchTask(dir);
    const elsewhere = fresh();
    await cp(checkout, elsewhere, { recursive: true });
    await rm(checkout, { recursive: true });
    await symlink(elsewhere, checkout);
    expect((await loaded(file)).seedFiles).toHaveLength(5);
  });

  test('another commit is refused with the command that changes it', async () => {
    const { file, checkout } = await sweBenchTask(fresh());
    const other = 'f'.repeat(40);
    await writeFile(path.join(checkout, '.git/refs/heads/main'), `${other}\n`);
    expect(await refused(file)).toMatchObject({
      code: 'wrong_checkout',
      file: path.join(checkout, '.git/HEAD'),
      message: expect.stringContaining(
        `is at ${other}, but base_commit of ${sweBenchIds.unittest} is ${baseCommit}; run: git -C ${checkout} checkout ${baseCommit}`,
      ),
    });
  });

  const git = (name: string, bytes: string) => (dir: string) => writeFile(path.join(dir, '.git', name), bytes);
  test.each<[what: string, change: (checkout: string) => Promise<unknown>, message: RegExp]>([
    [
      'no checkout',
      (dir) => rm(dir, { recursive: true }),
      /is missing: the checkout of fixtures\/temperature at 5d0f.*git clone https:\/\/github\.com\/fixtures\/temperature /,
    ],
    ['no history', (dir) => rm(path.join(dir, '.git'), { recursive: true }), /\.git is missing, so nobody can say which commit/],
    [
      'a linked work tree',
      async (dir) => {
        await rm(path.join(dir, '.git'), { recursive: true });
        await writeFile(path.join(dir, '.git'), 'gitdir: /etc\n');
      },
      /\.git is no folder \(a linked work tree/,
    ],
    ['a head that leads out', git('HEAD', 'ref: refs/../../../etc/passwd\n'), /names a reference that is no plain path/],
    ['a head that is no reference', git('HEAD', 'hello\n'), /holds neither a commit nor the name/],
    ['a head that is huge', git('HEAD', 'x'.repeat(5_000)), /has 5000 bytes/],
    [
      'a reference that is not there',
      git('HEAD', 'ref: refs/heads/none\n'),
      /refs\/heads\/none is missing, and so is its line in \.git\/packed-refs/,
    ],
    ['a circle', git('refs/heads/main', 'ref: refs/heads/main\n'), /from reference to reference without an end/],
    ['a reftable', git('HEAD', 'ref: refs/heads/.invalid\n'), /git refs migrate/],
    [
      'a reference that is a link',
      async (dir) => {
        await unlink(path.join(dir, '.git/refs/heads/main'));
        await symlink('/etc/passwd', path.join(dir, '.git/refs/heads/main'));
      },
      /refs\/heads\/main is a symbolic link/,
    ],
    ['a link in the tree', (dir) => symlink('/etc/passwd', path.join(dir, 'docs/link')), /docs\/link is a symbolic link/],
    ['a file in place of the folder', async (dir) => rm(dir, { recursive: true }).then(() => writeFile(dir, '')), /is no folder/],
  ])('%s is refused', async (_, change, message) => {
    const { file, checkout } = await sweBenchTask(fresh());
    await change(checkout);
    const error = await refused(file);
    expect(error.message).toMatch(message);
    expect(error.file.startsWith(checkout)).toBe(true);
  });

  test('an instance cannot name another folder', async () => {
    const dir = fresh();
    const { file } = await sweBenchTask(dir, { instance_id: '../outside' });
    await sweBenchCheckout(path.join(root, 'outside'));
    expect(await refused(file)).toMatchObject({ field: 'instance_id', code: 'bad_value' });
  });
});

describe('an instance that cannot be used names file and field', () => {
  test.each<[what: string, changes: Record<string, unknown>, field: string, message: RegExp]>([
    ['no commit', { base_commit: undefined }, 'base_commit', /is missing; write the SHA of a commit/],
    ['a commit of another type', { base_commit: 7 }, 'base_commit', /is 7; it must be the SHA/],
    ['a short commit', { base_commit: 'abc123' }, 'base_commit', /it must be the SHA/],
    ['tests of another type', { FAIL_TO_PASS: 5 }, 'FAIL_TO_PASS', /is 5; it must be a list of test ids/],
    ['tests that are no list', { FAIL_TO_PASS: 'test_a' }, 'FAIL_TO_PASS', /it must be a list of test ids, or such a list as JSON/],
    ['a list in a text with something else', { PASS_TO_PASS: '["a", 1]' }, 'PASS_TO_PASS', /it must be a list of test ids/],
    ['a test that is no text', { PASS_TO_PASS: ['a', 1] }, 'PASS_TO_PASS[1]', /is 1; it must be a test id/],
    ['no test patch', { test_patch: undefined }, 'test_patch', /is missing; write a unified diff/],
    ['a test patch that is none', { test_patch: '@@ -1 +1 @@\n-a\n+b\n' }, 'test_patch', /cannot be applied to the checkout/],
    [
      'a test patch that does not fit',
      { test_patch: '--- a/docs/notes.txt\n+++ b/docs/notes.txt\n@@ -1 +1 @@\n-other\n+b\n' },
      'test_patch',
      /"docs\/notes\.txt" does not fit.*git restore/,
    ],
    [
      'a test patch that leads out',
      { test_patch: '--- /dev/null\n+++ b/../../evil.py\n@@ -0,0 +1 @@\n+x\n' },
      'test_patch',
      /cannot be in a tree: .*has the segment "\.\."/,
    ],
    [
      'a binary test patch',
      {
        test_patch:
          'diff --git a/tests/a.png b/tests/a.png\nnew file mode 100644\nindex 0000000..1111111\nGIT binary patch\nliteral 3\nKcmZQ!\n\n',
      },
      'test_patch',
      /has a binary change \("diff --git a\/tests\/a\.png b\/tests\/a\.png"\)/,
    ],
    [
      'a link in the test patch',
      { test_patch: 'diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc/passwd\n' },
      'test_patch',
      /mode "120000" is not that of a file/,
    ],
    ['no tests', { FAIL_TO_PASS: [], PASS_TO_PASS: '[]' }, 'FAIL_TO_PASS', /there is nothing to verify/],
    [
      'tests of another runner',
      { FAIL_TO_PASS: ['Converts water'] },
      'FAIL_TO_PASS',
      /"Converts water", which is neither a test of pytest/,
    ],
    [
      'a test with an endless name',
      { FAIL_TO_PASS: [`tests/a.py::t[${'x'.repeat(2_000)}]`], PASS_TO_PASS: [] },
      'FAIL_TO_PASS',
      /name is too long/,
    ],
    ['a statement of another type', { problem_statement: ['x'] }, 'problem_statement', /it must be a text/],
    ['a repo that is none', { repo: '' }, 'repo', /it must be a text such as "owner\/name"/],
  ])('%s', async (_, changes, field, message) => {
    const { file } = await sweBenchTask(fresh(), changes);
    const error = await refused(file);
    expect(error).toMatchObject({ field, message: expect.stringMatching(message) });
    expect(error.file).toContain('instance.json');
  });

  test.each<[what: string, bytes: string, message: RegExp]>([
    ['no JSON', '{"instance_id": ', /is no JSON: it is not one JSON document/],
    ['nothing', '', /is no JSON: it is empty/],
    ['not UTF-8', '\xff\xfe', /is no JSON: it is not UTF-8/],
    ['a key twice', '{"instance_id": "a", "instance_id": "b"}', /the key "instance_id" stands twice/],
    ['an empty list', '[]', /holds no instance/],
    ['a number', '7', /must be a JSON object/],
    ['a broken line', '{"a": 1}\n{"b": \n', /is no JSONL: line 2/],
  ])('a file with %s', async (_, bytes, message) => {
    const dir = fresh();
    await mkdir(dir);
    const file = path.join(dir, 'broken.json');
    await writeFile(file, Buffer.from(bytes, 'latin1'));
    const error = await refused(file);
    expect(error.message).toMatch(message);
    expect(error.file).toBe(file);
  });

  test('Django, whose tests look like those of unittest and need its own runner', async () => {
    const { file, checkout } = await sweBenchTask(fresh());
    await writeFile(path.join(checkout, 'tests/runtests.py'), '');
    expect(await refused(file)).toMatchObject({
      code: 'not_carried',
      message: expect.stringContaining("Django's tests need its own runner"),
    });
  });
});

describe('a run is held to all of it', () => {
  const changed = async (change: (place: { file: string; checkout: string; id: string }) => Promise<unknown>) => {
    const place = await sweBenchTask(fresh());
    const task = await loaded(place.file);
    await change(place);
    const result = await verifyTaskUnchanged(task, task.info.path);
    return result.ok ? 'unchanged' : result.error;
  };
  const rewrite =
    (changes: Record<string, unknown>) =>
    async ({ file }: { file: string }) =>
      writeFile(file, JSON.stringify({ ...(await sweBenchInstance('unittest')), ...changes }));

  test('nothing, the solution, hints and the history may change', async () => {
    expect(await changed(async () => {})).toBe('unchanged');
    expect(await changed(rewrite({ patch: 'another', hints_text: 'another' }))).toBe('unchanged');
    expect(await changed(({ checkout }) => writeFile(path.join(checkout, '.git/index'), 'x'))).toBe('unchanged');
  });

  test.each<[what: string, change: (place: { file: string; checkout: string; id: string }) => Promise<unknown>, message: RegExp]>([
    [
      'a file of the checkout',
      ({ checkout }) => writeFile(path.join(checkout, 'temperature/convert.py'), 'x'),
      /temperature\/convert\.py has changed/,
    ],
    ['a new file', ({ checkout }) => writeFile(path.join(checkout, 'new.py'), 'x'), /new\.py is new/],
    ['the statement', rewrite({ problem_statement: 'another' }), /the instruction has changed/],
    ['the tests', rewrite({ PASS_TO_PASS: [] }), /verifier\/plan\.json has changed/],
    ['the head', ({ checkout }) => writeFile(path.join(checkout, '.git/HEAD'), 'f'.repeat(40)), /is at f+, but base_commit/],
    ['the file is gone', ({ file }) => rm(file), /is not there/],
  ])('%s', async (_, change, message) => {
    expect(await changed(change)).toMatch(message);
  });
});

describe('lists of tests', () => {
  test('FAIL_TO_PASS goes first and wins; every id once', () => {
    expect(listTests({ FAIL_TO_PASS: ['b', 'a', 'b'], PASS_TO_PASS: ['a', 'c'] })).toEqual({
      tests: [
        { group: 'FAIL_TO_PASS', id: 'b' },
        { group: 'FAIL_TO_PASS', id: 'a' },
        { group: 'PASS_TO_PASS', id: 'c' },
      ],
      twice: 2,
    });
  });

  test('names alone are looked for in the files of the patch; without one they are of no runner', () => {
    const tests = [{ group: 'FAIL_TO_PASS', id: 'test_issue_1' }] as const;
    expect(planOf(tests, ['sympy/tests/test_a.py'])).toEqual({ runner: 'pytest', files: ['sympy/tests/test_a.py'] });
    expect(planOf(tests, [])).toEqual({ unknown: 'test_issue_1' });
  });

  test('both forms of unittest lead to one name', () => {
    const both = ['test_a (m.n.C)', 'test_a (m.n.C.test_a)'].map((id) => ({ group: 'PASS_TO_PASS', id }) as const);
    expect(planOf(both, [])).toEqual({
      runner: 'unittest',
      names: { 'test_a (m.n.C)': 'm.n.C.test_a', 'test_a (m.n.C.test_a)': 'm.n.C.test_a' },
    });
  });

  test('up to the limit one obligation a test; above it a count for each file, and still one for each goal', () => {
    const many = Array.from({ length: maxSingleTests }, (_, i) => `tests/test_${i % 3}.py::test_${i}`);
    const at = listTests({ FAIL_TO_PASS: [], PASS_TO_PASS: many });
    expect(obligationsOf(at.tests)).toMatchObject({ counted: false, entries: { length: maxSingleTests } });
    const above = listTests({ FAIL_TO_PASS: ['tests/test_0.py::goal'], PASS_TO_PASS: many });
    const { entries, counted } = obligationsOf(above.tests);
    expect(counted).toBe(true);
    expect(entries.map(({ key, kind, cap, from }) => [key, kind, cap, from])).toEqual([
      ['f2p/tests/test_0.py::goal', 'binary', 1, 'FAIL_TO_PASS::tests/test_0.py::goal'],
      ['p2p/tests/test_0.py', 'count', 1_667, 'PASS_TO_PASS::[min=1667] tests/test_0.py::*'],
      ['p2p/tests/test_1.py', 'count', 1_667, 'PASS_TO_PASS::[min=1667] tests/test_1.py::*'],
      ['p2p/tests/test_2.py', 'count', 1_666, 'PASS_TO_PASS::[min=1666] tests/test_2.py::*'],
    ]);
    const classes = Array.from(
      { length: maxSingleTests + 1 },
      (_, i) => ({ group: 'PASS_TO_PASS', id: `test_${i} (m.C${i % 2}.test_${i})` }) as const,
    );
    expect(obligationsOf(classes).entries.map(({ from }) => from)).toEqual([
      'PASS_TO_PASS::[min=2501] * (m.C0.*)',
      'PASS_TO_PASS::[min=2500] * (m.C1.*)',
    ]);
  });

  test('a task above the limit is loaded, and says so', async () => {
    const many = Array.from({ length: maxSingleTests + 1 }, (_, i) => `tests/test_${i % 2}.py::test_${i}`);
    const { file } = await sweBenchTask(fresh(), { FAIL_TO_PASS: [], PASS_TO_PASS: many }, 'pytest');
    const { contract, info } = await loaded(file);
    expect(contract.obligations.map(({ cap }) => cap)).toEqual([2_501, 2_500]);
    expect(info.notes).toContainEqual(expect.objectContaining({ code: 'counted' }));
  });
});

test('a task in a folder whose instance is read as text: nothing of it is looked for by another name', async () => {
  const dir = fresh();
  const { file } = await sweBenchTask(dir);
  expect(await readFile(file, 'utf8')).toContain('"patch"');
  expect(await refused(dir)).toMatchObject({ file: 'task.toml', code: 'missing_file' });
});
