// Recomputing the decisions of a run (V1) from this page: what the engine remembers of it, and the work while it goes on.
import { useCallback, useEffect, useRef, useState } from 'react';
import { RpcError } from '#shared/contract/errors.ts';
import type { DecisionReplayReport, ReplayStatus } from '#shared/contract/replay.ts';
import type { Engine } from '#renderer/client/engine.ts';
import { useConnection, useQuery } from '#renderer/client/use-query.ts';

export type ReplayWork =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly transitions: number; readonly of: number }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly error: RpcError }
  | { readonly kind: 'done'; readonly report: DecisionReplayReport };

/** `unknown`: the engine has not answered yet. */
export type Standing = 'unknown' | ReplayStatus['state'];

/** What may be said of a run that has `transitions` now: what is newer than the replay was not replayed, whatever the last answer said. */
export function standingOf(status: ReplayStatus | undefined, transitions: number): Standing {
  if (!status) return 'unknown';
  return status.state === 'matches' && status.transitions !== transitions ? 'grown' : status.state;
}

export type DecisionReplay = {
  readonly status: ReplayStatus | undefined;
  readonly standing: Standing;
  readonly work: ReplayWork;
  readonly start: () => void;
  readonly cancel: () => void;
};

async function follow(engine: Engine, run: string, signal: AbortSignal, show: (work: ReplayWork) => void): Promise<void> {
  for await (const item of engine.stream('replay.decisions', { run }, { signal })) {
    if (signal.aborted) return;
    show(item.kind === 'report' ? { kind: 'done', report: item.report } : { ...item, kind: 'running' });
  }
}

/** `transitions`: how many the page knows of. Leaving the run cancels. */
export function useDecisionReplay(run: string, transitions: number): DecisionReplay {
  const { engine, cache } = useConnection();
  const status = useQuery('replay.status', { run }).data;
  const [work, setWork] = useState<ReplayWork>({ kind: 'idle' });
  const current = useRef<AbortController | null>(null);
  const cancel = useCallback(() => current.current?.abort(), []);
  useEffect(() => cancel, [cancel]);

  const start = useCallback(() => {
    if (current.current && !current.current.signal.aborted) return;
    const controller = new AbortController();
    current.current = controller;
    const { signal } = controller;
    setWork({ kind: 'running', transitions: 0, of: 0 });
    follow(engine, run, signal, setWork)
      .catch((cause: unknown) => {
        if (!signal.aborted)
          setWork({ kind: 'failed', error: cause instanceof RpcError ? cause : new RpcError('internal', String(cause)) });
      })
      .finally(() => {
        if (signal.aborted) setWork({ kind: 'cancelled' });
        if (current.current === controller) current.current = null;
        cache.refresh('replay.status');
      });
  }, [engine, cache, run]);

  return { status, standing: standingOf(status, transitions), work, start, cancel };
}
