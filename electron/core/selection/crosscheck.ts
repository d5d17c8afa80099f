// The cross-check of finished runs: each finalist's added tests run on the base and on every finalist's tree, through the verifier service,
// on copies from the store. Tests and trees are candidates' work; what runs them is the task's own program, in the sandbox.
import { writableMatcher } from '#shared/domain/writable.ts';
import { mapBounded } from '#electron/governor/bounded.ts';
import { measure, type Measurement } from '#electron/governor/measure.ts';
import { verifyDeadlineMs } from '#electron/governor/reservation.ts';
import type { BlobInput, Store, TreeInput } from '#electron/store/api.ts';
import type { VerifierService } from '#electron/verifiers/api.ts';
import type { Contract, CrosscheckSpec } from '#shared/domain/contract.ts';
import {
  addedTests,
  type CheckedFinalist,
  crosscheckContract,
  crosscheckOutcome,
  isOurs,
  maxFinalists,
  maxTests,
  testList,
  testListPath,
  type TestRun,
  withTestsOf,
} from '#shared/domain/crosscheck.ts';
import type { Sha } from '#shared/domain/ids.ts';
import { validateRank } from '#shared/domain/rank.ts';
import type { MadeCrosscheck, NoCrosscheck, Selection, SelectionCell } from '#shared/domain/selection.ts';
import { treeId } from '#shared/domain/tree-id.ts';
import type { Manifest, TreeFile } from '#shared/domain/tree.ts';
import { ensure } from '#shared/lib/assert.ts';
import { loadFiles } from '../runs/stored-files.ts';

export type CrosscheckDeps = {
  readonly store: Pick<Store, 'getManifest' | 'getBlob'>;
  readonly verifiers: VerifierService;
};

/** Trees at which runs that tie in potential and rank ended, in the order of their first runs, and which runs those are. */
export type Ended = { readonly tree: Sha; readonly runs: readonly number[] };

export type CrosscheckInput = {
  readonly contract: Contract;
  /** That of the contract. */
  readonly spec: CrosscheckSpec;
  /** The tree that all runs began with. */
  readonly base: Sha;
  readonly ended: readonly Ended[];
};

export type CrosscheckResult = {
  readonly crosscheck: Selection['crosscheck'];
  /** What the record names and the store does not hold yet. */
  readonly blobs: readonly BlobInput[];
  readonly trees: readonly TreeInput[];
};

/** The result where there is no cross-check. */
export const noCrosscheck = (reason: NoCrosscheck, message: string): CrosscheckResult => ({
  crosscheck: { kind: 'none', reason, message: message.toWellFormed() },
  blobs: [],
  trees: [],
});

type Author = { readonly tree: Sha; readonly manifest: Manifest; readonly tests: Manifest; readonly omitted: number };

/** One set of tests on one tree; `contract` says how many tests there are. */
type Planned = { readonly author: number; readonly target: number | null; readonly manifest: Manifest | string };

type Made = { readonly cell: SelectionCell; readonly run: TestRun; readonly blobs: readonly BlobInput[]; readonly tree: TreeInput | null };

/**
 * Makes the cross-check, or says why there is none. `onProgress` is told after each set of tests on one tree. When `signal` aborts it comes
 * to its end early, with results that mean nothing: the caller asks the signal.
 */
