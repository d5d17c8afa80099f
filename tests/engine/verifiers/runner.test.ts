// Whole verifications through a real runner process, for both runtimes.
import { execFileSync, fork } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { fromChildProcess } from '#electron/host/ports/process-ipc.ts';
import { loadTask } from '#electron/core/tasks/load-task.ts';
import type { VerifyRequest, Verification } from '#electron/verifiers/api.ts';
import { createVerifierService } from '#electron/verifiers/service.ts';
import { createPortPair } from '#shared/rpc/port.ts';
import { jsRequest, makeContract, never, processesOf, request, runnerEntry, shRequest, startVerifiers, textFile } from './support.ts';
import { verifiersOfFile } from './of-file.ts';

const it = verifiersOfFile();

const verify = (input: VerifyRequest, signal = never): Promise<Verification> => it.service.verify(input, signal);
const verdictOf = async (input: VerifyRequest) => (await verify(input)).verdict;
const outputOf = ({ runs, blobs }: Verification): string => {
  const sha = runs[0]?.output;
  return new TextDecoder().decode(blobs.find((blob) => blob.sha === sha)?.bytes);
};
const short = { verifier: { timeoutsMs: { setup: 20_000, transfer: 20_000, run: 300, parse: 20_000 } } };
const small = { verifier: { limits: { memoryMb: 8, cpuS: 60, processes: 64, fileMb: 1, outputKb: 4 } } };

