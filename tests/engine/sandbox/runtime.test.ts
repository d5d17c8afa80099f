// The backend of macOS under the attacks of the others, on Linux, where the package that it uses works as well. What it says that it does not
// hold is not asked of it; what no test here can show is in the README of the sandbox.
import { chownSync } from 'node:fs';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { forkRunner } from '#electron/verifiers/fork-runner.ts';
import { lacking } from '#electron/verifiers/sandbox/api.ts';
import { verifierOwner } from '#electron/verifiers/sandbox/unprivileged.ts';
import { never, startVerifiers } from '../verifiers/support.ts';
import { aroundAttacks, type Attack, parentAttacks, verdictAttacks } from './attack-list.ts';
import { machineAttacks, startMachine } from './machine.ts';
import { type Given, goodCode, missingHere, processesWith, rankOf, repairRequest } from './support.ts';

const entry = new URL('../../support/engine/runtime-runner.ts', import.meta.url);

/** The package makes its sandbox for whoever it is itself: where this is root, its runner is the user that verifiers belong to. */
const start = () =>
  startVerifiers(2, (tmpDir) => {
    const owner = verifierOwner();
    if (typeof owner === 'string') throw new Error(owner);
    if (owner !== null) chownSync(tmpDir, owner.uid, owner.gid);
    return forkRunner(entry, owner);
  });

const machine = await startMachine();
let it: Awaited<ReturnType<typeof start>> | null = null;
const missing = await (async () => {
  const here = await missingHere();
  if (here !== null) return here;
  it = await start();
  const probe = await it.service.sandbox();
  return probe.available ? null : probe.message;
})();
if (missing !== null) process.stderr.write(`SKIPPED the sandbox of macOS under attack: ${missing}\n`);

const service = () => {
  if (it === null) throw new Error('there is no runner');
  return it.service;
};
afterAll(async () => {
  await it?.stop();
  await machine.close();
});
afterEach(() => {
  const left = it?.leftovers() ?? [];
  if (left.length > 0) throw new Error(`the test left ${left.join(', ')}`);
});

const verify = (files: Readonly<Record<string, string>>, given: Given) => service().verify(repairRequest(files, given), never);
const probe = missing === null ? await service().sandbox() : null;
const lacks = probe === null ? [] : lacking(probe.guarantees);

describe.skipIf(missing !== null)('sandbox-runtime', () => {
  test('says by name what it does not hold', () => {
    expect(probe).toMatchObject({ available: true, backend: 'sandbox-runtime', experimental: true });
    expect(lacks).toEqual(['scratch', 'processes', 'memory', 'systemCalls']);
    for (const name of ['limits.memory_mb', 'limits.processes', 'a filter of system calls']) expect(probe?.message).toContain(name);
  });

  test.each(['separate', 'shared'] as const)('%s: the seed and its repair get their ranks', async (isolation) => {
    expect(rankOf(await verify({}, { isolation }))).toEqual([1, 3]);
    expect(rankOf(await verify({ 'numbers_.py': goodCode }, { isolation }))).toEqual([0, 0]);
  });

  const all: readonly Attack[] = [...verdictAttacks, ...aroundAttacks, ...parentAttacks, ...machineAttacks(machine)];
  const asked = all.filter(({ needs, impossible }) => (needs === null || !lacks.includes(needs)) && (impossible?.() ?? null) === null);
  const left = all.filter(({ needs }) => needs !== null && lacks.includes(needs)).map(({ name }) => name);
  if (missing === null) process.stderr.write(`NOT ASKED of sandbox-runtime, which says that it does not hold them: ${left.join(', ')}\n`);
  test.each(asked)('$name', async ({ files, real, defeat }) => {
    const held = await verify(files, real);
    expect(rankOf(held), `the verdict was ${JSON.stringify(held.verdict)}`).toEqual(defeat);
  });

  test('calls: words, streams, exit codes, and what could not be set up', async () => {
    const check = `
import json, os, subprocess
run = [os.environ["PAWL_RUN"], "--"]
def call(*argv, **more):
    return subprocess.run([*run, *argv], capture_output=True, text=True, **more)
got = [
    call("printf", "%s|", "a b", "", "$(x)", "it's", "*", "a=b").stdout,
    call("cat", input="in").stdout,
    call("sh", "-c", "echo err >&2; exit 7").stderr,
    str(call("sh", "-c", "exit 7").returncode),
    str(call("sh", "-c", "kill -9 $$").returncode),
    str(call("no-such-program").returncode),
    call("sh", "-c", "env | sort | grep -v '^_=\\\\|^PWD=\\\\|^SHLVL=\\\\|^OLDPWD=\\\\|^HOME=\\\\|^TMPDIR=' | cut -d= -f1 | tr '\\\\n' ' '").stdout,
    call("sh", "-c", "while :; do :; done").returncode,
]
echo = {key: os.environ["PAWL_" + key.upper()] for key in ("nonce", "tree", "contract")}
json.dump({**echo, "values": {"clamp": 0, "middle": 0}, "details": {"clamp": json.dumps(got)}}, open(os.environ["PAWL_REPORT"], "w"))
`;
    const { verdict } = await verify(
      {},
      { limits: { cpuS: 1 }, verifierFiles: [{ path: 'verifier/check.py', mode: 'file', bytes: new TextEncoder().encode(check) }] },
    );
    const details = verdict.kind === 'ranked' ? verdict.details : {};
    expect(JSON.parse(details['clamp'] ?? '[]')).toEqual([
      "a b||$(x)|it's|*|a=b|",
      'in',
      'err\n',
      '7',
      '137',
      '127',
      'LANG LC_ALL MKL_NUM_THREADS OMP_NUM_THREADS OPENBLAS_NUM_THREADS PATH PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONNOUSERSITE SOURCE_DATE_EPOCH TZ ',
      expect.toSatisfy((code: number) => code === 137 || code === 152),
    ]);
  });

  test('a sandbox that cannot be started is our fault: no verdict', async () => {
    const check = `import os, shutil, subprocess\nshutil.rmtree(os.environ["PAWL_CANDIDATE"])\nsubprocess.run([os.environ["PAWL_RUN"], "--", "true"])\n`;
    const { verdict } = await verify(
      {},
      { verifierFiles: [{ path: 'verifier/check.py', mode: 'file', bytes: new TextEncoder().encode(check) }] },
    );
    expect(verdict).toMatchObject({ kind: 'no_verdict', code: 'infra' });
  });

  test('a timeout ends everything that stays in its group', async () => {
    const program = `import time\ntime.sleep(3141)\n`;
    const check = `import os, subprocess\nsubprocess.run([os.environ["PAWL_RUN"], "--", "python3", "-B", "attack.py", "pawl-test-runtime"])\n`;
    const held = await verify(
      { 'attack.py': program },
      { runMs: 1_500, verifierFiles: [{ path: 'verifier/check.py', mode: 'file', bytes: new TextEncoder().encode(check) }] },
    );
    expect(rankOf(held)).toEqual([3, 3]);
    expect(processesWith('pawl-test-runtime')).toEqual([]);
  });
});
