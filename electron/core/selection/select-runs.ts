// Which of several finished runs ended best, with the record of how it was found. Nothing here changes a run.
import { RpcError } from '#shared/contract/errors.ts';
import type { RunDetail } from '#shared/contract/run.ts';
import type { SelectionItem } from '#shared/contract/selection.ts';
import type { FinalistScore } from '#shared/domain/crosscheck.ts';
import type { RunId, Sha } from '#shared/domain/ids.ts';
import { finalistsOf, orderRollouts, type RolloutEnd } from '#shared/domain/rollouts.ts';
import type { NamedSelection, Selection } from '#shared/domain/selection.ts';
import { ensure } from '#shared/lib/assert.ts';
import { hashJson } from '#shared/lib/hash.ts';
import type { Store } from '#electron/store/api.ts';
import type { VerifierService } from '#electron/verifiers/api.ts';
import type { LiveRuns } from '../runs/live-runs.ts';
import { noSuchRun } from '../runs/run-views.ts';
import { runnerLost } from '../runs/seed.ts';
import { crosscheck, type CrosscheckInput, type CrosscheckResult, type Ended, noCrosscheck } from './crosscheck.ts';

export type SelectionDeps = {
  readonly store: Store;
  readonly verifiers: VerifierService;
  readonly live: Pick<LiveRuns, 'isLive'>;
};

export type SelectionRequest = { readonly runs: readonly RunId[]; readonly crosscheck: boolean };

/** Orders the runs and stores the record; throws as `run.select` says. When `signal` aborts it throws cancelled and stores nothing. */
export async function* selectRuns(
  deps: SelectionDeps,
  request: SelectionRequest,
  signal: AbortSignal,
): AsyncGenerator<SelectionItem, void, void> {
  const details = await readRuns(deps, request.runs);
  const first = ensure(details[0], 'a run to choose from');
  const { base } = sameBeginning(details, first);
  const certified = details.flatMap(({ end }, at) => (end === null ? [] : [{ ...end, at, contract: first.detail.contract }]));
  const ended = treesOf(certified);
  const contract = { ...first.detail.contractBody, sha: first.detail.contract };
  const checked = yield* checkEachOther(deps, { contract, base, ended }, request.crosscheck, signal);
  const scores = checked.crosscheck.kind === 'none' ? null : scoresOf(checked.crosscheck);
  const { order, decidedBy } = orderRollouts(certified, scores);
  const selection: Selection = {
    format: 'pawl.selection/1',
    at: new Date().toISOString(),
    contract: first.detail.contract,
    base,
    runs: details.map(({ detail, end }) => ({ run: detail.id, seed: detail.seed, stop: detail.stop, end })),
    order: order.map((i) => ensure(certified[i], `run ${i} that certified something`).at),
    decidedBy,
    crosscheck: checked.crosscheck,
  };
  const named: NamedSelection = { sha: hashJson(selection), selection };
  await deps.store.addSelection({ ...named, blobs: checked.blobs, trees: checked.trees });
  yield { kind: 'selection', selection: named };
}

/** The cross-check, or why there is none. */
async function* checkEachOther(
  deps: SelectionDeps,
  { contract, base, ended }: Omit<CrosscheckInput, 'spec'>,
  asked: boolean,
  signal: AbortSignal,
): AsyncGenerator<SelectionItem, CrosscheckResult, void> {
  const { crosscheck: spec } = contract;
  if (spec === undefined) return noCrosscheck('not_declared', 'the task declares none');
  const finalists = ended.reduce((sum, { runs }) => sum + runs.length, 0);
  if (finalists < 2) return noCrosscheck('one_finalist', 'no two runs tie in potential and rank');
  if (ended.length < 2) return noCrosscheck('one_tree', `all ${finalists} finalists ended at the same tree`);
  if (!asked) return noCrosscheck('not_asked', 'it was not asked for');
  const made = yield* withProgress((onProgress) => crosscheck(deps, { contract, spec, base, ended }, onProgress, signal));
  if (deps.verifiers.lost()) throw runnerLost('nothing was chosen; try again');
  if (signal.aborted) throw new RpcError('cancelled', 'cancelled while runs were checked against each other; nothing was chosen');
  return made;
}

type Read = { readonly detail: RunDetail; readonly end: Selection['runs'][number]['end'] };

async function readRuns({ store, live }: SelectionDeps, runs: readonly RunId[]): Promise<Read[]> {
  const read: Read[] = [];
  for (const [i, run] of runs.entries()) {
    if (runs.indexOf(run) < i) throw new RpcError('bad_input', `the run ${run} is named twice`, { field: 'runs' });
    if (live.isLive(run))
      throw new RpcError('conflict', `the run ${run} is live; it has no end yet that could be chosen`, { field: 'runs' });
    const detail = await store.getRun(run);
    if (detail === null) throw noSuchRun(run);
    const { head } = detail;
    const found = head === null ? null : ensure(await store.getBundle({ run, seq: head.seq }), `the head of ${run}`);
    const end =
      head === null || found === null
        ? null
        : { bundle: head.id, seq: head.seq, tree: found.bundle.tree, potential: head.potential, rank: head.rank };
    read.push({ detail, end });
  }
  return read;
}

/** Ranks, and tests on one base, mean something only for runs that began alike. */
function sameBeginning(all: readonly Read[], { detail: first }: Read): { readonly base: Sha } {
  for (const { detail } of all) {
    const differs = detail.contract !== first.contract ? 'contract' : detail.header.seedTree !== first.header.seedTree ? 'seed' : null;
    if (differs !== null)
      throw new RpcError('conflict', `the runs ${first.id} and ${detail.id} have another ${differs} and cannot be compared`, {
        field: 'runs',
      });
  }
  return { base: first.header.seedTree };
}

type Certified = RolloutEnd & { readonly at: number };

/** The trees at which the finalists ended, in the order of their first runs. */
function treesOf(certified: readonly Certified[]): Ended[] {
  const byTree = new Map<Sha, number[]>();
  for (const i of finalistsOf(certified)) {
    const { tree, at } = ensure(certified[i], `finalist ${i}`);
    byTree.set(tree, [...(byTree.get(tree) ?? []), at]);
  }
  return [...byTree].map(([tree, runs]) => ({ tree, runs }));
}

const scoresOf = ({ finalists }: Extract<Selection['crosscheck'], { kind: 'made' }>): ReadonlyMap<Sha, FinalistScore> =>
  new Map(finalists.map(({ tree, failedAuthors, failedTests, ofTests }) => [tree, { failedAuthors, failedTests, ofTests }]));

/** What `work` tells, as items; its result once it is there. */
async function* withProgress<T>(
  work: (onProgress: (done: number, of: number) => void) => Promise<T>,
): AsyncGenerator<SelectionItem, T, void> {
  const told: SelectionItem[] = [];
  let wake = (): void => {};
  let over = false;
  const result = work((done, of) => {
    told.splice(0, told.length, { kind: 'progress', done, of });
    wake();
  });
  const end = (): void => {
    over = true;
    wake();
  };
  result.then(end, end);
  for (;;) {
    const next = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const item = told.shift();
    if (item !== undefined) yield item;
    else if (over) return await result;
    else await next;
  }
}
