// The cross-check of runs that ended equally well: the tests that each of them has added are run on the trees of the others. It chooses
// among finished runs and does nothing else; no commit and no chain ever depends on it. Pure.
import { z } from 'zod';
import { err, ok, type Result } from '../lib/result.ts';
import { contractSha } from './bundle-id.ts';
import type { Contract, CrosscheckSpec } from './contract.ts';
import type { Sha } from './ids.ts';
import { checkManifest, sortManifest } from './tree-id.ts';
import type { Manifest } from './tree.ts';
import type { NoVerdictCode } from './verdict.ts';

/** Tests that are run of one finalist at most; how many more there were is said. */
export const maxTests = 200;

/** Finalists, by their trees, that are checked against each other at most: every one's tests run on every other. */
export const maxFinalists = 12;

/** Where the program of a cross-check finds which tests it is to run: {tests: [{key, path}]}. Laid out beside the verifier's files. */
export const testListPath = 'verifier/crosscheck.json';

/** Whether a path inside the artifact is one of a candidate's tests. */
export type IsTest = (path: string) => boolean;

/**
 * The tests that a candidate has added: files of `tree` that the task's globs name and that are not the same in `seed`, in tree order. A
 * test of the seed that was changed is the candidate's own as well.
 */
export function addedTests(seed: Manifest, tree: Manifest, isTest: IsTest): Manifest {
  const before = new Map(seed.map((entry) => [entry.path, entry]));
  return sortManifest(tree).filter(({ path, sha, mode }) => {
    const known = before.get(path);
    return isTest(path) && (known?.sha !== sha || known.mode !== mode);
  });
}

/**
 * `target` as its author would have tested it: its own tests taken out, and all tests of `author` (with what lies beside them, as the
 * globs say) put in. The error says why the two cannot be put together.
 */
export function withTestsOf(author: Manifest, target: Manifest, isTest: IsTest): Result<Manifest, string> {
  const checked = checkManifest([...target.filter(({ path }) => !isTest(path)), ...author.filter(({ path }) => isTest(path))]);
  return checked.ok ? ok(sortManifest(checked.value)) : err(checked.error.message);
}

/** The key under which the program reports test `i`, counted from 0: paths are hostile and may be no keys. */
export const testKey = (i: number): string => `test:${i + 1}`;

/** The bytes of the list at `testListPath`, as text. */
export function testList(paths: readonly string[]): string {
  return `${JSON.stringify({ tests: paths.map((path, i) => ({ key: testKey(i), path })) }, null, 1)}\n`;
}

/**
 * The contract under which one finalist's tests are run: the task's own, with a binary obligation for each test (0 passes, 1 does not) and
 * the program of the cross-check for the verifier's. So a cross-check is judged by the rules of every verification: a nonce, fresh copies,
 * a whole report or none. It hands no variable of the environment on.
 */
export function crosscheckContract({ sha: _sha, ...body }: Contract, spec: CrosscheckSpec, tests: number): Contract {
  const { kind, command, file, isolation, timeoutMs } = spec;
  const { crosscheck: _spec, ...rest } = body;
  const made = {
    ...rest,
    obligations: Array.from({ length: tests }, (_, i) => ({
      key: testKey(i),
      title: testKey(i),
      cap: 1,
      kind: 'binary' as const,
      visibility: 'full' as const,
      onCandidateTimeout: 'cap' as const,
      missing: 'malformed' as const,
      aggregate: 'worst' as const,
    })),
    advisory: [],
    from: Array.from({ length: tests }, () => null),
    verifier: {
      ...body.verifier,
      kind,
      command,
      file,
      runsCandidate: true,
      isolation,
      adapter: null,
      report: null,
      env: [],
      timeoutsMs: { ...body.verifier.timeoutsMs, run: timeoutMs },
    },
    auto: [],
  };
  return { ...made, sha: contractSha(made) };
}

/**
 * What the tests of one finalist came to on one tree: 0 or 1 for each, or why there is nothing. `ours`: the machine's fault, which says
 * nothing about the tree.
 */
