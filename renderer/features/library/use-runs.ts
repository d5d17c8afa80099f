// The list of runs, page after page by keyset, newest first. Pages are cached by the row they follow.
import { useCallback, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { RpcError } from '#shared/contract/errors.ts';
import type { RunSummary } from '#shared/contract/run.ts';
import { useConnection } from '#renderer/client/use-query.ts';
import type { QueryCache } from '#renderer/client/query-cache.ts';

const pageSize = 100;

export type Runs = {
  readonly runs: readonly RunSummary[];
  /** null while the first page has not arrived. */
  readonly loaded: boolean;
  readonly more: boolean;
  readonly error: RpcError | null;
  readonly loadMore: () => void;
  readonly retry: () => void;
};

type Pages = {
  readonly runs: readonly RunSummary[];
  readonly inputs: readonly PageInput[];
  readonly loaded: boolean;
  readonly more: boolean;
  readonly error: RpcError | null;
};
type PageInput = { readonly limit: number; readonly before?: string };

const firstPage: PageInput = { limit: pageSize };

/** Walks the cached pages from the newest on: each one begins after the last row of the page before. */
function readPages(cache: QueryCache, wanted: number): Pages {
  const runs: RunSummary[] = [];
  const inputs: PageInput[] = [];
  let input = firstPage;
  for (;;) {
    inputs.push(input);
    const page = cache.read('run.list', input);
    if (!page.data) return { runs, inputs, loaded: inputs.length > 1, more: true, error: page.error };
    runs.push(...page.data.runs);
    const last = page.data.runs.at(-1);
    if (!page.data.more || last === undefined || inputs.length >= wanted)
      return { runs, inputs, loaded: true, more: page.data.more, error: page.error };
    input = { limit: pageSize, before: last.id };
  }
}

export function useRuns(): Runs {
  const { cache } = useConnection();
  const [wanted, setWanted] = useState(1);
  const last = useRef<{ cache: QueryCache; wanted: number; pages: Pages } | null>(null);
  const stale = useRef(true);

  const subscribe = useCallback(
    (listener: () => void) => {
      const watched = new Map<string, () => void>();
      const sync = () => {
        stale.current = true;
        const { inputs } = readPages(cache, wanted);
        const keys = new Set(inputs.map((input) => input.before ?? ''));
        for (const [key, stop] of watched) {
          if (keys.has(key)) continue;
          stop();
          watched.delete(key);
        }
        for (const input of inputs) {
          const key = input.before ?? '';
          if (!watched.has(key)) {
            watched.set(key, () => {});
            watched.set(key, cache.watch('run.list', input, sync));
          }
        }
        listener();
      };
      sync();
      return () => {
        for (const stop of watched.values()) stop();
      };
    },
    [cache, wanted],
  );
  const pages = useSyncExternalStore(subscribe, () => {
    const known = last.current;
    if (known && !stale.current && known.cache === cache && known.wanted === wanted) return known.pages;
    stale.current = false;
    last.current = { cache, wanted, pages: readPages(cache, wanted) };
    return last.current.pages;
  });

  return useMemo(
    () => ({
      runs: pages.runs,
      loaded: pages.loaded,
      more: pages.more,
      error: pages.error,
      // A page that is still on its way is the one that was asked for.
      loadMore: () => setWanted((n) => (pages.loaded && pages.inputs.length >= n && pages.more ? n + 1 : n)),
      retry: () => cache.refresh('run.list'),
    }),
    [pages, cache],
  );
}
