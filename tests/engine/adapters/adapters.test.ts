// Whole verifications through a real runner whose tool writes a report of its own.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadTask } from '#electron/core/tasks/load-task.ts';
import type { AdapterName } from '#electron/verifiers/adapters/adapter.ts';
import type { Verification, VerifyRequest } from '#electron/verifiers/api.ts';
import { judgeReport } from '#electron/verifiers/judge.ts';
import { noExecution } from '#electron/verifiers/runner-contract.ts';
import { contractSha } from '#shared/domain/bundle-id.ts';
import { ContractBody } from '#shared/domain/contract.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { ensure } from '#shared/lib/assert.ts';
import { missingHere } from '../sandbox/support.ts';
import { makeContract, never, request, seed, textFile } from '../verifiers/support.ts';
import { verifiersOfFile } from '../verifiers/of-file.ts';

const it = verifiersOfFile();

const Reported = z.object({ adapter: z.object({ report: z.string() }) });

type Given = {
  readonly verifier?: Partial<ContractBody['verifier']>;
  readonly obligations?: readonly Partial<ContractBody['obligations'][number]>[];
  readonly advisory?: ContractBody['advisory'];
  readonly files?: readonly TreeFile[];
};

const timeoutsMs = { setup: 20_000, transfer: 20_000, run: 20_000, parse: 20_000 };

/** A tool that is a /bin/sh script; null = none. `from` of a, b and so on. */
function toolRequest(adapter: AdapterName, script: string | null, from: readonly string[], given: Given = {}): VerifyRequest {
  const { obligations = from.map((_, i) => ({ key: 'abc'.charAt(i), cap: 10 })), advisory = [], files = seed } = given;
  const kind = script === null ? 'pure-js' : 'command';
  const made = makeContract({
    obligations,
    advisory,
    verifier: { kind, command: script === null ? [] : ['sh', 'verifier/tool.sh'], file: null, adapter, ...given.verifier },
  });
  const { sha: _, ...body } = { ...made, from: [...from] };
  const contract = { ...ContractBody.parse(body), sha: contractSha(body) };
  const schema = textFile('verifier/schema.json', '{"type": "array", "items": {"maximum": 1}}');
  return request(contract, [textFile('verifier/tool.sh', `${script}\n`), schema], files);
}

const verify = (input: VerifyRequest): Promise<Verification> => it.service.verify(input, never);
const verdictOf = async (input: VerifyRequest) => (await verify(input)).verdict;

const junit = (tests: string) => `<testsuite name="s">${tests}</testsuite>`;
const passed = '<testcase name="x"/>';
const failed = '<testcase name="y"><failure message="no"/></testcase>';
const write = (text: string, file = '"$PAWL_REPORT"') => `cat > ${file} <<'END'\n${text}\nEND`;

