// The cross-check with a verifier that answers what a test says: what it asks for, where it ends early, and its limits.
import { describe, expect, test } from 'vitest';
import { crosscheck, type CrosscheckInput, type CrosscheckResult } from '#electron/core/selection/crosscheck.ts';
import type { Verification, VerifierService, VerifyRequest } from '#electron/verifiers/api.ts';
import { manifestOf } from '#electron/verifiers/candidate.ts';
import { noGuarantees } from '#electron/verifiers/sandbox/api.ts';
import type { Contract, CrosscheckSpec } from '#shared/domain/contract.ts';
import { maxFinalists, maxTests } from '#shared/domain/crosscheck.ts';
import type { MadeCrosscheck } from '#shared/domain/selection.ts';
import { treeId } from '#shared/domain/tree-id.ts';
import type { Manifest, TreeFile } from '#shared/domain/tree.ts';
import type { NoVerdictCode } from '#shared/domain/verdict.ts';
import { sha256Hex } from '#shared/lib/hash.ts';
import { makeContract, never, textFile } from '../verifiers/support.ts';

const spec: CrosscheckSpec = {
  tests: ['tests/*'],
  kind: 'command',
  command: ['python3', 'verifier/cross.py'],
  file: null,
  isolation: 'separate',
  timeoutMs: 1_000,
};
const verifierFile = textFile('verifier/check.js', 'function verify() {}');

type Files = Readonly<Record<string, string>>;

/** Trees in a store that is nothing but them. */
function stored(trees: readonly Files[]) {
  const blobs = new Map<string, Uint8Array>();
  const manifests = new Map<string, Manifest>();
  const keep = (files: readonly TreeFile[]): Manifest => {
    for (const { bytes } of files) blobs.set(sha256Hex(bytes), bytes);
    return manifestOf(files);
  };
  const ids = trees.map((files) => {
    const manifest = keep(Object.entries(files).map(([path, text]) => textFile(path, text)));
    manifests.set(treeId(manifest), manifest);
    return treeId(manifest);
  });
  const contract: Contract = { ...makeContract({ verifier: { files: keep([verifierFile]) } }), crosscheck: spec };
  const [base = '', ...finalists] = ids;
  const store = {
    getBlob: (sha: string) => Promise.resolve(blobs.get(sha) ?? null),
    getManifest: (tree: string) => Promise.resolve(manifests.get(tree) ?? null),
  };
  const input: CrosscheckInput = { contract, spec, base, ended: finalists.map((tree, i) => ({ tree, runs: [i] })) };
  return { store, input };
}

type Answer = readonly number[] | NoVerdictCode;

/** A service that gives each verification what `answer` says. */
function service(answer: (request: VerifyRequest) => Answer, more: Partial<VerifierService> = {}) {
  const asked: VerifyRequest[] = [];
  const verifiers: VerifierService = {
    concurrency: 2,
    lost: () => false,
    sandbox: () =>
      Promise.resolve({
        available: true,
        backend: 'test',
        version: null,
        experimental: false,
        guarantees: noGuarantees,
        message: 'yes',
        remedy: null,
      }),
    resolveProgram: ([name = '']) => Promise.resolve({ path: `/usr/bin/${name}`, version: '1' }),
    verify: (request): Promise<Verification> => {
      asked.push(request);
      const said = answer(request);
      const run = {
        id: `vrun_${asked.length}`,
        nonce: 'a'.repeat(32),
        tree: request.tree,
        startedAt: '2026-01-02T00:00:00.000Z',
        durationMs: 1,
        exitCode: 0,
        signal: null,
        report: null,
        output: null,
        result: typeof said === 'string' ? said : 'ranked',
      };
      const verdict: Verification['verdict'] =
        typeof said === 'string'
          ? { kind: 'no_verdict', code: said, message: `it is ${said}`, runs: [] }
          : { kind: 'ranked', rank: [...said], runs: [], stable: true, advisory: {}, details: {} };
      return Promise.resolve({ verdict, runs: [run], blobs: [] });
    },
    ...more,
  };
  return { verifiers, asked };
}

const made = ({ crosscheck: found }: CrosscheckResult): MadeCrosscheck => {
  if (found.kind === 'none') throw new Error(`there is no cross-check: ${found.message}`);
  return found;
};
const quiet = (): void => {};

const seed: Files = { 'src/a': 'seed', 'tests/seed': 'of the seed' };
const first: Files = { 'src/a': 'first', 'tests/seed': 'of the seed', 'tests/one': '1', 'tests/data': 'beside' };
const second: Files = { 'src/a': 'second', 'tests/seed': 'of the seed' };

