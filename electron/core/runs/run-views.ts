// What clients see of runs: the store's rows, with what only the engine knows laid over them.
import type { RunSummary, TransitionRow } from '#shared/contract/run.ts';
import { RpcError } from '#shared/contract/errors.ts';
import type { RunId } from '#shared/domain/ids.ts';
import type { Store } from '#electron/store/api.ts';
import type { Changes } from '../changes.ts';
import { failed, type LiveRuns } from './live-runs.ts';

export type ViewDeps = { readonly store: Store; readonly live: Pick<LiveRuns, 'isLive' | 'failure'>; readonly changes: Changes };

/** A summary (or detail) with the status that it has in this engine, and, where a loop failed here, why. */
export function overlay<T extends Pick<RunSummary, 'id' | 'status' | 'note'>>({ live }: Pick<ViewDeps, 'live'>, row: T): T {
  if (row.status !== 'interrupted' && row.status !== 'waiting') return row;
  if (live.isLive(row.id)) return { ...row, status: 'running' };
  return { ...row, note: live.failure(row.id)?.message ?? row.note };
}

/** The error for a run that is not in this data folder. */
export const noSuchRun = (run: RunId): RpcError =>
  new RpcError('not_found', `there is no run ${run} in this data folder; "pawl runs" lists what is there`);

/** The summary now and after each change, the latest when the consumer is slow. Ends when the loop has; a loop that failed ends it with an error. */
export async function* watchRun(
  { store, live, changes }: ViewDeps,
  run: RunId,
  signal: AbortSignal,
): AsyncGenerator<RunSummary, void, void> {
  let followed = false;
  for (;;) {
    const seen = changes.version(run);
    // Read before the row: a loop that ends in between has stored its last row, and the next turn shows it.
    const alive = live.isLive(run);
    const row = await store.getSummary(run);
    if (row === null) throw noSuchRun(run);
    yield overlay({ live }, row);
    if (!alive && !live.isLive(run)) {
      const failure = live.failure(run);
      if (followed && failure !== undefined) throw failed(failure);
      return;
    }
    followed = true;
    if (!(await changes.after(run, seen, signal))) return;
  }
}

const pageSize = 200;

/** Rows with n > after: those that are there, then, with `follow`, those that come until the loop ends. Resumes after the last row seen. */
export async function* followTransitions(
  { store, live, changes }: ViewDeps,
  input: { readonly run: RunId; readonly after: number; readonly follow: boolean },
  signal: AbortSignal,
): AsyncGenerator<TransitionRow, void, void> {
  const { run, follow } = input;
  let { after } = input;
  if ((await store.getSummary(run)) === null) throw noSuchRun(run);
  for (;;) {
    const seen = changes.version(run);
    const alive = live.isLive(run);
    const rows = await store.pageTransitions({ run, after, limit: pageSize });
    for (const row of rows) {
      yield row;
      after = row.n;
    }
    if (signal.aborted) return;
    if (rows.length > 0) continue;
    if (!follow || !alive) return;
    if (!(await changes.after(run, seen, signal))) return;
  }
}