describe('a tool with a report', () => {
  test('junit in a named file: exit code 1 beside a failing test is a measurement; what was judged can be judged again from what was kept', async () => {
    const input = toolRequest('junit', `${write(junit(passed + failed), 'out/junit.xml')}\necho noise\nexit 1`, ['x', '[min=2] *'], {
      verifier: { report: 'out/junit.xml' },
      advisory: [{ key: 'tests', better: 'higher' }],
    });
    const { verdict, runs, blobs } = await verify(input);
    expect(verdict).toMatchObject({ kind: 'ranked', rank: [0, 1], advisory: { tests: 2 }, details: { b: 'y: failed: no' } });
    const run = ensure(runs[0], 'a run');
    expect(run).toMatchObject({ result: 'ranked', exitCode: 1, signal: null });
    const bytesOf = (sha: string | null) => ensure(blobs.find((blob) => blob.sha === sha)?.bytes, 'the bytes of a blob');
    const report: unknown = JSON.parse(new TextDecoder().decode(bytesOf(run.report)));
    expect(report).toMatchObject({
      nonce: run.nonce,
      tree: input.tree,
      contract: input.contract.sha,
      adapter: { name: 'junit', exitCode: 1 },
    });
    const shaOfTool = Reported.parse(report).adapter.report;
    expect(new TextDecoder().decode(bytesOf(shaOfTool))).toBe(`${junit(passed + failed)}\n`);

    const again = (exitCode: number | null) =>
      judgeReport({
        contract: input.contract,
        nonce: run.nonce,
        tree: input.tree,
        execution: { ...noExecution, startedAt: '', ending: 'exited', exitCode, report: bytesOf(run.report) },
      });
    expect(again(1)).toMatchObject({ kind: 'ranked', rank: [0, 1] });
    expect(again(0)).toMatchObject({ kind: 'no_verdict', code: 'attestation', message: expect.stringContaining('exit code 1, not 0') });
  });

  test('node-test on standard output; what goes to standard error is not in it', async () => {
    const tap = 'TAP version 13\nok 1 - x\nnot ok 2 - y\n1..2';
    const input = toolRequest('node-test', `echo 'ok 3 - z' >&2\ncat <<'END'\n${tap}\nEND\nexit 1`, ['x', 'y'], {
      verifier: { report: '-' },
    });
    expect(await verdictOf(input)).toMatchObject({ kind: 'ranked', rank: [0, 1] });
  });

  test('a report where PAWL_REPORT says, and an exit code with its nonce', async () => {
    expect(await verdictOf(toolRequest('junit', write(junit(passed)), ['*']))).toMatchObject({ kind: 'ranked', rank: [0] });
    const script = 'sh -c "exit 3"\ncode=$?\necho "$PAWL_NONCE $code" > "$PAWL_REPORT"\nexit $code';
    expect(
      await verdictOf(toolRequest('exit-code', script, ['exit'], { obligations: [{ key: 'a', cap: 1, kind: 'binary' }] })),
    ).toMatchObject({ rank: [1] });
  });

  test('a missing test takes what its obligation says of missing values', async () => {
    const missing = (rule: 'malformed' | 'cap') =>
      toolRequest('junit', write(junit(passed)), ['x', 'gone'], { obligations: [{ key: 'a' }, { key: 'b', cap: 7, missing: rule }] });
    expect(await verdictOf(missing('malformed'))).toMatchObject({
      kind: 'no_verdict',
      code: 'malformed',
      message: expect.stringContaining('"b"'),
    });
    expect(await verdictOf(missing('cap'))).toMatchObject({ kind: 'ranked', rank: [0, 7] });
  });

  test.each<[string, string, string | null, string, RegExp]>([
    ['no report and exit code 0', 'true', null, 'malformed', /left no report/],
    ['no report and a failure', 'exit 1', null, 'crash', /left no report/],
    ['a named report that is not there', 'true', 'a/b.xml', 'malformed', /left no report/],
    [
      'a link instead of the report',
      `rm -f "$PAWL_REPORT"; ln -s ../task/artifact/data.json "$PAWL_REPORT"`,
      null,
      'malformed',
      /no regular file/,
    ],
    ['a link instead of a named report', 'ln -s artifact/data.json r.xml', 'r.xml', 'malformed', /no regular file/],
    ['a link on the way', `rmdir out; mkdir real; ln -s real out; printf "<a/>" > real/r.xml`, 'out/r.xml', 'malformed', /left no report/],
    ['a pipe instead of the report', `rm -f "$PAWL_REPORT"; mkfifo "$PAWL_REPORT"`, null, 'malformed', /no regular file/],
    ['a report that is too long', `head -c 9000000 /dev/zero > "$PAWL_REPORT"`, null, 'malformed', /longer than/],
    [
      'a report of a verifier that knows the nonce',
      `printf '{"nonce":"%s","tree":"%s","contract":"%s","values":{"a":0}}' "$PAWL_NONCE" "$PAWL_TREE" "$PAWL_CONTRACT" > "$PAWL_REPORT"`,
      null,
      'malformed',
      /no JUnit XML/,
    ],
    ['a failing exit code beside a good report', `${write(junit(passed))}\nexit 1`, null, 'crash', /no test of its report failed/],
    ['exit code 0 beside a failing test', write(junit(failed)), null, 'crash', /exit code 0, but 1 tests/],
    ['a signal after a good report', `${write(junit(passed))}\nkill -9 $$`, null, 'crash', /ended by SIGKILL/],
    ['a verifier file that was changed', `${write(junit(passed))}\necho x >> verifier/schema.json`, null, 'tampered', /schema/],
  ])('%s is no verdict', async (_, script, report, code, message) => {
    expect(await verdictOf(toolRequest('junit', script, ['*'], { verifier: { report } }))).toMatchObject({
      kind: 'no_verdict',
      code,
      message: expect.stringMatching(message),
    });
  });

  test('a report may not be where files are laid out', async () => {
    for (const report of ['artifact/r.xml', 'Verifier/r.xml', '../r.xml', '/tmp/r.xml'])
      expect(await verdictOf(toolRequest('junit', 'true', ['*'], { verifier: { report } }))).toMatchObject({
        kind: 'no_verdict',
        code: 'infra',
      });
  });
});

