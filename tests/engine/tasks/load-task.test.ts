import { cp, mkdtemp, readFile, rm, symlink, writeFile, chmod, mkdir, utimes, stat } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadTask, verifyTaskUnchanged, type LoadedTask, type TaskError } from '#electron/core/tasks/load-task.ts';
import { TaskInfo } from '#shared/contract/task.ts';

const fixtures = fileURLToPath(new URL('../../fixtures/tasks/', import.meta.url));
let root = '';
let copies = 0;
beforeAll(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'pawl-tasks-'));
});
afterAll(async () => {
  await rm(root, { recursive: true, force: true });
});

const copyOf = async (name: string): Promise<string> => {
  const dir = path.join(root, `task-${copies++}`);
  await cp(path.join(fixtures, name), dir, { recursive: true });
  return dir;
};

/** A copy of a good task with one thing changed in its task.toml; the text to change must be there. */
const variant = async (name: string, from: string, to: string): Promise<string> => {
  const dir = await copyOf(name);
  const file = path.join(dir, 'task.toml');
  const text = await readFile(file, 'utf8');
  if (!text.includes(from)) throw new Error(`the fixture ${name} has no ${JSON.stringify(from)}`);
  await writeFile(file, text.replace(from, to));
  return dir;
};

const refused = async (dir: string): Promise<TaskError> => {
  const result = await loadTask(dir);
  if (result.ok) throw new Error('the task was accepted');
  return result.error;
};
const loaded = async (dir: string): Promise<LoadedTask> => {
  const result = await loadTask(dir);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
};

describe('a good task', () => {
  test('pure-js: facts, contract with defaults, seed and verifier files', async () => {
    const task = await loaded(path.join(fixtures, 'counting'));
    expect(TaskInfo.parse(task.info)).toEqual(task.info);
    expect(task.info).toMatchObject({
      id: 'counting',
      title: 'Make every number zero',
      seedFiles: 2,
      operators: ['json-swap', 'json-replace'],
    });
    expect(task.seedFiles.map(({ path }) => path)).toEqual(['locked.json', 'numbers.json']);
    expect(task.verifierFiles.map(({ path }) => path)).toEqual(['verifier/check.js', 'verifier/numbers.schema.json']);
    expect(task.contract.obligations).toEqual([
      {
        key: 'sum',
        title: 'Sum of the numbers',
        cap: 1000,
        kind: 'count',
        visibility: 'full',
        onCandidateTimeout: 'cap',
        missing: 'malformed',
        aggregate: 'worst',
      },
      {
        key: 'odd',
        title: 'Some number is odd',
        cap: 1,
        kind: 'binary',
        visibility: 'full',
        onCandidateTimeout: 'cap',
        missing: 'malformed',
        aggregate: 'worst',
      },
    ]);
    expect(task.contract.artifact.schema).toMatchObject({ path: 'verifier/numbers.schema.json', target: 'numbers.json' });
    expect(task.contract.measurement).toEqual({ preflightRuns: 5, confirmRuns: 3, paired: true, infraRetries: 2 });
    expect(task.budget).toMatchObject({ attempts: 40, rounds: null });
  });

  test('command: an executable of the task, and the exec bit in its manifest', async () => {
    const dir = await variant('counting-sh', '["sh", "verifier/check.sh"]', '["verifier/check.sh"]');
    await chmod(path.join(dir, 'verifier/check.sh'), 0o755);
    expect((await loaded(dir)).contract.verifier.files).toMatchObject([{ path: 'verifier/check.sh', mode: 'exec' }]);
  });

  test('measurement: the base is paired unless said otherwise when a commit is confirmed, and every field is in the hash', async () => {
    const measured = async (fields: string) =>
      (await loaded(await variant('counting', '[budget]', `[measurement]\n${fields}\n[budget]`))).contract;
    const plain = await measured('confirm_runs = 1');
    expect(plain.measurement).toEqual({ preflightRuns: 5, confirmRuns: 1, paired: false, infraRetries: 2 });
    expect((await measured('confirm_runs = 2')).measurement).toMatchObject({ confirmRuns: 2, paired: true });
    expect((await measured('confirm_runs = 2\npaired = false')).measurement).toMatchObject({ confirmRuns: 2, paired: false });
    expect((await measured('confirm_runs = 1\npaired = true')).sha).not.toBe(plain.sha);
    expect((await measured('confirm_runs = 1\npreflight_runs = 1\ninfra_retries = 0')).measurement).toEqual({
      preflightRuns: 1,
      confirmRuns: 1,
      paired: false,
      infraRetries: 0,
    });
  });

  test('budget and search are not in the hash of the contract, everything else is', async () => {
    const { contract } = await loaded(path.join(fixtures, 'counting'));
    const shaOf = async (from: string, to: string) => (await loaded(await variant('counting', from, to))).contract.sha;
    expect(await shaOf('attempts = 40', 'attempts = 41')).toBe(contract.sha);
    expect(await shaOf('"json-swap", ', '')).toBe(contract.sha);
    expect(await shaOf('run = 20000', 'run = 20001')).not.toBe(contract.sha);
    expect(await shaOf('cap = 1000', 'cap = 1001')).not.toBe(contract.sha);
    expect(await shaOf('version = 1', 'version = 2')).not.toBe(contract.sha);
  });
});

