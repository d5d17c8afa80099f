// From an instance of SWE-bench and a local checkout to a task. See README.md beside this file for what becomes of what.
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { TaskNote } from '#shared/contract/task.ts';
import { checkPath } from '#shared/domain/tree-id.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { err, ok, type Result } from '#shared/lib/result.ts';
import { compareUtf8 } from '#shared/lib/text.ts';
import { applyDiff } from '#electron/proposers/materialise/unified-diff.ts';
import { ApplyFailed, TreeEdit } from '#electron/proposers/materialise/tree-edit.ts';
import { searchOperators } from '#electron/proposers/search.ts';
import { folderLimits, readFolder } from '../read-folder.ts';
import { show, type TaskProblem, type TaskSource } from '../task-source.ts';
import { readHead } from './head.ts';
import { readInstance, type SweBenchInstance } from './instance.ts';
import { collectScript, runScript, workFolder } from './runner-script.ts';
import { fileOf, listTests, maxSingleTests, obligationsOf, planOf, type ListedTest, type TestPlan } from './tests.ts';

/** The harness's own limit for one run of the tests. */
const runSeconds = 1_800;

/** What is left of it for grading once the tests were ended. */
const gradeSeconds = 60;

const encoder = new TextEncoder();

const verifierFile = (name: string, text: string): TreeFile => ({ path: `verifier/${name}`, mode: 'file', bytes: encoder.encode(text) });

/** Reads instance `id` (null: the only one) of `file` (absolute, real), and the checkout in the folder of its name beside the file. */
export async function readSweBench(file: string, id: string | null): Promise<Result<TaskSource, readonly TaskProblem[]>> {
  const read = await readInstance(file, id);
  if (!read.ok) return read;
  const found = read.value;
  const { instance, ref } = found;
  const about = (field: string, code: TaskProblem['code'], message: string) => err([{ file: ref, field, code, message }]);

  const checkout = await readCheckout(found);
  if (!checkout.ok) return checkout;
  const patched = applyTests(checkout.value.files, instance.test_patch);
  if (!patched.ok) return about('test_patch', 'bad_value', patched.error);
  const { files, touched } = patched.value;

  const { tests, twice } = listTests({ FAIL_TO_PASS: instance.FAIL_TO_PASS, PASS_TO_PASS: instance.PASS_TO_PASS });
  if (tests.length === 0) return about('FAIL_TO_PASS', 'bad_value', 'is empty, and so is PASS_TO_PASS; there is nothing to verify');
  const plan = planOf(
    tests,
    touched.filter((name) => name.endsWith('.py')).filter((name) => files.some((one) => one.path === name)),
  );
  if ('unknown' in plan)
    return about(
      'FAIL_TO_PASS',
      'not_carried',
      `or PASS_TO_PASS has ${show(plan.unknown)}, which is neither a test of pytest ("tests/test_a.py::test_b") nor of unittest ("test_b (tests.test_a.TestA)"); this version runs no others`,
    );
  if (plan.runner === 'unittest' && files.some((one) => one.path === djangoRunner))
    return about(
      'FAIL_TO_PASS',
      'not_carried',
      `has tests of unittest, and the repository has ${djangoRunner}: Django's tests need its own runner, which this version does not start`,
    );
  const { entries, counted } = obligationsOf(tests);
  const long = entries.find(({ from }) => from.length > 1_000);
  if (long !== undefined)
    return about('FAIL_TO_PASS', 'bad_value', `or PASS_TO_PASS has a test whose name is too long: ${long.title.slice(0, 100)}…`);

  const seconds = runSeconds - gradeSeconds;
  return ok({
    format: 'swe-bench',
    path: ref,
    document: {
      version: 1,
      id: instance.instance_id,
      title: `${instance.repo}: ${instance.instance_id}`.slice(0, 500),
      artifact: {
        writable: ['**'],
        protected: protectedPaths(touched, tests),
        allow_empty: false,
        max_files: folderLimits.files,
        max_bytes: folderLimits.bytes,
      },
      verifier: {
        command: ['python3', 'verifier/run.py'],
        runs_candidate: true,
        isolation: 'shared',
        adapter: 'swe-bench',
        places: { [workFolder]: 'scratch' },
        timeouts_ms: { run: runSeconds * 1_000 },
      },
      limits: { memory_mb: 4_096, cpu_s: runSeconds, processes: 256, file_mb: 256, output_kb: 1_024 },
      obligation: entries,
      search: { operators: searchOperators.map(({ name }) => name).filter((name) => !name.startsWith('json-')) },
    },
    documentFile: `${ref} (as task.toml)`,
    documentSha: null,
    instruction: encoder.encode(instructionOf(found)),
    artifact: files,
    verifier: [
      verifierFile('collect.py', collectScript),
      verifierFile('plan.json', `${JSON.stringify(planFile(found, plan, tests, seconds), null, 1)}\n`),
      verifierFile('run.py', runScript),
    ],
    folder: null,
    notes: notesOf(found, checkout.value.folder, { twice, counted, patched: touched.length }),
    problems: [],
  });
}