export async function crosscheck(
  { store, verifiers }: CrosscheckDeps,
  { contract, spec, base, ended }: CrosscheckInput,
  onProgress: (done: number, of: number) => void,
  signal: AbortSignal,
): Promise<CrosscheckResult> {
  const isTest = writableMatcher({ writable: spec.tests, protectedPaths: [] });
  const manifestOf = async (tree: Sha): Promise<Manifest> => ensure(await store.getManifest(tree), `tree ${tree} in the store`);
  const seed = await manifestOf(base);
  const checked = ended.slice(0, maxFinalists);
  const authors = await Promise.all(
    checked.map(async ({ tree }): Promise<Author> => {
      const manifest = await manifestOf(tree);
      const added = addedTests(seed, manifest, isTest);
      return { tree, manifest, tests: added.slice(0, maxTests), omitted: Math.max(0, added.length - maxTests) };
    }),
  );
  if (authors.every(({ tests }) => tests.length === 0)) return noCrosscheck('no_tests', 'none of the finalists has added a test');
  // Whatever the runs themselves were allowed: one candidate's tests meet another's code in a sandbox or not at all.
  const sandbox = spec.kind === 'pure-js' ? null : await verifiers.sandbox();
  if (sandbox?.available === false)
    return noCrosscheck('no_sandbox', `it runs candidates' code, which needs a sandbox: ${sandbox.message}`);
  const program = await programOf(verifiers, contract, spec);
  if (program !== null && 'error' in program) return noCrosscheck('no_program', program.error);

  const verifierFiles = await loadFiles(store, contract.verifier.files);
  const planned = authors.flatMap(({ manifest, tests }, author): Planned[] => {
    if (tests.length === 0) return [];
    const targets = [{ target: null, tree: seed }, ...authors.map((one, target) => ({ target, tree: one.manifest }))];
    return targets.map(({ target, tree }): Planned => {
      const together = withTestsOf(manifest, tree, isTest);
      return { author, target, manifest: together.ok ? together.value : together.error };
    });
  });
  let done = 0;
  const cells = await mapBounded(planned, verifiers.concurrency, async ({ author, target, manifest }): Promise<Made> => {
    const tests = ensure(authors[author], `finalist ${author}`).tests;
    const derived = crosscheckContract(contract, spec, tests.length);
    if (typeof manifest === 'string') {
      const message = `the tests and the tree cannot be put together: ${manifest}`;
      const result = { kind: 'none', code: 'malformed', message } as const;
      const cell = { author, target, contract: derived.sha, tree: null, executions: [], result };
      onProgress(++done, planned.length);
      return { cell, run: { kind: 'none', ours: false }, blobs: [], tree: null };
    }
    const tree = treeId(manifest);
    const measured = await measure(
      { verifiers, monotonicMs: () => performance.now() },
      {
        contract: derived,
        tree,
        files: await loadFiles(store, manifest),
        verifierFiles: [...verifierFiles, listFile(tests)],
        program,
      },
      { retries: contract.measurement.infraRetries, deadlineMs: verifyDeadlineMs(derived) },
      signal,
    );
    onProgress(++done, planned.length);
    const result = resultOf(measured, derived);
    return {
      cell: { author, target, contract: derived.sha, tree, executions: executionsOf(measured), result },
      run: result.kind === 'ranked' ? result : { kind: 'none', ours: isOurs(result.code) },
      blobs: measured.blobs,
      tree: { tree, manifest },
    };
  });
  return {
    crosscheck: madeOf(checked, authors, cells, { program, leftOut: ended.slice(maxFinalists).map(({ tree }) => tree) }),
    blobs: cells.flatMap(({ blobs }) => blobs),
    trees: cells.flatMap(({ tree }) => (tree === null ? [] : [tree])),
  };
}

const listFile = (tests: Manifest): TreeFile => ({
  path: testListPath,
  mode: 'file',
  bytes: new TextEncoder().encode(testList(tests.map(({ path }) => path))),
});

type Program = { readonly path: string; readonly version: string };

/** The program of a command, null for pure-js. One that belongs to the task is known by the contract; every other is looked for. */
async function programOf(
  verifiers: Pick<VerifierService, 'resolveProgram'>,
  { verifier }: Contract,
  { kind, command }: CrosscheckSpec,
): Promise<Program | null | { readonly error: string }> {
  if (kind === 'pure-js') return null;
  const own = verifier.files.find(({ path }) => path === command[0]);
  if (own !== undefined) return { path: own.path, version: `sha256:${own.sha}` };
  const resolved = await verifiers.resolveProgram(command, '/');
  return 'error' in resolved ? { error: `the program of the cross-check cannot be run: ${resolved.error}` } : resolved;
}

function resultOf({ verdict }: Measurement, { obligations }: Contract): SelectionCell['result'] {
  if (verdict.kind === 'ranked') {
    const rank = validateRank(verdict.rank, obligations);
    return rank.ok ? { kind: 'ranked', rank: rank.value } : { kind: 'none', code: 'malformed', message: rank.error };
  }
  // A verification of a tree that was put together here is never `invalid`.
  const code = verdict.kind === 'no_verdict' ? verdict.code : 'malformed';
  return { kind: 'none', code, message: verdict.message.toWellFormed() };
}

const executionsOf = ({ runs }: Measurement): SelectionCell['executions'] => runs.map(({ tree: _tree, ...execution }) => execution);

function madeOf(
  ended: readonly Ended[],
  authors: readonly Author[],
  cells: readonly Made[],
  { program, leftOut }: { readonly program: Program | null; readonly leftOut: Sha[] },
): MadeCrosscheck {
  const runOf = (author: number, target: number | null): TestRun | undefined =>
    cells.find(({ cell }) => cell.author === author && cell.target === target)?.run;
  const outcome = crosscheckOutcome(
    authors.map(({ tree, tests }, author): CheckedFinalist => {
      const on = authors.flatMap((_, target) => runOf(author, target) ?? []);
      return { tree, tests: tests.length, onBase: runOf(author, null) ?? null, on };
    }),
  );
  return {
    kind: 'made',
    program,
    finalists: authors.map(({ tree, tests, omitted }, i) => ({
      tree,
      runs: [...ensure(ended[i], `finalist ${i}`).runs],
      tests: tests.map(({ path, sha }) => ({ path, sha })),
      omitted,
      ...ensure(outcome.scores[i], `score of finalist ${i}`),
    })),
    leftOut,
    cells: cells.map(({ cell }) => cell),
    results: outcome.lines.map(({ author, test, counts, on }) => ({
      author,
      path: ensure(authors[author]?.tests[test], `test ${test} of finalist ${author}`).path,
      counts,
      on: [...on],
    })),
  };
}
