// The stored body of the selected transition: one request at a time, always for the newest selection, neighbours fetched ahead.
import { useCallback, useEffect } from 'react';
import type { TransitionDetail } from '#shared/contract/run.ts';
import { useConnection, useLatest, type Latest } from '#renderer/client/use-query.ts';

/** `key` is the number that `data` belongs to; while it differs from `n`, what is shown is old and must be labelled so. */
export type ShownDetail = Latest<TransitionDetail>;

export function useTransitionDetail(run: string, n: number): ShownDetail {
  const { cache } = useConnection();
  const load = useCallback((wanted: number) => cache.load('run.transition', { run, n: wanted }), [cache, run]);
  const peek = useCallback((wanted: number) => cache.read('run.transition', { run, n: wanted }).data, [cache, run]);
  const shown = useLatest(n === 0 ? null : n, load, peek);
  const there = shown.key === n && n > 0;
  useEffect(() => {
    if (!there) return;
    // Only what exists is asked for twice: a neighbour beyond the end is simply not there yet.
    cache.load('run.transition', { run, n: n + 1 }).catch(() => {});
    if (n > 1) cache.load('run.transition', { run, n: n - 1 }).catch(() => {});
  }, [cache, run, n, there]);
  return shown;
}
