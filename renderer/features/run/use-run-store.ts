// Joins the column store of one run to the engine: chunks by query, new rows by stream, on again after a lost connection.
import { useEffect, useEffectEvent, useState, useSyncExternalStore } from 'react';
import type { RunDetail } from '#shared/contract/run.ts';
import { asRpcError, RpcError } from '#shared/contract/errors.ts';
import { useConnection } from '#renderer/client/use-query.ts';
import { createRunStore, type RunData, type RunStore } from '#renderer/state/run-data.ts';

/** Up to here all columns are loaded at once (about 60 bytes a row at 8 obligations); beyond, what is near the selection. */
const loadAllUpTo = 262_144;
const nearby = 20_000;
const streamWindow = 512;

/** `store` for the whole life of a component that shows one run (`key` is the run), `data` its snapshot for rendering. */
export function useRunStore(detail: RunDetail): { readonly store: RunStore; readonly data: RunData; readonly error: RpcError | null } {
  const { engine } = useConnection();
  const run = detail.id;
  // The obligations of a run never change inside an era; a refreshed detail brings equal ones in a new array.
  const [store] = useState(() =>
    createRunStore(run, detail.contractBody.obligations, {
      chain: () => engine.call('run.chain', { run }),
      async rows(from, to) {
        const columns = await engine.call('run.columns', { run, from, to, resolution: 1 });
        if (columns.kind !== 'rows') throw new RpcError('internal', `run.columns answered ${columns.kind} where rows were asked for`);
        return columns;
      },
      follow: (after, signal) => engine.stream('run.transitions', { run, after, follow: true }, { window: streamWindow, signal }),
    }),
  );
  const [error, setError] = useState<RpcError | null>(null);
  const known = useEffectEvent(() => detail.transitions);
  /** What the run has come to; null while it goes on. */
  const ended = detail.status === 'running' ? null : detail.transitions;

  // Followed anew when a run goes on or is found to have gone on, not with every transition of a live one.
  useEffect(() => {
    const leaving = new AbortController();
    const follow = async () => {
      while (!leaving.signal.aborted) {
        try {
          await store.follow(ended ?? known(), leaving.signal);
          return;
        } catch (cause) {
          if (leaving.signal.aborted) return;
          if (!(cause instanceof RpcError) || (cause.code !== 'closed' && cause.code !== 'unavailable')) {
            setError(asRpcError(cause));
            return;
          }
          await engine.ready();
        }
      }
    };
    follow().catch((cause: unknown) => setError(asRpcError(cause)));
    return () => leaving.abort();
  }, [engine, store, ended]);

  const data = useSyncExternalStore(
    (listener) => store.subscribe(listener),
    () => store.snapshot(),
  );
  return { store, data, error: error ?? (store.error ? asRpcError(store.error) : null) };
}

/** Loads what the selection needs: everything in a run of common size, else the neighbourhood. */
export function ensureAround(store: RunStore, n: number): void {
  if (store.count <= loadAllUpTo) store.ensure(1, store.count);
  else store.ensure(Math.max(1, n - nearby), Math.min(store.count, n + nearby));
}
