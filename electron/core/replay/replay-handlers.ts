// The procedures `replay.*` of the contract, and those that say how runs are related.
import { RpcError } from '#shared/contract/errors.ts';
import type { BundleReplay, DecisionReplayItem, replayContract, ReplayStatus, VerifierReplayItem } from '#shared/contract/replay.ts';
import type { RunId } from '#shared/domain/ids.ts';
import type { Handlers } from '#shared/rpc/types.ts';
import type { Store } from '#electron/store/api.ts';
import type { VerifierService } from '#electron/verifiers/api.ts';
import { noSuchRun } from '../runs/run-views.ts';
import { replayDecisions } from './decision-replay.ts';
import { findDivergence, resolveBundle } from './relatives.ts';
import { prepareReverification, replayBundle } from './verifier-replay.ts';

export type ReplayHandlerDeps = {
  readonly store: Store;
  readonly verifiers: VerifierService;
  readonly resolveRun: (prefix: string) => Promise<RunId>;
  /** Aborted when the engine closes. */
  readonly closing: AbortSignal;
};

export function createReplayHandlers({ store, verifiers, resolveRun, closing }: ReplayHandlerDeps): Handlers<typeof replayContract> {
  const deps = { store, verifiers };
  const known = async (run: RunId) => {
    const row = await store.getSummary(run);
    if (row === null) throw noSuchRun(run);
    return row;
  };
  return {
    'replay.decisions': ({ run }, { signal }) => decisions(store, run, AbortSignal.any([signal, closing])),
    'replay.status': async ({ run }) => {
      await known(run);
      return statusOf(store, run);
    },
    'replay.verifier': ({ run, from = 0 }, { signal }) => bundles(deps, run, from, AbortSignal.any([signal, closing])),
    'replay.verifyBundle': async ({ run, seq }, { signal }): Promise<BundleReplay> =>
      replayBundle(deps, await prepareReverification(deps, run), seq, AbortSignal.any([signal, closing])),
    'replay.reverifications': async (ref) => {
      await known(ref.run);
      return store.getReverifications(ref);
    },
    'run.resolveBundle': ({ ref }) => resolveBundle(store, resolveRun, ref),
    'run.relatives': async ({ run }) => {
      await known(run);
      return store.getRelatives(run);
    },
    'run.divergence': ({ a, b }) => findDivergence(store, a, b),
  };
}

async function* decisions(store: Store, run: RunId, signal: AbortSignal): AsyncGenerator<DecisionReplayItem, void, void> {
  // The report is passed on once it is stored: a client that has it may leave, and asks for the badge at once.
  let last: DecisionReplayItem | null = null;
  await using replaying = replayDecisions({ store }, run, signal);
  let step = await replaying.next();
  for (; step.done !== true; step = await replaying.next()) {
    if (step.value.kind === 'report') last = step.value;
    else yield step.value;
  }
  const { lastEvent, ...report } = step.value;
  await store.setDecisionReplay({
    run,
    at: new Date().toISOString(),
    events: report.events,
    lastEvent,
    transitions: report.transitions,
    mismatches: report.mismatchCount,
    missing: report.missingCount,
  });
  if (last !== null) yield last;
}

async function statusOf(store: Store, run: RunId): Promise<ReplayStatus> {
  const found = await store.getDecisionReplay(run);
  if (found === null) return { state: 'never', at: null, transitions: 0, mismatches: 0, missing: 0 };
  const { at, transitions, mismatches, missing, events, lastEvent } = found;
  const head = await store.getReplayHead(run);
  // A round that is under way has added its opening, and the run has not grown by a decision yet; it is said to have grown all the same.
  const same = head?.events === events && head.row['last_event'] === lastEvent;
  const state = mismatches + missing > 0 ? 'differs' : same ? 'matches' : 'grown';
  return { state, at, transitions, mismatches, missing };
}

async function* bundles(
  deps: { readonly store: Store; readonly verifiers: VerifierService },
  run: RunId,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<VerifierReplayItem, void, void> {
  const prepared = await prepareReverification(deps, run);
  if (from >= prepared.bundles)
    throw new RpcError('not_found', `run ${run} has no bundle ${from}; its last is ${prepared.bundles - 1}`, { field: 'from' });
  for (let seq = from; seq < prepared.bundles; seq++) {
    yield { kind: 'bundle', bundle: await replayBundle(deps, prepared, seq, signal) };
    yield { kind: 'progress', bundles: seq - from + 1, of: prepared.bundles - from };
  }
}