describe('pure-js', () => {
  test('ranks, and records what it ran', async () => {
    const { verdict, runs, blobs } = await verify(
      jsRequest(`return { ...echo, values: { a: JSON.parse(pawl.files['artifact/data.json']).length, b: 0 }, details: { a: 'three' } };`),
    );
    expect(verdict).toMatchObject({ kind: 'ranked', rank: [3, 0], stable: true, details: { a: 'three' } });
    expect(runs).toMatchObject([{ result: 'ranked', exitCode: null, signal: null, output: null }]);
    expect(verdict.kind === 'ranked' && verdict.runs[0]?.id).toBe(runs[0]?.id);
    expect(blobs.map(({ sha }) => sha)).toEqual([runs[0]?.report]);
  });

  test('sees the whole candidate and the verifier files, and nothing of the host', async () => {
    const globals = ['process', 'require', 'fetch', 'console', 'setTimeout', 'performance', 'Date', 'WebAssembly', 'std', 'os', 'Buffer'];
    const { verdict } = await verify(
      jsRequest(
        `return { ...echo, values: { a: 0, b: 0 }, details: { a: Object.keys(pawl.files).sort().join(' '), b: [${globals.map((name) => `typeof globalThis.${name}`).join(',')}, typeof Math.random].join() } };`,
      ),
    );
    expect(verdict).toMatchObject({
      details: {
        a: 'artifact/data.json artifact/locked.txt verifier/check.js',
        b: Array.from({ length: globals.length + 1 }, () => 'undefined').join(),
      },
    });
  });

  test('NUL and non-ASCII text arrive whole; what is not UTF-8 arrives as null', async () => {
    const files = [textFile('nul.txt', 'a\0b\u{1f600}'), textFile('raw.bin', Uint8Array.from([0xff, 0xfe]))];
    const { contract, verifierFiles } = jsRequest(
      `return { ...echo, values: { a: pawl.files['artifact/nul.txt'].length, b: pawl.files['artifact/raw.bin'] === null ? 0 : 1 } };`,
    );
    expect(await verdictOf(request(contract, verifierFiles, files))).toMatchObject({ rank: [5, 0] });
  });

  test('nothing survives from one verification to the next', async () => {
    const counting = `globalThis.count = (globalThis.count || 0) + 1; Array.prototype.seen = (Array.prototype.seen || 0) + 1; return { ...echo, values: { a: globalThis.count, b: [].seen } };`;
    for (let i = 0; i < 4; i++) expect(await verdictOf(jsRequest(counting))).toMatchObject({ rank: [1, 1] });
  });

  test.each<[string, string, string, RegExp]>([
    ['an exception', `throw new TypeError('bad instance');`, 'crash', /TypeError: bad instance/],
    ['something else thrown', `throw 'text';`, 'crash', /threw "text"/],
    ['null thrown', `throw null;`, 'crash', /it threw|Error/],
    ['endless recursion', `return (function f() { return f() + 1; })();`, 'crash', /stack overflow/],
    ['deeply nested JSON', `return JSON.parse('['.repeat(1e6));`, 'crash', /stack overflow/],
    ['a promise', `return Promise.resolve({});`, 'crash', /returned a promise/],
    ['a rejected promise', `return Promise.reject(new Error('x'));`, 'crash', /returned a promise/],
    ['nothing returned', ``, 'crash', /returned nothing/],
    ['Date', `return Date.now();`, 'crash', /'Date' is not defined/],
    ['Math.random', `return Math.random();`, 'crash', /not a function/],
    ['a number', `return 5;`, 'malformed', /not a JSON object/],
    ['wrong nonce', `return { ...echo, nonce: 'x', values: { a: 0, b: 0 } };`, 'attestation', /nonce/],
    ['wrong tree', `return { ...echo, tree: 'x', values: { a: 0, b: 0 } };`, 'attestation', /tree/],
    ['wrong contract', `return { ...echo, contract: 'x', values: { a: 0, b: 0 } };`, 'attestation', /contract/],
    ['NaN', `return { ...echo, values: { a: NaN, b: 0 } };`, 'malformed', /values\.a is NaN; write a finite number/],
    ['infinity', `return { ...echo, values: { a: 0, b: 1 / 0 } };`, 'malformed', /values\.b is Infinity/],
    ['NaN as advice', `return { ...echo, values: { a: 0, b: 0 }, advisory: { ms: NaN } };`, 'malformed', /advisory\.ms is NaN/],
    ['NaN as the report', `return NaN;`, 'malformed', /it is NaN/],
    ['null', `return { ...echo, values: { a: null, b: 0 } };`, 'malformed', /values\.a is null/],
    [
      'a replaced JSON.stringify',
      `JSON.stringify = Number.isFinite = () => 'x'; return { ...echo, values: { a: NaN, b: 0 } };`,
      'malformed',
      /values\.a is NaN/,
    ],
    ['a fraction', `return { ...echo, values: { a: 1 / 3, b: 0 } };`, 'malformed', /values\.a is 0\.33/],
    ['a string', `return { ...echo, values: { a: '1', b: 0 } };`, 'malformed', /values\.a is "1"/],
    ['above the cap', `return { ...echo, values: { a: 11, b: 0 } };`, 'malformed', /above its cap/],
    ['too few values', `return { ...echo, values: { a: 1 } };`, 'malformed', /no "b"/],
    ['too many values', `return { ...echo, values: { a: 1, b: 0, c: 0 } };`, 'malformed', /unknown obligation "c"/],
    [
      'a report that is too long',
      `return { ...echo, values: { a: 1, b: 0 }, details: { a: 'x'.repeat(9e6) } };`,
      'malformed',
      /longer than/,
    ],
  ])('%s', async (_, body, code, message) => {
    expect(await verdictOf(jsRequest(body))).toMatchObject({ kind: 'no_verdict', code, message: expect.stringMatching(message) });
  });

  test('a report may always have 1 MiB, and more where limits.output_kb says so', async () => {
    const limits = (outputKb: number) => ({ verifier: { limits: { memoryMb: 64, cpuS: 60, processes: 64, fileMb: 16, outputKb } } });
    const long = (bytes: number) => `return { ...echo, values: { a: 1, b: 0 }, details: { a: 'x'.repeat(${bytes}) } };`;
    const tooLong = { code: 'malformed', message: expect.stringMatching(/longer than 1048576 bytes/) };
    expect(await verdictOf(jsRequest(long(1_000_000), limits(1)))).toMatchObject({ kind: 'ranked' });
    expect(await verdictOf(jsRequest(long(5_000_000), limits(64)))).toMatchObject(tooLong);
    expect(await verdictOf(jsRequest(long(5_000_000), limits(6_000)))).toMatchObject({ kind: 'ranked' });
    const sh = `report "{\\"a\\":0,\\"b\\":0}"; head -c 2000000 /dev/zero | tr '\\0' ' ' >> "$PAWL_REPORT"`;
    expect(await verdictOf(shRequest(sh, limits(64)))).toMatchObject(tooLong);
    expect(await verdictOf(shRequest(sh, limits(6_000)))).toMatchObject({ kind: 'ranked' });
  });

  test.each<[string, string]>([
    ['a loop', `for (;;);`],
    ['a loop that catches', `for (;;) { try { for (;;); } catch {} }`],
    ['a getter of what it throws', `throw { get message() { for (;;); } };`],
    ['a catastrophic pattern', `return /^(a+)+$/.test('a'.repeat(60) + 'b');`],
    ['a toJSON that never returns', `return { toJSON() { for (;;); } };`],
  ])('%s ends at its deadline', async (_, body) => {
    const { verdict, runs } = await verify(jsRequest(body, short));
    expect(verdict).toMatchObject({ kind: 'no_verdict', code: 'verifier_timeout' });
    // By QuickJS itself: a thread that had to be ended would have taken a second more.
    expect(runs[0]?.durationMs).toBeLessThan(1_300);
  });

  // QuickJS itself counts eight bytes for every block, so its own limit ends none of these.
  test.each<[string, string]>([
    ['long strings', `const s = []; for (;;) s.push('x'.repeat(100000) + s.length);`],
    ['arrays', `const s = []; for (;;) s.push([s.length, {}]);`],
    ['one array', `const s = []; for (;;) s.push(s.length);`],
    ['array buffers', `const s = []; for (;;) s.push(new ArrayBuffer(100000));`],
    ['large array buffers that are written to', `const s = []; for (;;) s.push(new Uint8Array(3e6).fill(1));`],
    [
      'what it caught',
      `const s = []; for (;;) try { for (;;) s.push('x'.repeat(100000) + s.length); } catch (e) { if (e === null || e.message === 'out of memory') throw e; }`,
    ],
  ])('%s end at the memory limit', async (_, body) => {
    const proc = `/proc/${it.runner.pid}`;
    const kilobytes = (field: string) =>
      Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`${proc}/status`, 'utf8'))?.[1]);
    // Sets the peak to what it is now.
    await writeFile(`${proc}/clear_refs`, '5');
    const before = kilobytes('VmRSS');
    const { verdict } = await verify(
      jsRequest(body, { verifier: { limits: { memoryMb: 32, cpuS: 60, processes: 64, fileMb: 1, outputKb: 4 } } }),
    );
    expect(verdict).toMatchObject({ kind: 'no_verdict', code: 'crash', message: expect.stringMatching(/more than 32 MB of memory/) });
    expect((kilobytes('VmHWM') - before) / 1024).toBeLessThan(100);
  });

  test('memory ends at its limit, and the next verification is well', async () => {
    expect(await verdictOf(jsRequest(`const all = []; for (;;) all.push(new Uint8Array(100000));`, small))).toMatchObject({
      code: 'crash',
      message: expect.stringMatching(/more than 8 MB of memory/),
    });
    expect(await verdictOf(jsRequest(`return { ...echo, values: { a: 1, b: 1 } };`))).toMatchObject({ rank: [1, 1] });
  });

  test('files that do not fit into its memory', async () => {
    const { contract, verifierFiles } = jsRequest(`return { ...echo, values: { a: 0, b: 0 } };`, small);
    expect(await verdictOf(request(contract, verifierFiles, [textFile('big.json', ' '.repeat(12_000_000))]))).toMatchObject({
      code: 'crash',
    });
    expect(await verdictOf(jsRequest(`return { ...echo, values: { a: 1, b: 1 } };`))).toMatchObject({ rank: [1, 1] });
  });

  test('no program, no verify, no syntax', async () => {
    const contract = makeContract();
    expect(await verdictOf(request(contract, []))).toMatchObject({ code: 'crash', message: expect.stringMatching(/check\.js is missing/) });
    expect(await verdictOf(request(contract, [textFile('verifier/check.js', 'let verif = 1;')]))).toMatchObject({
      code: 'crash',
      message: expect.stringMatching(/no function verify/),
    });
    const broken = await verify(request(contract, [textFile('verifier/check.js', '\nfunction (')]));
    expect(broken.verdict).toMatchObject({ code: 'crash', message: expect.stringMatching(/SyntaxError/) });
    expect(outputOf(broken)).toMatch(/verifier\/check\.js:2/);
  });

  test('a const is a verify too', async () => {
    const source = `'use strict'; const verify = ({ nonce, tree, contract }) => ({ nonce, tree, contract, values: { a: 2, b: 2 } });`;
    expect(await verdictOf(request(makeContract(), [textFile('verifier/check.js', source)]))).toMatchObject({ rank: [2, 2] });
  });

  test('aborting ends it at once, also while it waits', async () => {
    const abort = new AbortController();
    const running = Array.from({ length: 6 }, () => verify(jsRequest('for (;;);'), abort.signal));
    await vi.waitFor(async () => expect(await activity()).toBe(2));
    abort.abort();
    for (const { verdict, runs } of await Promise.all(running)) {
      expect(verdict).toMatchObject({ kind: 'no_verdict', code: 'aborted' });
      expect(runs).toMatchObject([{ result: 'aborted', report: null }]);
    }
    await vi.waitFor(async () => expect(await activity()).toBe(0));
    expect((await verify(jsRequest(''), AbortSignal.abort())).verdict).toMatchObject({ code: 'aborted' });
  });
});