describe('without a tool', () => {
  test('json-schema and text-count look at the candidate', async () => {
    const against = 'artifact/data.json against verifier/schema.json';
    const { verdict, runs } = await verify(toolRequest('json-schema', null, [against]));
    expect(verdict).toMatchObject({ kind: 'ranked', rank: [2], details: { a: '/1 must be <= 1\n/2 must be <= 1' } });
    expect(runs).toMatchObject([{ exitCode: null, signal: null, output: null, result: 'ranked' }]);
    expect(await verdictOf(toolRequest('text-count', null, ['/[0-9]/ in artifact/*.json', '/touch/ in artifact/**']))).toMatchObject({
      rank: [3, 1],
    });
  });

  test('what takes too long is ended, and the next verification is well', async () => {
    const slow = { files: [textFile('slow.txt', 'a'.repeat(60))], verifier: { timeoutsMs: { ...timeoutsMs, parse: 200 } } };
    const input = toolRequest('text-count', null, ['/(a+)+b/ in artifact/slow.txt'], slow);
    expect(await verdictOf(input)).toMatchObject({
      kind: 'no_verdict',
      code: 'parse',
      message: expect.stringContaining('timeouts_ms.parse'),
    });
    const controller = new AbortController();
    const patient = toolRequest('text-count', null, ['/(a+)+b/ in artifact/slow.txt'], { files: slow.files });
    const running = it.service.verify(patient, controller.signal);
    controller.abort();
    expect((await running).verdict).toMatchObject({ kind: 'no_verdict', code: 'aborted' });
    expect(await verdictOf(toolRequest('text-count', null, ['/a/ in artifact/*']))).toMatchObject({ kind: 'ranked' });
  });

  test('the runner answers while a report is read', async () => {
    const slow = toolRequest('text-count', null, ['/(a+)+b/ in artifact/slow.txt'], {
      files: [textFile('slow.txt', 'a'.repeat(60))],
      verifier: { timeoutsMs: { ...timeoutsMs, parse: 1_500 } },
    });
    const running = verify(slow);
    for (let i = 0; i < 20; i++) {
      const start = performance.now();
      await it.service.info();
      expect(performance.now() - start).toBeLessThan(1_000);
    }
    expect((await running).verdict).toMatchObject({ code: 'parse' });
  });
});

const missing = await missingHere();
if (missing !== null) process.stderr.write(`SKIPPED tests of adapters with candidates that run: ${missing}\n`);

