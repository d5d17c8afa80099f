// V2, the verifier replay: the contract's verifier runs again on a certified tree, everything from the store's copies. What it finds is
// kept beside the certificate and changes nothing. Semantics, section 9.
import { RpcError } from '#shared/contract/errors.ts';
import type { BundleReplay } from '#shared/contract/replay.ts';
import type { Contract } from '#shared/domain/contract.ts';
import type { RunHeader } from '#shared/domain/header.ts';
import type { RunId } from '#shared/domain/ids.ts';
import { validateRank } from '#shared/domain/rank.ts';
import { compareRanks } from '#shared/domain/replay-verifier.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import type { Rank } from '#shared/domain/verdict.ts';
import { ensure } from '#shared/lib/assert.ts';
import { measure } from '#electron/governor/measure.ts';
import { verifyDeadlineMs } from '#electron/governor/reservation.ts';
import type { ReverificationInput, Store } from '#electron/store/api.ts';
import type { VerifierService } from '#electron/verifiers/api.ts';
import { noSuchRun } from '../runs/run-views.ts';
import { sandboxOrRefuse } from '../runs/seed.ts';
import { loadFiles } from '../runs/stored-files.ts';

/** Measurements of one bundle: with one alone a drift could not be told from a flake. */
const measurementsPerBundle = 2;

export type VerifierReplayDeps = {
  readonly store: Pick<Store, 'getRun' | 'getBundle' | 'getBlob' | 'addReverification'>;
  readonly verifiers: VerifierService;
};

/** What verifying a run's bundles again needs. */
export type ReverifiedRun = {
  readonly run: RunId;
  readonly bundles: number;
  readonly header: RunHeader;
  readonly contract: Contract;
  readonly verifierFiles: readonly TreeFile[];
};

/** Throws not_found without the run, conflict where nothing is certified or candidate code cannot be run here. */
export async function prepareReverification({ store, verifiers }: VerifierReplayDeps, run: RunId): Promise<ReverifiedRun> {
  const detail = await store.getRun(run);
  if (detail === null) throw noSuchRun(run);
  if (detail.head === null)
    throw new RpcError('conflict', `run ${run} was never started: nothing is certified that could be verified again`);
  const contract: Contract = { ...detail.contractBody, sha: detail.contract };
  await sandboxOrRefuse(verifiers, contract, detail.header.unsandboxed === true);
  return {
    run,
    bundles: detail.head.seq + 1,
    header: detail.header,
    contract,
    verifierFiles: await loadFiles(store, contract.verifier.files),
  };
}

/**
 * Measures one bundle again, twice, one after the other, each again after faults of ours as the contract says, and stores the executions.
 * Throws not_found without the bundle, cancelled (and stores nothing) when `signal` aborts.
 */
export async function replayBundle(
  { store, verifiers }: VerifierReplayDeps,
  { run, header, contract, verifierFiles }: ReverifiedRun,
  seq: number,
  signal: AbortSignal,
): Promise<BundleReplay> {
  const found = await store.getBundle({ run, seq });
  if (found === null) throw new RpcError('not_found', `run ${run} has no bundle ${seq}`, { field: 'seq' });
  const { bundle } = found;
  if (bundle.contract !== contract.sha)
    throw new RpcError('conflict', `bundle ${seq} was certified under another contract than the run has now`, { field: 'seq' });
  const files = await loadFiles(store, found.files);
  const { verifierProgram: program, unsandboxed = false } = header;
  const request = { contract, tree: bundle.tree, files, verifierFiles, program, unsandboxed };
  const limits = { retries: contract.measurement.infraRetries, deadlineMs: verifyDeadlineMs(contract) };
  const ranks: (Rank | null)[] = [];
  let message: string | null = null;
  const executions: ReverificationInput['executions'][number][] = [];
  const blobs = new Map<string, Uint8Array>();
  for (let i = 0; i < measurementsPerBundle; i++) {
    const made = await measure({ verifiers, monotonicMs: () => performance.now() }, request, limits, signal);
    if (signal.aborted) throw new RpcError('cancelled', 'cancelled while a bundle was verified again; nothing of it was stored');
    const { verdict } = made;
    const checked = verdict.kind === 'ranked' ? validateRank(verdict.rank, contract.obligations) : null;
    const rank = checked?.ok === true ? checked.value : null;
    ranks.push(rank);
    if (verdict.kind !== 'ranked') message ??= `${verdict.code}: ${verdict.message}`;
    else if (checked?.ok === false) message ??= `malformed: ${checked.error}`;
    for (const blob of made.blobs) blobs.set(blob.sha, blob.bytes);
    for (const [at, { tree: _tree, ...execution }] of made.runs.entries()) {
      // Executions that were repeated ended in a fault and have no rank.
      const ranked = at === made.runs.length - 1 && execution.result === 'ranked' ? rank : null;
      const result = ranked === null && execution.result === 'ranked' ? 'malformed' : execution.result;
      executions.push({ ...execution, result, rank: ranked });
    }
  }
  await store.addReverification({
    run,
    seq,
    blobs: [...blobs].map(([sha, bytes]) => ({ sha, bytes })),
    executions,
  });
  const named = { seq, bundle: bundle.id, tree: bundle.tree, ranks };
  const again = ranks.filter((rank) => rank !== null);
  if (again.length < ranks.length) return { ...named, result: 'no_verdict', message, coordinates: [] };
  const results = compareRanks(bundle.rank, again);
  const coordinates = contract.obligations.map(({ key }, i) => ({
    key,
    result: ensure(results[i], `result of ${key}`),
    certified: ensure(bundle.rank[i], `certified ${key}`),
    again: again.map((rank) => ensure(rank[i], key)),
  }));
  const result = results.includes('flake') ? 'flake' : results.includes('drift') ? 'drift' : 'match';
  return { ...named, result, message: null, coordinates };
}