describe('command', () => {
  test('ranks, and records what it ran', async () => {
    const done = await verify(shRequest(`echo looking; report '{"a":4,"b":0}'; echo done >&2`));
    expect(done.verdict).toMatchObject({ kind: 'ranked', rank: [4, 0] });
    expect(done.runs).toMatchObject([{ result: 'ranked', exitCode: 0, signal: null }]);
    expect(outputOf(done)).toBe('looking\ndone\n');
    expect(done.blobs).toHaveLength(2);
  });

  test('runs in a folder laid out like the task, with exactly this environment', async () => {
    process.env['PAWL_TEST_SECRET'] = 'secret';
    const done = await verify(
      shRequest(
        `env; echo "-- $(pwd)"; find . -type f | sort; stat -c %a ../. artifact/data.json; cat artifact/data.json; ls -A "$HOME"; report '{"a":0,"b":0}'`,
      ),
    );
    expect(done.verdict).toMatchObject({ rank: [0, 0] });
    const [env = '', rest = ''] = outputOf(done).split('-- ');
    const folder = path.join(it.tmpDir, `v-${done.runs[0]?.id}`);
    const { tree, contract } = shRequest(`env`);
    expect(env.trim().split('\n').sort()).toMatchObject([
      `HOME=${folder}/home`,
      'LANG=C.UTF-8',
      'PATH=/usr/local/bin:/usr/bin:/bin',
      `PAWL_CANDIDATE=${folder}/task/artifact`,
      expect.stringMatching(/^PAWL_CONTRACT=[0-9a-f]{64}$/),
      `PAWL_NONCE=${done.runs[0]?.nonce}`,
      `PAWL_REPORT=${folder}/report/report.json`,
      `PAWL_TREE=${tree}`,
      // dash exports nothing of its own, its PWD is unset before the verifier starts and set again by the verifier's own shell.
      expect.stringMatching(/^PWD=/),
      'PYTHONDONTWRITEBYTECODE=1',
      'PYTHONHASHSEED=0',
      'TZ=UTC',
    ]);
    expect(contract.verifier.env).toEqual([]);
    expect(rest).toBe(
      `${folder}/task\n./artifact/data.json\n./artifact/locked.txt\n./verifier/check.sh\n./verifier/expected.txt\n700\n644\n[1, 2, 3]\n`,
    );
  });

  test('an environment variable that the contract names is passed on', async () => {
    const done = await verify(shRequest(`echo "$LOGNAME-$PATH"; report '{"a":0,"b":0}'`, { verifier: { env: ['PATH_NOT_SET', 'PATH'] } }));
    expect(outputOf(done)).toMatch(/-\/usr\/local\/bin:\/usr\/bin:\/bin\n$/);
  });

  test.each<[string, string, string, RegExp]>([
    ['a crash', 'echo oops >&2; exit 1', 'crash', /exit code 1/],
    ['a report, then exit 3', `report '{"a":0,"b":0}'; exit 3`, 'crash', /exit code 3/],
    ['a report, then a signal', `report '{"a":0,"b":0}'; kill -SEGV $$`, 'crash', /SIGSEGV/],
    ['no report', 'exit 0', 'malformed', /there is none/],
    ['a report that was removed', 'rm "$PAWL_REPORT"', 'malformed', /there is none/],
    ['garbage', 'echo pass > "$PAWL_REPORT"', 'malformed', /not one JSON document/],
    [
      'two documents',
      `report '{"a":0,"b":0}'; cat "$PAWL_REPORT" "$PAWL_REPORT" > x; cat x > "$PAWL_REPORT"`,
      'malformed',
      /not one JSON document/,
    ],
    ['wrong nonce', `PAWL_NONCE=0123; report '{"a":0,"b":0}'`, 'attestation', /nonce/],
    ['wrong tree', `PAWL_TREE=0123; report '{"a":0,"b":0}'`, 'attestation', /tree/],
    ['wrong contract', `PAWL_CONTRACT=0123; report '{"a":0,"b":0}'`, 'attestation', /contract/],
    ['NaN', `report '{"a":NaN,"b":0}'`, 'malformed', /not one JSON document/],
    ['a fraction', `report '{"a":0.5,"b":0}'`, 'malformed', /values\.a is 0\.5/],
    ['a string', `report '{"a":"0","b":0}'`, 'malformed', /values\.a is "0"/],
    ['above the cap', `report '{"a":11,"b":0}'`, 'malformed', /above its cap/],
    ['too few values', `report '{"a":0}'`, 'malformed', /no "b"/],
    ['too many values', `report '{"a":0,"b":0,"c":0}'`, 'malformed', /unknown obligation/],
    ['bytes that are not UTF-8', `printf '{"a":"\\377"}' > "$PAWL_REPORT"`, 'malformed', /not UTF-8/],
    ['a report that is too long', `head -c 9000000 /dev/zero > "$PAWL_REPORT"`, 'malformed', /longer than/],
    ['a link in place of the report', `rm "$PAWL_REPORT"; ln -s /etc/passwd "$PAWL_REPORT"`, 'malformed', /no regular file/],
    ['a pipe in place of the report', `rm "$PAWL_REPORT"; mkfifo "$PAWL_REPORT"`, 'malformed', /no regular file/],
    ['a changed verifier file', `echo x > verifier/expected.txt; report '{"a":0,"b":0}'`, 'tampered', /verifier\/expected\.txt/],
    ['a removed verifier file', `rm verifier/expected.txt; report '{"a":0,"b":0}'`, 'tampered', /verifier\/expected\.txt/],
    ['a verifier file of another mode', `chmod +x verifier/check.sh; report '{"a":0,"b":0}'`, 'tampered', /verifier\/check\.sh/],
    [
      'a link in place of a verifier file',
      `mv verifier/expected.txt e; ln -s ../e verifier/expected.txt; report '{"a":0,"b":0}'`,
      'tampered',
      /expected\.txt/,
    ],
    ['a changed protected file', `echo x > artifact/locked.txt; report '{"a":0,"b":0}'`, 'tampered', /artifact\/locked\.txt/],
    ['changes, then a crash', `echo x > artifact/locked.txt; exit 1`, 'tampered', /artifact\/locked\.txt/],
  ])('%s', async (_, script, code, message) => {
    expect(await verdictOf(shRequest(script))).toMatchObject({ kind: 'no_verdict', code, message: expect.stringMatching(message) });
  });

  test('its own changes of writable files count for nothing', async () => {
    expect(
      await verdictOf(shRequest(`echo x > artifact/data.json; touch artifact/new verifier/cache; report '{"a":0,"b":0}'`)),
    ).toMatchObject({ rank: [0, 0] });
  });

  test('a program that is not there', async () => {
    const { contract, verifierFiles } = shRequest('');
    const gone = { ...request(contract, verifierFiles), program: { path: '/usr/bin/pawl-no-such-program', version: '' } };
    expect(await verdictOf(gone)).toMatchObject({
      code: 'infra',
      message: expect.stringMatching(/pawl-no-such-program is missing or not executable/),
    });
    expect(await verdictOf({ ...gone, program: null })).toMatchObject({ code: 'infra' });
  });

  test('a program of the task, by its exec bit', async () => {
    const script = `#!/bin/sh\nprintf '{"nonce":"%s","tree":"%s","contract":"%s","values":{"a":1,"b":2}}' "$PAWL_NONCE" "$PAWL_TREE" "$PAWL_CONTRACT" > "$PAWL_REPORT"\n`;
    const contract = makeContract({ verifier: { kind: 'command', command: ['verifier/run'], file: null } });
    expect(await verdictOf(request(contract, [textFile('verifier/run', script, 'exec')]))).toMatchObject({ rank: [1, 2] });
    expect(await verdictOf(request(contract, [textFile('verifier/run', script)]))).toMatchObject({ code: 'infra' });
  });

  test.each<[string, string]>([
    ['a hang', 'sleep 1000'],
    [
      'one that ignores SIGTERM, with a child in a session of its own',
      `trap '' TERM HUP INT; setsid sh -c 'trap "" TERM HUP; sleep 1000; :' & sleep 1000; :`,
    ],
    ['a chain of daemons', `(setsid sh -c 'setsid sh -c "sleep 1000; :" & sleep 1000; :' &) ; sleep 1000`],
  ])('%s is ended at its deadline, and nothing is left', async (_, script) => {
    const done = await verify(shRequest(script, short));
    expect(done.verdict).toMatchObject({ code: 'verifier_timeout' });
    expect(processesOf(it.tmpDir)).toEqual([]);
  });

  test('what it leaves running in the background is ended with it, also when it holds the output', async () => {
    const done = await verify(shRequest(`setsid sh -c 'sleep 1000; :' & sleep 1000 & report '{"a":0,"b":0}'`));
    expect(done.verdict).toMatchObject({ kind: 'ranked' });
    expect(processesOf(it.tmpDir)).toEqual([]);
  });

  test('endless output is ended at its limit', async () => {
    const done = await verify(shRequest('while :; do echo yes; done', small));
    expect(done.verdict).toMatchObject({ code: 'crash', message: expect.stringMatching(/more than 4 KB of output/) });
    expect(outputOf(done)).toHaveLength(4096);
  });

  test('files and processor time end at their limits', async () => {
    expect(await verdictOf(shRequest('exec head -c 3000000 /dev/zero > big', small))).toMatchObject({
      code: 'crash',
      message: expect.stringMatching(/SIGXFSZ: a file of more than 1 MB/),
    });
    const second = { verifier: { limits: { memoryMb: 64, cpuS: 1, processes: 64, fileMb: 16, outputKb: 64 } } };
    expect(await verdictOf(shRequest('while :; do :; done', second))).toMatchObject({
      code: 'crash',
      message: expect.stringMatching(/ended by SIG(XCPU|KILL)/),
    });
  });

  test('folders that are deep, closed or full are removed', async () => {
    // Four chains of 250 folders, each moved to the end of the next: a path of 11,000 characters, which no system call takes.
    const deep = `p=abcdefghij; i=1; while [ $i -lt 250 ]; do p="$p/abcdefghij"; i=$((i+1)); done
      mkdir -p "all/$p"; for n in 1 2 3; do mkdir -p "next/$p"; mv all "next/$p/"; mv next all; done`;
    expect(
      await verdictOf(
        shRequest(
          `${deep}; mkdir shut; touch shut/x; chmod 000 shut; i=0; while [ $i -lt 2000 ]; do : > "f$i"; i=$((i+1)); done; report '{"a":0,"b":0}'`,
        ),
      ),
    ).toMatchObject({ rank: [0, 0] });
  });

  test('aborting ends it and what it started', async () => {
    const abort = new AbortController();
    const running = verify(shRequest(`setsid sleep 1000 & sleep 1000`), abort.signal);
    await vi.waitFor(() => expect(processesOf(it.tmpDir).length).toBeGreaterThanOrEqual(3));
    abort.abort();
    expect((await running).verdict).toMatchObject({ code: 'aborted' });
    await vi.waitFor(() => expect(it.leftovers()).toEqual([]));
  });

  test('twenty at once leave no folders and no processes', async () => {
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, i) => verify(shRequest(`setsid sleep 1000 & report '{"a":${i % 10},"b":0}'`))),
    );
    expect(all.map(({ verdict }) => (verdict.kind === 'ranked' ? verdict.rank[0] : verdict))).toEqual(all.map((_, i) => i % 10));
    expect(new Set(all.map(({ runs }) => runs[0]?.nonce)).size).toBe(20);
    expect(it.leftovers()).toEqual([]);
  });
});