export type TestRun = { readonly kind: 'ranked'; readonly rank: readonly number[] } | { readonly kind: 'none'; readonly ours: boolean };

/** Whether a missing verdict is the fault of this machine, whatever the tests and the tree are. */
export function isOurs(code: NoVerdictCode): boolean {
  switch (code) {
    case 'setup_timeout':
    case 'transfer':
    case 'infra':
    case 'budget':
    case 'aborted':
      return true;
    case 'crash':
    case 'parse':
    case 'malformed':
    case 'attestation':
    case 'tampered':
    case 'verifier_timeout':
      return false;
    default:
      return code satisfies never;
  }
}

/** One test on one tree, beside the same test on the base that all runs began with. */
export const TestResult = z.enum(['fails_on_base_passes_now', 'never_failed', 'fails', 'error']);
export type TestResult = z.infer<typeof TestResult>;

/** `error`: without a result on the base or on the tree there is nothing to say about this test. */
function testResult(base: TestRun, target: TestRun, test: number): TestResult {
  if (base.kind === 'none' || target.kind === 'none') return 'error';
  if (target.rank[test] !== 0) return 'fails';
  return base.rank[test] === 0 ? 'never_failed' : 'fails_on_base_passes_now';
}

const passes = (result: TestResult): boolean => result === 'fails_on_base_passes_now' || result === 'never_failed';

/** One finalist: a tree, however many runs ended at it. */
export type CheckedFinalist = {
  readonly tree: Sha;
  readonly tests: number;
  /** Its tests on the base; null without any. */
  readonly onBase: TestRun | null;
  /** Its tests on every finalist in their order, itself included; empty without any. */
  readonly on: readonly TestRun[];
};

export type TestLine = {
  /** Position of the finalist whose test it is, and of the test among its own. */
  readonly author: number;
  readonly test: number;
  /** A test counts that its own author's tree passes, and that could be run on all trees. */
  readonly counts: boolean;
  /** On every finalist, in their order. */
  readonly on: readonly TestResult[];
};

export type FinalistScore = {
  /** Other finalists of whose counting tests it does not pass all. */
  readonly failedAuthors: number;
  /** Counting tests of others that it does not pass, of so many. */
  readonly failedTests: number;
  readonly ofTests: number;
};

export type CrosscheckOutcome = { readonly lines: readonly TestLine[]; readonly scores: readonly FinalistScore[] };

/**
 * Every test on every finalist, and what that says of each. A test that its author's own tree does not pass counts for nobody, nor do
 * tests of an author that this machine failed to run somewhere. What cannot be run to its end for another reason is not passed.
 */
export function crosscheckOutcome(finalists: readonly CheckedFinalist[]): CrosscheckOutcome {
  const lines = finalists.flatMap(({ tests, onBase, on }, author): TestLine[] => {
    if (onBase === null) return [];
    const lost = [onBase, ...on].some((run) => run.kind === 'none' && run.ours);
    return Array.from({ length: tests }, (_, test) => {
      const results = on.map((target) => testResult(onBase, target, test));
      const own = results[author];
      return { author, test, counts: !lost && own !== undefined && passes(own), on: results };
    });
  });
  const scores = finalists.map((_, i): FinalistScore => {
    const others = lines.filter(({ author, counts }) => counts && author !== i);
    const failed = others.filter(({ on }) => {
      const result = on[i];
      return result === undefined || !passes(result);
    });
    return { failedAuthors: new Set(failed.map(({ author }) => author)).size, failedTests: failed.length, ofTests: others.length };
  });
  return { lines, scores };
}

/**
 * Which of two finalists the cross-check puts first: that against which fewer of the others have a test, then that with fewer failed tests.
 * One author has one voice, however many tests it wrote.
 */
export function compareScores(a: FinalistScore, b: FinalistScore): number {
  return a.failedAuthors - b.failedAuthors || a.failedTests - b.failedTests;
}