describe('automatic commands that may be registered', () => {
  const allowing = (command: string, more = '') =>
    variant('counting', '[budget]', `[[auto_allow]]\ncommand = ${command}\n${more}\n[budget]`);

  test('are part of the contract; without any it has no such field', async () => {
    const plain = (await loaded(path.join(fixtures, 'counting'))).contract;
    expect(Object.keys(plain)).not.toContain('autoAllow');
    const { contract } = await loaded(await allowing('["python3", "-m", "pytest", "**"]'));
    expect(contract.autoAllow).toEqual([{ command: ['python3', '-m', 'pytest', '**'], timeoutMs: 30_000 }]);
    expect(contract.sha).not.toBe(plain.sha);
    expect((await loaded(await allowing('["lint", "*.py"]', 'timeout_ms = 7'))).contract.autoAllow).toEqual([
      { command: ['lint', '*.py'], timeoutMs: 7 },
    ]);
  });

  test.each<[what: string, command: string, field: string, message: RegExp]>([
    ['no program', '[]', 'auto_allow[0].command', /list of a program/],
    ['an empty program', '[""]', 'auto_allow[0].command[0]', /is empty/],
    ['any program', '["*", "x"]', 'auto_allow[0].command[0]', /write the program as it is/],
    ['a program with an escape', '["a\\\\*"]', 'auto_allow[0].command[0]', /write the program as it is/],
    ['a half escape', '["lint", "a\\\\"]', 'auto_allow[0].command[1]', /single/],
    ['any more in the middle', '["lint", "**", "x"]', 'auto_allow[0].command[1]', /write it last/],
    ['a file of the verifier', '["lint", "verifier/x"]', 'auto_allow[0].command[1]', /only artifact\/ is/],
  ])('%s is refused', async (_, command, field, message) => {
    expect(await refused(await allowing(command))).toMatchObject({ field, message: expect.stringMatching(message) });
  });
});