describe.skipIf(missing !== null)('with candidate code', () => {
  const runs = (isolation: 'shared' | 'separate', report: string | null = null) => ({
    verifier: { runsCandidate: true, isolation, report, limits: { memoryMb: 256, cpuS: 20, processes: 32, fileMb: 16, outputKb: 64 } },
    files: [textFile('run.sh', 'echo 4')],
  });
  const script = (call: string) =>
    `if [ "$(${call} /bin/sh "$PAWL_CANDIDATE/run.sh")" = 4 ]; then case="<testcase name='four'/>"; code=0; else case="<testcase name='four'><failure/></testcase>"; code=1; fi\necho "<testsuite>$case</testsuite>" > "$PAWL_REPORT"\nexit $code`;
  test.each<['shared' | 'separate', string | null]>([
    ['separate', null],
    ['separate', 'out/r.xml'],
    ['shared', null],
    ['shared', 'out/r.xml'],
  ])('%s, report %s', async (isolation, report) => {
    const call = isolation === 'separate' ? '"$PAWL_RUN" --' : '';
    const input = toolRequest('junit', script(call), ['four'], runs(isolation, report));
    expect(await verdictOf(input)).toMatchObject({ kind: 'ranked', rank: [0] });
    const wrong = request(input.contract, input.verifierFiles, [textFile('run.sh', 'echo 5')]);
    expect(await verdictOf(wrong)).toMatchObject({ kind: 'ranked', rank: [1] });
  });
  test('a candidate that plants a report changes nothing', async () => {
    const planted = [
      textFile('run.sh', `echo "<testsuite><testcase name='four'/></testsuite>" > ../r.xml; echo 5`),
      textFile('r.xml', junit(passed)),
    ];
    const input = toolRequest('junit', '"$PAWL_RUN" -- /bin/sh run.sh; true', ['*'], { ...runs('separate', 'r.xml'), files: planted });
    expect(await verdictOf(input)).toMatchObject({
      kind: 'no_verdict',
      code: 'malformed',
      message: expect.stringContaining('left no report'),
    });
  });
});

