// Joins the column store of one run to the engine: chunks by query, new rows by stream, on again after a lost connection.
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { RunDetail } from '#shared/contract/run.ts';
import { RpcError } from '#shared/contract/errors.ts';
import { useConnection } from '#renderer/client/use-query.ts';
import { createRunStore, type RunStore } from '#renderer/state/run-data.ts';

/** Up to here all columns are loaded at once (about 60 bytes a row at 8 obligations); beyond, what is near the selection. */
const loadAllUpTo = 262_144;
const nearby = 20_000;
const streamWindow = 512;

export function useRunStore(detail: RunDetail): { readonly store: RunStore; readonly version: number; readonly error: Error | null } {
  const { engine } = useConnection();
  const run = detail.id;
  const obligations = detail.contractBody.obligations;
  const store = useMemo(
    () =>
      createRunStore(run, obligations, {
        chain: () => engine.call('run.chain', { run }),
        async rows(from, to) {
          const columns = await engine.call('run.columns', { run, from, to, resolution: 1 });
          if (columns.kind !== 'rows') throw new RpcError('internal', `run.columns answered ${columns.kind} where rows were asked for`);
          return columns;
        },
        follow: (after, signal) => engine.stream('run.transitions', { run, after, follow: true }, { window: streamWindow, signal }),
      }),
    // The obligations of a run never change inside an era; a refreshed detail brings equal ones in a new array.
    // oxlint-disable-next-line react/exhaustive-deps
    [engine, run],
  );
  const [error, setError] = useState<Error | null>(null);
  const live = detail.status === 'running';

  useEffect(() => {
    const leaving = new AbortController();
    const follow = async () => {
      while (!leaving.signal.aborted) {
        try {
          await store.follow(detail.transitions, leaving.signal);
          return;
        } catch (cause) {
          if (leaving.signal.aborted) return;
          if (!(cause instanceof RpcError) || (cause.code !== 'closed' && cause.code !== 'unavailable')) {
            setError(cause instanceof Error ? cause : new Error(String(cause)));
            return;
          }
          await engine.ready();
        }
      }
    };
    follow().catch((cause: unknown) => setError(cause instanceof Error ? cause : new Error(String(cause))));
    return () => leaving.abort();
    // Followed anew when a run goes on, not whenever its count grows.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [engine, store, live]);

  const version = useSyncExternalStore(
    (listener) => store.subscribe(listener),
    () => store.version,
  );
  return { store, version, error: error ?? store.error };
}

/** Loads what the selection needs: everything in a run of common size, else the neighbourhood. */
export function ensureAround(store: RunStore, n: number): void {
  if (store.count <= loadAllUpTo) store.ensure(1, store.count);
  else store.ensure(Math.max(1, n - nearby), Math.min(store.count, n + nearby));
}