test('a contract that needs what this version lacks is not run', async () => {
  expect(await verdictOf(jsRequest('', { verifier: { runsCandidate: true } }))).toMatchObject({
    code: 'infra',
    message: expect.stringMatching(/"separate" only/),
  });
  expect(await verdictOf(jsRequest('', { verifier: { adapter: 'junit' } }))).toMatchObject({
    code: 'infra',
    message: expect.stringMatching(/adapter/),
  });
});

test.each(['counting', 'counting-sh'])('the task %s is verified from its folder', async (name) => {
  const loaded = await loadTask(fileURLToPath(new URL(`../../fixtures/tasks/${name}`, import.meta.url)));
  if (!loaded.ok) throw new Error(loaded.error.message);
  const { contract, seedFiles, seedTree, verifierFiles } = loaded.value;
  const program =
    contract.verifier.kind === 'command' ? await it.service.resolveProgram(contract.verifier.command, loaded.value.info.path) : null;
  if (program !== null && 'error' in program) throw new Error(program.error);
  const { verdict } = await verify({ contract, tree: seedTree, files: seedFiles, verifierFiles, program });
  expect(verdict).toMatchObject({ kind: 'ranked', rank: name === 'counting' ? [12, 1] : [3] });
});

describe('resolveProgram', () => {
  let dir = '';
  beforeAll(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'pawl-resolve-'));
    await mkdir(path.join(dir, 'verifier'));
    await writeFile(path.join(dir, 'verifier/run'), '#!/bin/sh\necho tool 1.2.3\n');
    await writeFile(path.join(dir, 'verifier/plain'), '');
    await chmod(path.join(dir, 'verifier/run'), 0o755);
    await symlink('run', path.join(dir, 'verifier/alias'));
    await chmod(dir, 0o755);
  });
  afterAll(async () => {
    await rm(dir, { recursive: true });
  });
  const resolve = (...command: string[]) => it.service.resolveProgram(command, dir);

  test('a name on the PATH, by its real path', async () => {
    expect(await resolve('sh')).toMatchObject({ path: expect.stringMatching(/^\/(usr\/)?bin\//), version: expect.stringMatching(/./) });
  });
  test('an absolute path, with the version that it prints', async () => {
    expect(await resolve(path.join(dir, 'verifier/alias'))).toEqual({ path: path.join(dir, 'verifier/run'), version: 'tool 1.2.3' });
  });
  test.runIf(process.getuid?.() === 0)('run as root, a program that nobody else can reach is refused', async () => {
    await chmod(dir, 0o700);
    try {
      expect(await resolve(path.join(dir, 'verifier/run'))).toEqual({ error: expect.stringMatching(/may be started by root only/) });
    } finally {
      await chmod(dir, 0o755);
    }
  });
  test('a program of the task stays relative and is known by its bytes', async () => {
    expect(await resolve('verifier/run')).toEqual({ path: 'verifier/run', version: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) });
  });
  test('errors say what was looked for and where', async () => {
    expect(await resolve('pawl-no-such')).toEqual({
      error: expect.stringMatching(/"pawl-no-such" in \/usr\/local\/bin, \/usr\/bin, \/bin/),
    });
    expect(await resolve('verifier/plain')).toEqual({ error: expect.stringMatching(/not executable \(chmod \+x verifier\/plain\)/) });
    expect(await resolve('/no/such')).toEqual({ error: 'there is no program /no/such' });
    expect(await resolve('bin/x')).toEqual({ error: expect.stringMatching(/neither a name/) });
  });
});