describe('a task folder', () => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'pawl-adapter-task-'));
  });
  afterAll(async () => {
    await rm(root, { recursive: true, force: true });
  });
  let made = 0;
  const task = async (verifier: string, obligations: string): Promise<string> => {
    const folder = path.join(root, String(made++));
    await mkdir(path.join(folder, 'artifact'), { recursive: true });
    await mkdir(path.join(folder, 'verifier'));
    await writeFile(
      path.join(folder, 'task.toml'),
      `version = 1\nid = "t"\n[artifact]\nwritable = ["*.txt"]\n[verifier]\n${verifier}\n${obligations}`,
    );
    await writeFile(path.join(folder, 'instruction.md'), 'Make it better.\n');
    await writeFile(path.join(folder, 'artifact/a.txt'), 'TODO\n');
    await writeFile(path.join(folder, 'verifier/tool.sh'), 'cat > r.xml <<END\n<testsuite><testcase name="x"/></testsuite>\nEND\n');
    await writeFile(path.join(folder, 'verifier/schema.json'), '{"type": "object"}');
    return folder;
  };
  const sh = 'command = ["sh", "verifier/tool.sh"]\n';
  const one = (from: string, rest = 'cap = 5') => `[[obligation]]\nkey = "x"\n${rest}\nfrom = ${JSON.stringify(from)}\n`;

  test('is loaded and verified', async () => {
    const loaded = await loadTask(await task(`${sh}adapter = "junit"\nreport = "r.xml"`, one('x')));
    if (!loaded.ok) throw new Error(loaded.error.message);
    expect(loaded.value.contract).toMatchObject({ from: ['x'], verifier: { kind: 'command', adapter: 'junit', report: 'r.xml' } });
    expect(await verdictOf(request(loaded.value.contract, loaded.value.verifierFiles, loaded.value.seedFiles))).toMatchObject({
      kind: 'ranked',
      rank: [0],
    });
    const counting = await loadTask(await task('adapter = "text-count"', one('/TODO/ in artifact/*.txt')));
    if (!counting.ok) throw new Error(counting.error.message);
    expect(counting.value.contract.verifier).toMatchObject({ kind: 'pure-js', command: [], file: null });
    expect(await verdictOf(request(counting.value.contract, counting.value.verifierFiles, counting.value.seedFiles))).toMatchObject({
      rank: [1],
    });
  });

  test.each<[string, string, string, string, RegExp]>([
    ['an unknown adapter', `${sh}adapter = "tap"`, one('x'), 'verifier.adapter', /"tap", which is unknown; known are junit/],
    ['no command', 'adapter = "junit"', one('x'), 'verifier', /says nothing to run/],
    [
      'a command that would not be run',
      `${sh}adapter = "json-schema"`,
      one('artifact/a.txt against verifier/schema.json'),
      'verifier.command',
      /starts nothing/,
    ],
    [
      'candidates without a command',
      'adapter = "text-count"\nruns_candidate = true',
      one('/x/ in artifact/*'),
      'verifier.runs_candidate',
      /no command/,
    ],
    [
      'a report without a command',
      'adapter = "text-count"\nreport = "r"',
      one('/x/ in artifact/*'),
      'verifier.report',
      /without a command/,
    ],
    [
      'a report without an adapter',
      `${sh}report = "r.xml"`,
      '[[obligation]]\nkey = "x"\ncap = 1\n',
      'verifier.report',
      /belongs to an adapter/,
    ],
    [
      'a report inside the artifact',
      `${sh}adapter = "junit"\nreport = "artifact/r.xml"`,
      one('x'),
      'verifier.report',
      /outside artifact\//,
    ],
    ['a report outside the task', `${sh}adapter = "junit"\nreport = "../r.xml"`, one('x'), 'verifier.report', /inside the task folder/],
    [
      'no from',
      `${sh}adapter = "junit"`,
      '[[obligation]]\nkey = "x"\ncap = 1\n',
      'obligation[0].from',
      /is missing; write where the adapter junit finds x/,
    ],
    ['a glob that could never match', `${sh}adapter = "junit"`, one('a\nb*'), 'obligation[0].from', /could never match/],
    [
      'a glob without min where candidates run',
      `${sh}adapter = "junit"\nruns_candidate = true`,
      one('a*'),
      'obligation[0].from',
      /glob without min/,
    ],
    ['an ordinal test', `${sh}adapter = "junit"`, one('x', 'kind = "ordinal"\ncap = 5'), 'obligation[0].from', /ordinal/],
    ['a group that is none', `${sh}adapter = "swe-bench"`, one('PASS'), 'obligation[0].from', /write FAIL_TO_PASS or PASS_TO_PASS/],
    ['a reward without a quantum', `${sh}adapter = "harbor"`, one('reward'), 'obligation[0].from', /says no quantum/],
    ['a quantum of 0', `${sh}adapter = "harbor"`, one('reward to 1 by 0'), 'obligation[0].from', /above 0/],
    ['a target that is no number', `${sh}adapter = "harbor"`, one('reward >= NaN', 'kind = "binary"'), 'obligation[0].from', /finite/],
    [
      'a schema that is not there',
      'adapter = "json-schema"',
      one('artifact/a.txt against verifier/none.json'),
      'obligation[0].from',
      /not a file below verifier/,
    ],
    [
      'a schema that is none',
      'adapter = "json-schema"',
      one('artifact/a.txt against verifier/tool.sh'),
      'obligation[0].from',
      /not a valid JSON Schema/,
    ],
    ['files outside the artifact', 'adapter = "text-count"', one('/x/ in verifier/*'), 'obligation[0].from', /could never match/],
    ['an expression that is none', 'adapter = "text-count"', one('/(/ in artifact/*'), 'obligation[0].from', /no regular expression/],
    ['an expression that matches nothing', 'adapter = "text-count"', one('/x*/ in artifact/*'), 'obligation[0].from', /needs a character/],
    ['a count in a report that nobody writes', 'adapter = "text-count"', one('/x/ in report'), 'obligation[0].from', /no command/],
    [
      'an exit code of candidate code',
      `${sh}adapter = "exit-code"\nruns_candidate = true`,
      one('exit', 'kind = "binary"'),
      'obligation[0].from',
      /can end its process with any/,
    ],
    ['an exit code that counts', `${sh}adapter = "exit-code"`, one('exit'), 'obligation[0].from', /not binary/],
    [
      'two exit codes',
      `${sh}adapter = "exit-code"`,
      `${one('exit', 'kind = "binary"')}[[obligation]]\nkey = "y"\nkind = "binary"\nfrom = "exit"\n`,
      'obligation',
      /says one thing/,
    ],
  ])('%s is refused by name', async (_, verifier, obligations, field, message) => {
    const loaded = await loadTask(await task(verifier, obligations));
    expect(loaded).toMatchObject({ ok: false });
    if (loaded.ok) return;
    const found = loaded.error.problems.find((problem) => problem.field === field);
    expect(found?.message ?? loaded.error.message).toMatch(message);
  });
});
