// Work of the engine that says how far it is and ends in a report, while this page waits for it.
import { useCallback, useEffect, useRef, useState } from 'react';
import { asRpcError, type RpcError } from '#shared/contract/errors.ts';

export type ReportWork<R> =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly transitions: number; readonly of: number }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly error: RpcError }
  | { readonly kind: 'done'; readonly report: R };

type Item<R> =
  | { readonly kind: 'progress'; readonly transitions: number; readonly of: number }
  | { readonly kind: 'report'; readonly report: R };

export type StreamedReport<R> = { readonly work: ReportWork<R>; readonly start: () => void; readonly cancel: () => void };

async function follow<R>(items: AsyncIterable<Item<R>>, signal: AbortSignal, show: (work: ReportWork<R>) => void): Promise<void> {
  for await (const item of items) {
    if (signal.aborted) return;
    show(item.kind === 'report' ? { kind: 'done', report: item.report } : { ...item, kind: 'running' });
  }
}

/** `begin` begins it; `ended` hears of its end, however it came. Leaving cancels. */
export function useStreamedReport<R>(begin: (signal: AbortSignal) => AsyncIterable<Item<R>>, ended?: () => void): StreamedReport<R> {
  const [work, setWork] = useState<ReportWork<R>>({ kind: 'idle' });
  const current = useRef<AbortController | null>(null);
  const cancel = useCallback(() => current.current?.abort(), []);
  useEffect(() => cancel, [cancel]);

  const start = useCallback(() => {
    if (current.current && !current.current.signal.aborted) return;
    const controller = new AbortController();
    current.current = controller;
    const { signal } = controller;
    // What was begun before and ends later has nothing to say any more.
    const show = (next: ReportWork<R>) => {
      if (current.current === controller) setWork(next);
    };
    show({ kind: 'running', transitions: 0, of: 0 });
    follow(begin(signal), signal, show)
      .catch((cause: unknown) => {
        if (!signal.aborted) show({ kind: 'failed', error: asRpcError(cause) });
      })
      .finally(() => {
        if (signal.aborted) show({ kind: 'cancelled' });
        if (current.current === controller) current.current = null;
        ended?.();
      });
  }, [begin, ended]);

  return { work, start, cancel };
}