describe('when the runner ends', () => {
  test('killed in the middle: no verdict, and what it had started is gone', async () => {
    const own = await startVerifiers();
    try {
      const running = [
        own.service.verify(shRequest('setsid sleep 1000 & sleep 1000'), never),
        own.service.verify(jsRequest('for (;;);'), never),
      ];
      await vi.waitFor(() => expect(processesOf(own.tmpDir).length).toBeGreaterThanOrEqual(3));
      own.runner.kill('SIGKILL');
      for (const { verdict } of await Promise.all(running))
        expect(verdict).toMatchObject({ code: 'infra', message: expect.stringMatching(/process that runs verifiers has ended/) });
      expect(own.leftovers()).toEqual([]);
      expect((await own.service.verify(shRequest(''), never)).verdict).toMatchObject({ code: 'infra' });
      expect(await own.runner.exited).toBe(null);
    } finally {
      await own.stop();
    }
  });

  test('Ctrl-C of a terminal does not reach it, and the signal itself does not end it, also while it loads', async () => {
    const hook = `data:text/javascript,${encodeURIComponent(
      "import { registerHooks } from 'node:module'; registerHooks({ resolve: (name, context, next) => { if (name.endsWith('runner-main.ts')) process.kill(process.pid, 'SIGINT'); return next(name, context); } });",
    )}`;
    const loading = fork(fileURLToPath(runnerEntry), [], { serialization: 'advanced', execArgv: ['--import', hook] });
    const tmpDir = await mkdtemp(path.join(os.tmpdir(), 'pawl-loading-'));
    const exited = new Promise((resolve) => {
      loading.once('exit', resolve);
    });
    try {
      const service = createVerifierService(fromChildProcess(loading), { tmpDir, concurrency: 1 });
      expect((await service.info()).pid).toBe(loading.pid);
    } finally {
      if (loading.connected) loading.disconnect();
      await exited;
      await rm(tmpDir, { recursive: true });
    }
    const groupOf = (pid: number | undefined) => execFileSync('ps', ['-o', 'pgid=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    expect(groupOf(it.runner.pid)).toBe(String(it.runner.pid));
  });

  test('asked to end: it ends what it runs first', async () => {
    const own = await startVerifiers();
    try {
      const running = own.service.verify(shRequest('sleep 1000'), never);
      await vi.waitFor(() => expect(processesOf(own.tmpDir).length).toBeGreaterThanOrEqual(2));
      own.runner.kill();
      expect(await own.runner.exited).toBe(0);
      expect((await running).verdict).toMatchObject({ kind: 'no_verdict' });
      expect(own.leftovers()).toEqual([]);
    } finally {
      await own.stop();
    }
  });

  test('a service clears what an earlier engine left', async () => {
    const own = await startVerifiers();
    try {
      await mkdir(path.join(own.tmpDir, 'v-old/task'), { recursive: true });
      await writeFile(path.join(own.tmpDir, 'keep'), '');
      const second = createVerifierService(createPortPair()[0], { tmpDir: own.tmpDir, concurrency: 1 });
      await vi.waitFor(() => expect(existsSync(path.join(own.tmpDir, 'v-old'))).toBe(false));
      expect(second.concurrency).toBe(1);
      expect(existsSync(path.join(own.tmpDir, 'keep'))).toBe(true);
    } finally {
      await own.stop();
    }
  });
});

describe('as a utility process', () => {
  // The runner sees what Electron gives a utility process: `process.parentPort`, and MessagePorts that arrive through it.
  test('serves the port that it is handed, also one that came early', async () => {
    const tmpDir = await mkdtemp(path.join(os.tmpdir(), 'pawl-utility-'));
    const host = fork(fileURLToPath(new URL('./utility-host.ts', import.meta.url)), [runnerEntry.href], {
      serialization: 'advanced',
      execArgv: [],
    });
    const exited = new Promise((resolve) => {
      host.once('exit', resolve);
    });
    try {
      const service = createVerifierService(fromChildProcess(host), { tmpDir, concurrency: 1 });
      expect((await service.verify(shRequest(`report '{"a":7,"b":0}'`), never)).verdict).toMatchObject({ rank: [7, 0] });
      expect((await service.verify(jsRequest(`return { ...echo, values: { a: 6, b: 0 } };`), never)).verdict).toMatchObject({
        rank: [6, 0],
      });
      expect((await service.info()).pid).toBe(host.pid);
    } finally {
      host.disconnect();
      await exited;
      await rm(tmpDir, { recursive: true });
    }
  });
});

/** Executions that the runner has under way. */
async function activity(): Promise<number> {
  return (await it.service.info()).active;
}