describe('what is asked for', () => {
  test('fresh trees of code and tests, the list of tests beside the canonical files, and the sandbox whatever the runs were allowed', async () => {
    const { store, input } = stored([seed, first, second]);
    const { verifiers, asked } = service(() => [0, 0]);
    const result = await crosscheck({ store, verifiers }, input, quiet, never);
    expect(asked).toHaveLength(3);
    for (const { contract, files, verifierFiles, program, tree, unsandboxed } of asked) {
      expect(tree).toBe(treeId(manifestOf(files)));
      expect(files.map(({ path }) => path)).toEqual(['src/a', 'tests/data', 'tests/one', 'tests/seed']);
      expect(contract.verifier).toMatchObject({ kind: 'command', runsCandidate: true, isolation: 'separate', env: [] });
      expect(program).toEqual({ path: '/usr/bin/python3', version: '1' });
      expect(unsandboxed).toBeUndefined();
      expect(verifierFiles.map(({ path }) => path)).toEqual(['verifier/check.js', 'verifier/crosscheck.json']);
      const list: unknown = JSON.parse(new TextDecoder().decode(verifierFiles[1]?.bytes));
      expect(list).toEqual({
        tests: [
          { key: 'test:1', path: 'tests/data' },
          { key: 'test:2', path: 'tests/one' },
        ],
      });
    }
    const code = asked.map(({ files }) => new TextDecoder().decode(files[0]?.bytes));
    expect(code).toEqual(['seed', 'first', 'second']);
    expect(result.trees.map(({ tree }) => tree)).toEqual(asked.map(({ tree }) => tree));
  });

  test('faults are repeated as the contract says, and what is left of them counts for nobody', async () => {
    const { store, input } = stored([seed, first, second]);
    const contract = { ...input.contract, measurement: { ...input.contract.measurement, infraRetries: 2 } };
    const { verifiers, asked } = service(({ files }) => (new TextDecoder().decode(files[0]?.bytes) === 'second' ? 'infra' : [0, 0]));
    const { cells, results, finalists } = made(await crosscheck({ store, verifiers }, { ...input, contract }, quiet, never));
    expect(asked).toHaveLength(5);
    expect(cells.map(({ executions }) => executions.length)).toEqual([1, 1, 3]);
    expect(cells[2]?.result).toEqual({ kind: 'none', code: 'infra', message: 'it is infra' });
    expect(results.map(({ counts, on }) => [counts, ...on])).toEqual([
      [false, 'never_failed', 'error'],
      [false, 'never_failed', 'error'],
    ]);
    expect(finalists.map(({ failedTests, ofTests }) => [failedTests, ofTests])).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  test('trees that cannot be put together are no verification, and the tests are not passed there', async () => {
    const { store, input } = stored([seed, first, { 'src/a': 'second', 'Tests/one': 'a source file' }]);
    const { verifiers, asked } = service(() => [0, 0]);
    const { cells, finalists } = made(await crosscheck({ store, verifiers }, input, quiet, never));
    expect(asked).toHaveLength(2);
    expect(cells[2]).toMatchObject({
      tree: null,
      executions: [],
      result: { kind: 'none', message: expect.stringMatching(/one on some file systems/) },
    });
    expect(finalists[1]).toMatchObject({ failedAuthors: 1, failedTests: 2, ofTests: 2 });
  });

  test('a rank that no such contract allows is malformed', async () => {
    const { store, input } = stored([seed, first, second]);
    const { verifiers } = service(() => [0, 2]);
    const { cells } = made(await crosscheck({ store, verifiers }, input, quiet, never));
    expect(cells.map(({ result }) => (result.kind === 'none' ? result.code : 'ranked'))).toEqual(['malformed', 'malformed', 'malformed']);
  });
});

describe('limits', () => {
  test('so many tests of one finalist, so many finalists; the others are counted', async () => {
    const many = Object.fromEntries(Array.from({ length: maxTests + 3 }, (_, i) => [`tests/t${String(i).padStart(4, '0')}`, `${i}`]));
    const trees = Array.from({ length: maxFinalists + 2 }, (_, i): Files => (i === 0 ? { ...second, ...many } : { 'src/a': `${i}` }));
    const { store, input } = stored([seed, ...trees]);
    const { verifiers, asked } = service(({ contract }) => contract.obligations.map(() => 0));
    const { finalists, leftOut, cells } = made(await crosscheck({ store, verifiers }, input, quiet, never));
    expect([finalists[0]?.tests.length, finalists[0]?.omitted]).toEqual([maxTests, 3]);
    expect(finalists).toHaveLength(maxFinalists);
    expect(leftOut).toEqual(input.ended.slice(maxFinalists).map(({ tree }) => tree));
    expect([asked.length, cells.length]).toEqual([maxFinalists + 1, maxFinalists + 1]);
  });
});

describe('where it is not made', () => {
  test('without a sandbox', async () => {
    const { store, input } = stored([seed, first, second]);
    const probe = {
      available: false,
      backend: null,
      version: null,
      experimental: false,
      guarantees: noGuarantees,
      message: 'bwrap is missing',
      remedy: null,
    };
    const { verifiers, asked } = service(() => [0], { sandbox: () => Promise.resolve(probe) });
    expect(await crosscheck({ store, verifiers }, input, quiet, never)).toEqual({
      crosscheck: { kind: 'none', reason: 'no_sandbox', message: expect.stringContaining('bwrap is missing') },
      blobs: [],
      trees: [],
    });
    // A cross-check in QuickJS needs none of the system.
    const pure: CrosscheckSpec = { ...spec, kind: 'pure-js', command: [], file: 'verifier/cross.js' };
    await crosscheck({ store, verifiers }, { ...input, spec: pure }, quiet, never);
    expect(asked.length).toBeGreaterThan(0);
  });

  test('without its program', async () => {
    const { store, input } = stored([seed, first, second]);
    const { verifiers, asked } = service(() => [0], { resolveProgram: () => Promise.resolve({ error: 'there is no python3' }) });
    const { crosscheck: found } = await crosscheck({ store, verifiers }, input, quiet, never);
    expect(found).toEqual({ kind: 'none', reason: 'no_program', message: expect.stringContaining('there is no python3') });
    expect(asked).toEqual([]);
    const own: CrosscheckSpec = { ...spec, command: ['verifier/check.js'] };
    const { program } = made(
      await crosscheck({ store, verifiers: service(() => [0, 0]).verifiers }, { ...input, spec: own }, quiet, never),
    );
    expect(program).toEqual({ path: 'verifier/check.js', version: `sha256:${sha256Hex(verifierFile.bytes)}` });
  });
});
