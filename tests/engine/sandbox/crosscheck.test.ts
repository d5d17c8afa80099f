// The cross-check of a task whose tests are programs: one candidate's tests meet another's code in the sandbox, and nowhere else.
import { existsSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { crosscheck } from '#electron/core/selection/crosscheck.ts';
import { manifestOf } from '#electron/verifiers/candidate.ts';
import type { Contract, CrosscheckSpec } from '#shared/domain/contract.ts';
import type { MadeCrosscheck } from '#shared/domain/selection.ts';
import { treeId } from '#shared/domain/tree-id.ts';
import type { Manifest, TreeFile } from '#shared/domain/tree.ts';
import { sha256Hex } from '#shared/lib/hash.ts';
import { makeContract, never, startVerifiers, textFile } from '../verifiers/support.ts';
import { goodCode, missingHere, python, seedCode } from './support.ts';

const missing = await missingHere();
if (missing !== null) process.stderr.write(`SKIPPED the cross-check in the sandbox: ${missing}\n`);

let it: Awaited<ReturnType<typeof startVerifiers>>;
beforeAll(async () => {
  it = await startVerifiers();
});
afterAll(async () => {
  await it.stop();
});

/** A test passes that ends with exit code 0. Where there is a PAWL_RUN, each runs in a sandbox of its own, else in this one. */
const program = `
import json, os, subprocess
tests = json.load(open('verifier/crosscheck.json'))['tests']
run = [os.environ['PAWL_RUN'], '--'] if 'PAWL_RUN' in os.environ else []
start = 'import runpy, sys; sys.path.insert(0, "."); runpy.run_path(sys.argv[1], run_name="__main__")'
values = {}
for test in tests:
    argv = [*run, '${python}', '-B', '-c', start, test['path']]
    ended = subprocess.run(argv, cwd=os.environ['PAWL_CANDIDATE'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    values[test['key']] = 0 if ended.returncode == 0 else 1
echo = {key: os.environ['PAWL_' + key.upper()] for key in ('nonce', 'tree', 'contract')}
json.dump({**echo, 'values': values}, open(os.environ['PAWL_REPORT'], 'w'))
`;

const verifierFiles = [textFile('verifier/cross.py', program), textFile('verifier/secret.txt', 'the answer')];

type Files = Readonly<Record<string, string>>;

async function check(isolation: CrosscheckSpec['isolation'], trees: readonly [base: Files, ...Files[]]): Promise<MadeCrosscheck> {
  const blobs = new Map<string, Uint8Array>();
  const manifests = new Map<string, Manifest>();
  const keep = (files: readonly TreeFile[]): Manifest => {
    for (const { bytes } of files) blobs.set(sha256Hex(bytes), bytes);
    return manifestOf(files);
  };
  const ids = trees.map((files) => {
    const manifest = keep(Object.entries(files).map(([name, text]) => textFile(name, text)));
    manifests.set(treeId(manifest), manifest);
    return treeId(manifest);
  });
  const spec: CrosscheckSpec = {
    tests: ['tests/*.py'],
    kind: 'command',
    command: ['python3', 'verifier/cross.py'],
    file: null,
    isolation,
    timeoutMs: 60_000,
  };
  const limits = { memoryMb: 256, cpuS: 20, processes: 32, fileMb: 4, outputKb: 64 };
  const contract: Contract = { ...makeContract({ verifier: { files: keep(verifierFiles), limits } }), crosscheck: spec };
  const [base = '', ...finalists] = ids;
  const store = {
    getBlob: (sha: string) => Promise.resolve(blobs.get(sha) ?? null),
    getManifest: (tree: string) => Promise.resolve(manifests.get(tree) ?? null),
  };
  const ended = finalists.map((tree, i) => ({ tree, runs: [i] }));
  const { crosscheck: found } = await crosscheck({ store, verifiers: it.service }, { contract, spec, base, ended }, () => {}, never);
  if (found.kind === 'none') throw new Error(`there is no cross-check: ${found.message}`);
  return found;
}

/** Right for the obligations that a verifier might have, wrong where low is above high. */
const otherCode = goodCode.replace('max(low, min(high, value))', 'min(high, max(low, value))');
const base: Files = { 'numbers_.py': seedCode };

describe.skipIf(missing !== null).each(['separate', 'shared'] as const)('isolation = %s', (isolation) => {
  test('the test of one finalist fails on the other', async () => {
    const tests = { 'tests/edge.py': 'from numbers_ import clamp\nassert clamp(5, 9, 1) == 9\n' };
    const { results, finalists } = await check(isolation, [base, { 'numbers_.py': goodCode, ...tests }, { 'numbers_.py': otherCode }]);
    expect(results).toEqual([{ author: 0, path: 'tests/edge.py', counts: true, on: [expect.stringMatching(/passes_now|never/), 'fails'] }]);
    expect(finalists.map(({ failedTests, ofTests }) => [failedTests, ofTests])).toEqual([
      [0, 0],
      [1, 1],
    ]);
    expect(it.leftovers()).toEqual([]);
  });

  test('tests reach neither this machine nor the other tree, and leave nothing behind', async () => {
    const trace = path.join(tmpdir(), `pawl-crosscheck-${process.pid}`);
    const outside = {
      'tests/a_write.py': `open(${JSON.stringify(trace)}, 'w').write('out')\n`,
      'tests/b_net.py': "import socket\nsocket.create_connection(('127.0.0.1', 22), 1)\n",
      'tests/c_tree.py': "open('numbers_.py', 'a').write('x = 1')\n",
      'tests/d_stay.py': 'import os\nif os.fork() == 0:\n    os.setsid()\n    while True: pass\n',
      'tests/e_home.py':
        "import os, sys\nsys.exit(0 if os.path.exists('/root/.ssh') or os.path.exists('/home') and os.listdir('/home') else 1)\n",
    };
    try {
      const { results } = await check(isolation, [base, { 'numbers_.py': goodCode, ...outside }, { 'numbers_.py': otherCode }]);
      const passed = results.filter(({ on }) => on.some((result) => result !== 'fails')).map(({ path: name }) => name);
      // Writing to the sandbox's own /tmp is no harm, a fork that stays is ended with it.
      expect(passed.toSorted()).toEqual(['tests/a_write.py', 'tests/d_stay.py']);
      expect(existsSync(trace)).toBe(false);
      expect(it.leftovers()).toEqual([]);
    } finally {
      rmSync(trace, { force: true });
    }
  });
});

describe.skipIf(missing !== null)('what a test can see of the task', () => {
  const look = "import glob, sys\nsys.exit(0 if glob.glob('../verifier/*') or glob.glob('/task/verifier/*') else 1)\n";
  const trees: readonly [Files, ...Files[]] = [base, { 'numbers_.py': goodCode, 'tests/look.py': look }, { 'numbers_.py': otherCode }];

  test('separate: nothing; shared: the verifier as well, which is why it is weaker', async () => {
    const seen = async (isolation: CrosscheckSpec['isolation']) => (await check(isolation, trees)).results[0]?.on;
    expect(await seen('separate')).toEqual(['fails', 'fails']);
    expect(await seen('shared')).toEqual(['never_failed', 'never_failed']);
  });
});
