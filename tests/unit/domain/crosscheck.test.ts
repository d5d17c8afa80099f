// The rules of the cross-check: which tests were added, what they come to, who is put first.
import { describe, expect, test } from 'vitest';
import {
  addedTests,
  compareScores,
  crosscheckContract,
  crosscheckOutcome,
  isOurs,
  testKey,
  testList,
  type TestRun,
  withTestsOf,
} from '#shared/domain/crosscheck.ts';
import { ContractBody, type Contract, type CrosscheckSpec } from '#shared/domain/contract.ts';
import { contractSha } from '#shared/domain/bundle-id.ts';
import { ObligationKey } from '#shared/domain/obligation.ts';
import type { Manifest } from '#shared/domain/tree.ts';
import { NoVerdictCode } from '#shared/domain/verdict.ts';
import { sha256Text } from '#shared/lib/hash.ts';
import { makeContract } from '../../engine/verifiers/support.ts';

const files = (all: Record<string, string>): Manifest =>
  Object.entries(all).map(([path, text]) => ({ mode: 'file' as const, path, sha: sha256Text(text), size: text.length }));
const isTest = (path: string) => path.startsWith('tests/');
const paths = (manifest: Manifest) => manifest.map(({ path }) => path);

describe('added tests', () => {
  const seed = files({ 'src/a.js': 'a', 'tests/old.js': 'old', 'tests/kept.js': 'kept' });

  test('are files that the globs name and the seed does not have so, in tree order', () => {
    const tree = files({ 'tests/é.js': 'new', 'tests/b.js': 'new', 'src/b.js': 'new', 'tests/old.js': 'changed', 'tests/kept.js': 'kept' });
    expect(paths(addedTests(seed, tree, isTest))).toEqual(['tests/b.js', 'tests/old.js', 'tests/é.js']);
    const executable = seed.map((entry) => ({ ...entry, mode: 'exec' as const }));
    expect(paths(addedTests(seed, executable, isTest))).toEqual(['tests/kept.js', 'tests/old.js']);
    expect(addedTests(seed, files({ 'src/a.js': 'x' }), isTest)).toEqual([]);
  });

  test("a tree gets the other's tests with what lies beside them, in place of its own", () => {
    const author = files({ 'src/a.js': 'author', 'tests/x.js': 'x', 'tests/data.json': '{}' });
    const target = files({ 'src/a.js': 'target', 'src/b.js': 'b', 'tests/x.js': 'of the target', 'tests/own.js': 'own' });
    const together = withTestsOf(author, target, isTest);
    expect(together).toEqual({
      ok: true,
      value: files({ 'src/a.js': 'target', 'src/b.js': 'b', 'tests/data.json': '{}', 'tests/x.js': 'x' }),
    });
  });

  test('what has no common tree is said', () => {
    const clash = withTestsOf(files({ 'tests/X.js': 'x' }), files({ 'Tests/x.js': 'source' }), isTest);
    expect(clash).toMatchObject({ ok: false, error: expect.stringContaining('are one on some file systems') });
    expect(withTestsOf(files({ 'tests/x.js': 'x' }), files({ tests: 'a file' }), isTest).ok).toBe(false);
  });
});

describe('the derived contract', () => {
  const plain = makeContract({ verifier: { env: ['SECRET'], adapter: null } });
  const spec: CrosscheckSpec = {
    tests: ['tests/**'],
    kind: 'pure-js',
    command: [],
    file: 'verifier/cross.js',
    isolation: 'separate',
    timeoutMs: 1_234,
  };
  const { sha: _sha, ...body } = { ...plain, crosscheck: spec };
  const contract: Contract = { ...body, sha: contractSha(body) };

  test('has one binary obligation for each test, the program of the cross-check, its time, and no environment', () => {
    const derived = crosscheckContract(contract, spec, 3);
    const { sha, ...rest } = derived;
    expect(ContractBody.parse(rest)).toEqual(rest);
    expect(contractSha(rest)).toBe(sha);
    expect(derived.obligations.map(({ key, cap, kind }) => [key, cap, kind])).toEqual([1, 2, 3].map((i) => [`test:${i}`, 1, 'binary']));
    expect(derived.verifier).toMatchObject({
      kind: 'pure-js',
      file: 'verifier/cross.js',
      runsCandidate: true,
      isolation: 'separate',
      env: [],
    });
    expect(derived.verifier.timeoutsMs).toEqual({ ...contract.verifier.timeoutsMs, run: 1_234 });
    expect(crosscheckContract(contract, spec, 2).sha).not.toBe(sha);
  });

  test('a contract without a cross-check has the hash that it always had', () => {
    expect(contractSha(plain)).toBe(plain.sha);
    expect(contract.sha).not.toBe(plain.sha);
    expect(Object.keys(plain)).not.toContain('crosscheck');
  });

  test('the list names tests by keys that any report can hold, whatever their paths are', () => {
    const hostile = ['tests/"; rm -rf.js', 'tests/é \u2028.js'];
    expect(JSON.parse(testList(hostile))).toEqual({
      tests: [
        { key: 'test:1', path: hostile[0] },
        { key: 'test:2', path: hostile[1] },
      ],
    });
    expect(ObligationKey.safeParse(testKey(199)).success).toBe(true);
  });
});