const djangoRunner = 'tests/runtests.py';

type Checkout = { readonly folder: string; readonly files: readonly TreeFile[] };

const quoted = (text: string): string => (/^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** The files of the checkout, without .git, when it stands at the instance's commit. */
async function readCheckout({ file, instance }: SweBenchInstance): Promise<Result<Checkout, readonly TaskProblem[]>> {
  const { instance_id: id, repo, base_commit: commit } = instance;
  const wanted = path.join(path.dirname(file), id);
  const wrong = (at: string, code: TaskProblem['code'], message: string) => err([{ file: at, field: null, code, message }]);
  const url = /^[\w.-]+\/[\w.-]+$/.test(repo) ? `https://github.com/${repo}` : 'URL';
  const clone = `git clone ${url} ${quoted(wanted)} && git -C ${quoted(wanted)} checkout ${commit}`;
  let folder: string;
  try {
    // The folder itself may be a link: the checkout is where its owner keeps it.
    folder = await realpath(wanted);
    if (!(await stat(folder)).isDirectory())
      return wrong(wanted, 'special_file', 'is no folder; the checkout of the instance belongs there');
  } catch {
    return wrong(wanted, 'missing_file', `is missing: the checkout of ${repo} at ${commit} belongs there; this would make it: ${clone}`);
  }
  const head = await readHead(folder);
  if (!head.ok)
    return wrong(
      path.join(folder, head.error.file),
      'wrong_checkout',
      `${head.error.message}; a checkout that can be used is made by: ${clone}`,
    );
  if (head.value !== commit)
    return wrong(
      path.join(folder, '.git/HEAD'),
      'wrong_checkout',
      `is at ${head.value}, but base_commit of ${id} is ${commit}; run: git -C ${quoted(folder)} checkout ${commit}`,
    );
  const name = path.basename(folder);
  const { files, problems } = await readFolder(path.dirname(folder), name, '.git');
  if (problems.length > 0)
    return err(problems.map(({ file: at, code, message }) => ({ file: path.join(path.dirname(folder), at), field: null, code, message })));
  return ok({ folder, files: files.map((one) => ({ ...one, path: one.path.slice(name.length + 1) })) });
}

type Patched = { readonly files: readonly TreeFile[]; readonly touched: readonly string[] };

/** The checkout with the tests of the instance, and the paths that the test patch adds, changes or removes. */
function applyTests(files: readonly TreeFile[], diff: string): Result<Patched, string> {
  // The parser of diffs knows no patches of this kind and would leave an empty file.
  let header = '';
  for (const line of diff.split('\n')) {
    if (line.startsWith('diff --git ')) header = line;
    else if (line.trimEnd() === 'GIT binary patch') return err(`has a binary change (${show(header)}), which cannot be applied`);
  }
  const tree = new TreeEdit(files);
  try {
    applyDiff(diff, tree);
  } catch (error) {
    if (error instanceof ApplyFailed)
      return err(
        `cannot be applied to the checkout: ${error.message}; the working tree has to be as its commit has it (git status, git restore)`,
      );
    throw error;
  }
  const before = new Map(files.map((file) => [file.path, file]));
  const after = new Map(tree.files().map((file) => [file.path, file]));
  const touched = [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => before.get(name) !== after.get(name))
    .sort(compareUtf8);
  // Names in a patch are a stranger's: one that leads out of the tree is no path at all.
  const bad = touched.map((name) => checkPath(name)).find((checked) => !checked.ok);
  if (bad?.ok === false) return err(`names a file that cannot be in a tree: ${bad.error}`);
  return ok({ files: tree.files(), touched });
}

/** A glob of exactly this path, or of paths that differ in the place of a character that globs give a meaning to. */
const asGlob = (name: string): string => name.replace(/[*?[\]{}()!+@|\\^$]/g, '?');

/** What a candidate must not touch: the files of the test patch, those of the listed tests, and what configures pytest beside them. */
function protectedPaths(touched: readonly string[], tests: readonly ListedTest[]): string[] {
  const files = tests.flatMap(({ id }) => fileOf(id) ?? []).filter((name) => checkPath(name).ok);
  return [...new Set([...touched, ...files].map(asGlob)), '**/conftest.py']
    .filter((glob, i, all) => all.indexOf(glob) === i)
    .sort(compareUtf8);
}

/** What run.py and collect.py are told. The reference solution is no part of it. */
function planFile({ instance }: SweBenchInstance, plan: TestPlan, tests: readonly ListedTest[], seconds: number) {
  const of = (wanted: ListedTest['group']) => tests.flatMap(({ group, id }) => (group === wanted ? id : []));
  return {
    instance_id: instance.instance_id,
    runner: plan.runner,
    targets: plan.runner === 'pytest' ? plan.files : plan.names,
    seconds,
    FAIL_TO_PASS: of('FAIL_TO_PASS'),
    PASS_TO_PASS: of('PASS_TO_PASS'),
  };
}

function instructionOf({ instance }: SweBenchInstance): string {
  const statement = instance.problem_statement ?? '';
  const head = `The files are those of ${instance.repo} at commit ${instance.base_commit}.`;
  return statement.trim() === ''
    ? `${head} Change them so that every test passes that an obligation names.\n`
    : `${head} Change them so that the issue below is resolved.\n\n${statement.trimEnd()}\n`;
}

function notesOf(
  { file, ref, instance, hasPatch, unknown, unused }: SweBenchInstance,
  checkout: string,
  { twice, counted, patched }: { readonly twice: number; readonly counted: boolean; readonly patched: number },
): TaskNote[] {
  const note = (code: string, field: string | null, message: string, where = ref): TaskNote => ({ code, file: where, field, message });
  return [
    note(
      'environment',
      unused.includes('version') ? 'version' : null,
      "the Docker image that the benchmark builds, with the packages of this version, is not there: tests run with the system's python3 (and its pytest), without network. Obligations of PASS_TO_PASS that are open at the seed show what it lacks",
    ),
    note(
      'tests-visible',
      'test_patch',
      `is applied to the artifact and its ${patched} files are protected: whoever proposes can read them, which an agent of the benchmark cannot, so results are not those of its leaderboard`,
    ),
    note('tamper-evident', null, 'tests run in one process with the code that they test, so verdicts are tamper-evident only'),
    ...(hasPatch ? [note('solution', 'patch', 'is the reference solution; it is in no tree, no verifier and no prompt')] : []),
    note(
      'working-tree',
      null,
      `is taken as it is, untracked files included and .git left out; only HEAD was compared. git -C ${quoted(checkout)} status --short --ignored shows what is not of the commit`,
      checkout,
    ),
    ...(counted
      ? [note('counted', 'PASS_TO_PASS', `or FAIL_TO_PASS is one count for each file, because there are more than ${maxSingleTests} tests`)]
      : []),
    ...(twice > 0
      ? [note('duplicate-tests', 'FAIL_TO_PASS', `and PASS_TO_PASS name ${twice} tests a second time, which are left out`)]
      : []),
    ...(instance.problem_statement === undefined
      ? [note('no-statement', 'problem_statement', 'is missing; the instruction asks for the tests to pass')]
      : []),
    ...unused
      .filter((name) => name !== 'version')
      .map((name) =>
        note('unused', name, name === 'hints_text' ? 'is not shown to whoever proposes, as in the benchmark' : 'has no use here'),
      ),
    ...unknown.map((name) => note('unknown-field', name.slice(0, 100), `is not known to this reader and was left out`)),
  ].map((one) => (one.file === ref ? { ...one, file: path.basename(file) } : one));
}