describe('a cross-check', () => {
  const declared = async (lines: string) => variant('counting', '[budget]', `[crosscheck]\n${lines}\n[budget]`);
  const pure = 'tests = ["tests/*.js"]\nruntime = "pure-js"\nfile = "verifier/check.js"';
  const command = 'tests = ["tests/*.js"]\ncommand = ["sh", "verifier/check.js", "verifier/crosscheck.json"]';

  test('is part of the contract, with its defaults; without one the contract has no such field', async () => {
    const plain = (await loaded(path.join(fixtures, 'counting'))).contract;
    expect(Object.keys(plain)).not.toContain('crosscheck');
    const { contract } = await loaded(await declared(pure));
    const defaults = { tests: ['tests/*.js'], timeoutMs: 60_000 };
    expect(contract.crosscheck).toEqual({
      ...defaults,
      kind: 'pure-js',
      command: [],
      file: 'verifier/check.js',
      isolation: 'separate',
    });
    expect(contract.sha).not.toBe(plain.sha);
    expect((await loaded(await declared(`${pure}\ntimeout_ms = 5`))).contract.sha).not.toBe(contract.sha);
    expect((await loaded(await declared(command))).contract.crosscheck).toEqual({
      ...defaults,
      kind: 'command',
      command: ['sh', 'verifier/check.js', 'verifier/crosscheck.json'],
      file: null,
      isolation: 'shared',
    });
    expect((await loaded(await declared(`${command}\nisolation = "separate"`))).contract.crosscheck?.isolation).toBe('separate');
  });

  test.each<[what: string, lines: string, field: string, message: RegExp]>([
    ['no tests', 'runtime = "pure-js"\nfile = "verifier/check.js"', 'crosscheck.tests', /is missing; write a list of paths or globs/],
    ['tests outside', pure.replace('tests/*.js', '../x'), 'crosscheck.tests[0]', /inside artifact\//],
    ['nothing that runs them', 'tests = ["a"]', 'crosscheck', /either command, or runtime/],
    ['both', `${pure}\ncommand = ["sh"]`, 'crosscheck', /either command, or runtime/],
    ['no file', pure.replace(/file.*/, ''), 'crosscheck.file', /is missing; write the path/],
    ['a file that is not there', pure.replace('check.js', 'none.js'), 'crosscheck.file', /is not a file below verifier/],
    ['a file beside a command', `${command}\nfile = "verifier/check.js"`, 'crosscheck.file', /belongs to runtime/],
    ['pure-js in one sandbox', `${pure}\nisolation = "shared"`, 'crosscheck.isolation', /there is "separate" only/],
    ['an argument that is not there', command.replace('verifier/check.js', 'verifier/none.sh'), 'crosscheck.command[1]', /is not there/],
    ['an unknown field', `${pure}\nruns = 3`, 'crosscheck.runs', /is unknown; known here are tests, command/],
  ])('%s', async (_, lines, field, message) => {
    const error = await refused(await declared(lines));
    expect(error).toMatchObject({ file: 'task.toml', field, message: expect.stringMatching(message) });
  });

  test('the name of its list of tests is taken', async () => {
    const dir = await declared(pure);
    await writeFile(path.join(dir, 'verifier/crosscheck.json'), '{}');
    expect(await refused(dir)).toMatchObject({ field: 'crosscheck', message: expect.stringContaining('give the task') });
  });
});

describe('fixed places', () => {
  const command = 'command = ["sh", "verifier/check.sh"]\n';
  const placed = async (lines: string, verifier = 'runs_candidate = true') => {
    const dir = await variant('counting-sh', command, `${command}${verifier}\n[verifier.places]\n${lines}\n`);
    await mkdir(path.join(dir, 'verifier/tests'));
    await writeFile(path.join(dir, 'verifier/tests/one.sh'), 'true\n');
    return dir;
  };

  test('stand sorted in the contract, which has no such field without them', async () => {
    const { contract } = await loaded(await placed('"/tests" = "verifier/tests"\n"/app" = "scratch"'));
    expect(contract.verifier.places).toEqual([
      { at: '/app', from: null },
      { at: '/tests', from: 'verifier/tests' },
    ]);
    expect((await loaded(await placed('"/app" = "scratch"'))).contract.sha).not.toBe(contract.sha);
    const plain = (await loaded(path.join(fixtures, 'counting-sh'))).contract;
    expect(Object.keys(plain.verifier)).not.toContain('places');
  });

  test.each<[what: string, lines: string, field: string, message: RegExp]>([
    ['relative', '"app" = "scratch"', 'verifier.places."app"', /is no absolute path/],
    ['with ..', '"/app/../etc" = "scratch"', 'verifier.places."/app/../etc"', /is no absolute path/],
    ['of the system', '"/usr/lib/x" = "scratch"', 'verifier.places."/usr/lib/x"', /is at or below \/usr, which every sandbox has/],
    ['of the verification', '"/task/artifact" = "scratch"', 'verifier.places."/task/artifact"', /is at or below \/task/],
    ['no such folder', '"/tests" = "verifier/none"', 'verifier.places."/tests"', /write "scratch".*or the path of a folder/],
    ['a folder outside', '"/tests" = "artifact"', 'verifier.places."/tests"', /a folder below verifier/],
    ['one in the other', '"/app" = "scratch"\n"/app/tests" = "verifier/tests"', 'verifier.places', /has \/app\/tests in \/app/],
    ['another type', '"/app" = 5', 'verifier.places./app', /a text/],
  ])('%s is refused', async (_, lines, field, message) => {
    expect(await refused(await placed(lines))).toMatchObject({ field, message: expect.stringMatching(message) });
  });

  test.each(['runs_candidate = false', 'runs_candidate = true\nisolation = "separate"'])('refused with %j', async (verifier) => {
    expect(await refused(await placed('"/app" = "scratch"', verifier))).toMatchObject({ field: 'verifier.places' });
  });
});

describe('a bad task.toml is refused with file, field and message', () => {
  const cases: [what: string, from: string, to: string, field: string, message: RegExp][] = [
    ['unknown section', '[budget]', '[bugdet]', 'bugdet', /is unknown; known here are version, id/],
    ['unknown field', 'writable =', 'colour = 1\nwritable =', 'artifact.colour', /is unknown; known here are writable, protected/],
    ['unknown nested field', 'run = 20000', 'runs = 1', 'verifier.timeouts_ms.runs', /known here are setup, transfer, run, parse/],
    [
      'unknown field of an obligation',
      'kind = "binary"',
      'kind = "binary"\ncapp = 1',
      'obligation[1].capp',
      /is unknown; known here are key/,
    ],
    ['missing version', 'version = 1\n', '', 'version', /is missing; write an integer from 1/],
    ['id with a space', 'id = "counting"', 'id = "c ounting"', 'id', /must be a name of letters/],
    ['title of another type', 'title = "Make every number zero"', 'title = 5', 'title', /is 5; it must be a text/],
    ['duplicate key', 'key = "odd"', 'key = "sum"', 'obligation[1].key', /"sum", which obligation\[0\] has already/],
    [
      'advisory with the key of an obligation',
      '[budget]',
      '[[advisory]]\nkey = "sum"\nbetter = "lower"\n[budget]',
      'advisory[0].key',
      /has already/,
    ],
    ['key with odd characters', 'key = "odd"', 'key = "o d"', 'obligation[1].key', /must be a key of letters/],
    ['cap 0', 'cap = 1000', 'cap = 0', 'obligation[0].cap', /is 0; it must be an integer from 1 to 2147483647/],
    ['negative cap', 'cap = 1000', 'cap = -3', 'obligation[0].cap', /is -3/],
    ['fractional cap', 'cap = 1000', 'cap = 1.5', 'obligation[0].cap', /is 1.5/],
    ['infinite cap', 'cap = 1000', 'cap = inf', 'obligation[0].cap', /is Infinity/],
    ['cap beyond 2^31 - 1', 'cap = 1000', 'cap = 2147483648', 'obligation[0].cap', /is 2147483648/],
    ['no cap', 'cap = 1000', '', 'obligation[0].cap', /is missing; write the worst value/],
    ['binary with another cap', 'kind = "binary"', 'kind = "binary"\ncap = 2', 'obligation[1].cap', /is 2; a binary obligation/],
    ['unknown kind', 'kind = "binary"', 'kind = "float"', 'obligation[1].kind', /one of "binary", "count", "ordinal"/],
    ['absolute writable path', '["*.json"]', '["/etc/*"]', 'artifact.writable[0]', /inside artifact\//],
    ['writable path with ..', '["*.json"]', '["a/../../b"]', 'artifact.writable[0]', /inside artifact\//],
    ['writable path with a backslash', '["*.json"]', '["a\\\\b"]', 'artifact.writable[0]', /inside artifact\//],
    ['writable path with a drive', '["*.json"]', '["C:/a"]', 'artifact.writable[0]', /inside artifact\//],
    ['negated glob', '["*.json"]', '["!a"]', 'artifact.writable[0]', /inside artifact\//],
    ['nothing writable', '["*.json"]', '[]', 'artifact.writable', /at least one path or glob/],
    ['protected path outside', '["locked.json"]', '["../locked.json"]', 'artifact.protected[0]', /inside artifact\//],
    ['max_files 0', 'writable =', 'max_files = 0\nwritable =', 'artifact.max_files', /is 0/],
    ['more files than max_files', 'writable =', 'max_files = 1\nwritable =', 'artifact.max_files', /artifact\/ has 2 files; raise it/],
    [
      'unknown operator',
      '"json-swap"',
      '"json-eat"',
      'search.operators[0]',
      /unknown operator "json-eat"; known are json-swap, json-move, json-replace/,
    ],
    ['operator twice', '"json-replace"', '"json-swap"', 'search.operators[1]', /a second time/],
    ['missing schema', 'numbers.schema.json"', 'none.json"', 'artifact.schema', /that file is missing/],
    ['schema outside the task', '"verifier/numbers.schema.json"', '"../x.json"', 'artifact.schema', /write a path inside the task folder/],
    [
      'schema that is none',
      '"verifier/numbers.schema.json"',
      '"verifier/check.js"',
      'artifact.schema',
      /not a valid JSON Schema: it is not one JSON document/,
    ],
    [
      'schema for a file that is not writable',
      'schema =',
      'schema_target = "locked.json"\nschema =',
      'artifact.schema_target',
      /not a writable file/,
    ],
    ['command and runtime', 'runtime = "pure-js"', 'runtime = "pure-js"\ncommand = ["true"]', 'verifier', /has both command and runtime/],
    ['neither', 'runtime = "pure-js"\nfile = "verifier/check.js"', '', 'verifier', /says nothing to run/],
    ['another runtime', '"pure-js"', '"lua"', 'verifier.runtime', /the only runtime is "pure-js"/],
    ['runtime without file', 'file = "verifier/check.js"', '', 'verifier.file', /is missing; write the path/],
    ['a verifier program that is not there', '"verifier/check.js"', '"verifier/chek.js"', 'verifier.file', /not a file below verifier\//],
    ['runs_candidate in pure-js', 'runtime =', 'runs_candidate = true\nruntime =', 'verifier.isolation', /write isolation = "separate"/],
    [
      'isolation alone',
      'runtime =',
      'isolation = "separate"\nruntime =',
      'verifier.isolation',
      /write runs_candidate = true, or remove it/,
    ],
    [
      'candidates without isolation',
      'runtime = "pure-js"\nfile = "verifier/check.js"',
      'command = ["sh"]\nruns_candidate = true\nisolation = "none"',
      'verifier.isolation',
      /is "none", but runs_candidate = true/,
    ],
    [
      'unknown adapter',
      'runtime =',
      'adapter = "xunit"\nruntime =',
      'verifier.adapter',
      /"xunit", which is unknown; known are junit, pytest,/,
    ],
    ['adapter and runtime', 'runtime =', 'adapter = "junit"\nruntime =', 'verifier.runtime', /writes its own report/],
    ['from without adapter', 'key = "sum"', 'key = "sum"\nfrom = "x"', 'obligation[0].from', /belongs to an adapter/],
    ['report', 'runtime =', 'report = "x.xml"\nruntime =', 'verifier.report', /belongs to an adapter/],
    ['auto', '[budget]', '[[auto]]\nname = "x"\n[budget]', 'auto[0].command', /is missing; write a list/],
    ['auto', '[budget]', '[[auto]]\nname = "x"\ncommand = ["verifier/check.js"]\n[budget]', 'auto[0].command', /not there when it runs/],
    [
      'auto',
      '[budget]',
      '[[auto]]\nname = "x"\ncommand = ["a"]\n[[auto]]\nname = "x"\ncommand = ["b"]\n[budget]',
      'auto[1].name',
      /a second time/,
    ],
    ['reserved environment', 'runtime =', 'env = ["PAWL_NONCE"]\nruntime =', 'verifier.env[0]', /set for every verifier/],
    [
      'preflight_runs',
      '[budget]',
      '[measurement]\npreflight_runs = 0\n[budget]',
      'measurement.preflight_runs',
      /an integer from 1 to 1000/,
    ],
    ['confirm_runs', '[budget]', '[measurement]\nconfirm_runs = 1001\n[budget]', 'measurement.confirm_runs', /an integer from 1 to 1000/],
    ['paired', '[budget]', '[measurement]\npaired = 1\n[budget]', 'measurement.paired', /true or false/],
    ['memory of a pure-js verifier', '[budget]', '[limits]\nmemory_mb = 4096\n[budget]', 'limits.memory_mb', /can have 1 to 1024/],
    ['no attempts', 'attempts = 40', 'attempts = 0', 'budget.attempts', /is 0; it must be an integer from 1/],
    ['timeout 0', 'run = 20000', 'run = 0', 'verifier.timeouts_ms.run', /is 0/],
  ];
  test.each(cases)('%s', async (_, from, to, field, message) => {
    const error = await refused(await variant('counting', from, to));
    const problem = error.problems.find((found) => found.field === field);
    expect(problem, `problems: ${error.message}`).toMatchObject({ file: 'task.toml', field });
    expect(problem?.message).toMatch(message);
    expect(error.message).toContain(`task.toml: ${field} `);
  });

  test('no obligation at all', async () => {
    const dir = await copyOf('counting');
    const file = path.join(dir, 'task.toml');
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace(/\[\[obligation\]\][^[]*/g, ''));
    expect(await refused(dir)).toMatchObject({ field: 'obligation', code: 'missing_field' });
  });

  test('a syntax error names its line', async () => {
    const error = await refused(await variant('counting', 'cap = 1000', 'cap = = 1'));
    expect(error).toMatchObject({ file: 'task.toml', field: null, code: 'toml_syntax', line: 20 });
    expect(error.message).toMatch(/^task\.toml:20 /);
  });

  test('all problems are reported, at most ten in the message', async () => {
    const dir = await variant('counting', 'cap = 1000', 'cap = 0\na=1\nb=1\nc=1\nd=1\ne=1\nf=1\ng=1\nh=1\ni=1');
    const error = await refused(dir);
    expect(error.problems).toHaveLength(10);
    const more = await refused(await variant('counting', 'cap = 1000', 'cap = 0\na=1\nb=1\nc=1\nd=1\ne=1\nf=1\ng=1\nh=1\ni=1\nj=1\nk=1'));
    expect(more.problems).toHaveLength(12);
    expect(more.message.split('\n')).toHaveLength(11);
    expect(more.message).toMatch(/and 2 more problems$/);
  });

  test('command verifiers: a file that is not there, one that is not executable, a path that is neither', async () => {
    const at = async (command: string) => refused(await variant('counting-sh', '["sh", "verifier/check.sh"]', command));
    expect(await at('["sh", "verifier/none.sh"]')).toMatchObject({ field: 'verifier.command[1]', code: 'missing_file' });
    expect((await at('["verifier/check.sh"]')).message).toMatch(/command\[0\] is "verifier\/check.sh", which is not executable; run chmod/);
    expect(await at('["bin/check"]')).toMatchObject({ field: 'verifier.command[0]', code: 'bad_value' });
    expect(await at('["sh"]\nfile = "x"')).toMatchObject({ field: 'verifier.file' });
  });
});

describe('a bad folder is refused', () => {
  const missing: [string, string][] = [
    ['task.toml', 'task.toml'],
    ['instruction.md', 'instruction.md'],
    ['artifact', 'artifact/'],
    ['verifier', 'verifier/'],
  ];
  test.each(missing)('without %s', async (name, file) => {
    const dir = await copyOf('counting-sh');
    await rm(path.join(dir, name), { recursive: true });
    const error = await refused(dir);
    expect(error.problems.find((problem) => problem.file === file)).toMatchObject({ field: null, code: 'missing_file' });
  });

  test('no folder at all', async () => {
    const dir = path.join(root, 'nowhere');
    expect(await refused(dir)).toMatchObject({
      file: dir,
      code: 'missing_file',
      message: `${dir} is not there; name a folder with task.toml in it, or FILE#ID with an instance of SWE-bench`,
    });
  });

  // What task.toml says about files that cannot be read (schema_target, verifier.file) would only hide the cause.
  test.each([
    ['artifact/ missing', 'artifact', null, 'artifact/', 'missing_file'],
    ['artifact/ a link', 'artifact', '/etc', 'artifact/', 'link'],
    ['the seed a link', 'artifact/numbers.json', '/etc/passwd', 'artifact/numbers.json', 'link'],
    ['verifier/ missing', 'verifier', null, 'verifier/', 'missing_file'],
    ['the verifier a link', 'verifier/check.js', '/etc/passwd', 'verifier/check.js', 'link'],
  ])('%s is the only problem', async (_, name, target, file, code) => {
    const dir = await copyOf('counting');
    await rm(path.join(dir, name), { recursive: true });
    if (target !== null) await symlink(target, path.join(dir, name));
    const error = await refused(dir);
    expect(error).toMatchObject({ file, field: null, code });
    expect(error.problems).toHaveLength(1);
  });

  test('links and special files in the seed', async () => {
    const dir = await copyOf('counting-sh');
    await symlink('/etc/passwd', path.join(dir, 'artifact/link'));
    execFileSync('mkfifo', [path.join(dir, 'artifact/pipe')]);
    const { problems } = await refused(dir);
    expect(problems).toMatchObject([
      { file: 'artifact/link', code: 'link' },
      { file: 'artifact/pipe', code: 'special_file' },
    ]);
  });

  test('a linked folder in place of artifact/', async () => {
    const dir = await copyOf('counting-sh');
    await rm(path.join(dir, 'artifact'), { recursive: true });
    await symlink('/etc', path.join(dir, 'artifact'));
    expect(await refused(dir)).toMatchObject({ file: 'artifact/', code: 'link' });
  });

  test('names that are one on some systems, and reserved names', async () => {
    const dir = await copyOf('counting-sh');
    await writeFile(path.join(dir, 'artifact/LIST.txt'), '');
    expect((await refused(dir)).message).toMatch(/are one on some file systems/);
    const other = await copyOf('counting-sh');
    await writeFile(path.join(other, 'verifier/aux.txt'), '');
    expect(await refused(other)).toMatchObject({ file: 'verifier/', code: 'bad_path' });
  });

  test('an instruction or task.toml that is not UTF-8', async () => {
    const dir = await copyOf('counting-sh');
    await writeFile(path.join(dir, 'instruction.md'), Buffer.from([0xff, 0xfe]));
    expect(await refused(dir)).toMatchObject({ file: 'instruction.md', code: 'bad_value' });
    await writeFile(path.join(dir, 'task.toml'), Buffer.from([0xff, 0xfe]));
    expect(await refused(dir)).toMatchObject({ file: 'task.toml', code: 'toml_syntax' });
  });
});

describe('verifyTaskUnchanged', () => {
  const changed = async (change: (dir: string) => Promise<void>) => {
    const dir = await copyOf('counting');
    const task = await loaded(dir);
    await change(dir);
    return verifyTaskUnchanged(task, dir);
  };

  test('an untouched folder, and changes that a run is not held to', async () => {
    expect(await changed(async () => {})).toEqual({ ok: true, value: null });
    expect(await changed((dir) => writeFile(path.join(dir, 'README.md'), 'notes'))).toEqual({ ok: true, value: null });
    expect(
      await changed(async (dir) => {
        const file = path.join(dir, 'task.toml');
        await writeFile(file, `# a comment\n${(await readFile(file, 'utf8')).replace('attempts = 40', 'attempts = 50')}`);
      }),
    ).toEqual({ ok: true, value: null });
  });

  test('a changed byte with the same size and the same times', async () => {
    const result = await changed(async (dir) => {
      const file = path.join(dir, 'verifier/check.js');
      const { atime, mtime } = await stat(file);
      await writeFile(file, (await readFile(file, 'utf8')).replace('a + b', 'a - b'));
      await utimes(file, atime, mtime);
    });
    expect(result).toEqual({ ok: false, error: 'verifier/check.js has changed' });
  });

  test.each<[string, (dir: string) => Promise<unknown>, RegExp]>([
    ['instruction', (dir) => writeFile(path.join(dir, 'instruction.md'), 'x'), /instruction.md has changed/],
    ['a new seed file', (dir) => writeFile(path.join(dir, 'artifact/new.json'), '1'), /artifact\/new.json is new/],
    ['a removed seed file', (dir) => rm(path.join(dir, 'artifact/locked.json')), /artifact\/locked.json is gone/],
    ['an exec bit', (dir) => chmod(path.join(dir, 'verifier/check.js'), 0o755), /verifier\/check.js has changed/],
    ['a link', (dir) => symlink('check.js', path.join(dir, 'verifier/l')), /symbolic link/],
    [
      'the contract',
      async (dir) =>
        writeFile(path.join(dir, 'task.toml'), (await readFile(path.join(dir, 'task.toml'), 'utf8')).replace('cap = 1000', 'cap = 999')),
      /task.toml has changed/,
    ],
    ['a broken task.toml', (dir) => writeFile(path.join(dir, 'task.toml'), 'x'), /task.toml/],
    ['no folder', (dir) => rm(dir, { recursive: true }), /is missing/],
    [
      'a folder in place of the instruction',
      async (dir) => {
        await rm(path.join(dir, 'instruction.md'));
        await mkdir(path.join(dir, 'instruction.md'));
      },
      /no regular file/,
    ],
  ])('%s', async (_, change, message) => {
    const result = await changed(async (dir) => void (await change(dir)));
    expect(result.ok ? 'unchanged' : result.error).toMatch(message);
  });
});