const ranked = (...rank: number[]): TestRun => ({ kind: 'ranked', rank });
const none = (ours: boolean): TestRun => ({ kind: 'none', ours });
const finalist = (onBase: TestRun | null, ...on: TestRun[]) => ({
  tree: sha256Text(JSON.stringify([onBase, on])),
  tests: onBase === null ? 0 : 2,
  onBase,
  on,
});

describe('the outcome', () => {
  test('each test is one of four on each finalist', () => {
    const { lines, scores } = crosscheckOutcome([finalist(ranked(1, 0), ranked(0, 0), ranked(1, 1)), finalist(null)]);
    expect(lines).toEqual([
      { author: 0, test: 0, counts: true, on: ['fails_on_base_passes_now', 'fails'] },
      { author: 0, test: 1, counts: true, on: ['never_failed', 'fails'] },
    ]);
    expect(scores).toEqual([
      { failedAuthors: 0, failedTests: 0, ofTests: 0 },
      { failedAuthors: 1, failedTests: 2, ofTests: 2 },
    ]);
  });

  test('a test that its own author fails counts for nobody', () => {
    const { lines, scores } = crosscheckOutcome([finalist(ranked(1, 1), ranked(1, 0), ranked(1, 1)), finalist(null)]);
    expect(lines.map(({ counts }) => counts)).toEqual([false, true]);
    expect(scores[1]).toEqual({ failedAuthors: 1, failedTests: 1, ofTests: 1 });
  });

  test("this machine's faults count for nobody, what tests and tree did together counts as not passed", () => {
    const lost = crosscheckOutcome([finalist(ranked(1, 1), ranked(0, 0), none(true)), finalist(null)]);
    expect(lost.lines.map(({ counts, on }) => [counts, on[1]])).toEqual([
      [false, 'error'],
      [false, 'error'],
    ]);
    expect(lost.scores[1]).toEqual({ failedAuthors: 0, failedTests: 0, ofTests: 0 });
    const crashed = crosscheckOutcome([finalist(ranked(1, 1), ranked(0, 0), none(false)), finalist(null)]);
    expect(crashed.scores[1]).toEqual({ failedAuthors: 1, failedTests: 2, ofTests: 2 });
    const onBase = crosscheckOutcome([finalist(none(false), ranked(0, 0), ranked(0, 0)), finalist(null)]);
    expect(onBase.lines.every(({ counts, on }) => !counts && on.every((result) => result === 'error'))).toBe(true);
  });

  test('one author has one voice, however many tests it wrote', () => {
    // The third fails one test of each of two others, the second both tests of the first.
    const { scores } = crosscheckOutcome([
      finalist(ranked(1, 1), ranked(0, 0), ranked(1, 1), ranked(1, 0)),
      finalist(ranked(1, 1), ranked(0, 0), ranked(0, 0), ranked(0, 1)),
      finalist(null),
    ]);
    const [first, second, third] = scores;
    if (first === undefined || second === undefined || third === undefined) throw new Error('three finalists have three scores');
    expect([second.failedTests, third.failedTests]).toEqual([2, 2]);
    expect(compareScores(second, third)).toBeLessThan(0);
    expect(compareScores(first, second)).toBeLessThan(0);
    expect(compareScores(third, third)).toBe(0);
  });
});

test('faults of ours and findings are told apart for every code', () => {
  const ours = NoVerdictCode.options.filter(isOurs);
  expect(ours.toSorted()).toEqual(['aborted', 'budget', 'infra', 'setup_timeout', 'transfer']);
});
