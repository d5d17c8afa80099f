// What the engine has answered, by name and input. Server data lives here and nowhere else; loading and error are derived from an entry.
import type { Contract } from '#shared/contract/contract.ts';
import type { JournalItem } from '#shared/contract/app.ts';
import { asRpcError, RpcError } from '#shared/contract/errors.ts';
import type { CallName, Input, Output } from '#shared/rpc/types.ts';
import type { Engine } from './engine.ts';

export type QueryName = { [K in CallName<Contract>]: Contract[K]['kind'] extends 'query' ? K : never }[CallName<Contract>];

/** `data` stays while a newer answer is on its way (`fetching`) or could not be had (`error`). */
export type QueryState<T> = { readonly data: T | undefined; readonly error: RpcError | null; readonly fetching: boolean };

type Entry = {
  state: QueryState<unknown>;
  readonly listeners: Set<() => void>;
  readonly fetch: () => Promise<unknown>;
  /** The run it speaks of; null when it may speak of all. */
  readonly run: string | null;
  readonly fixed: boolean;
  /** Asked to be read again while a read was on its way. */
  again: boolean;
  stale: boolean;
  readAt: number;
};

// Stored once and never changed, so never read twice.
const immutable: ReadonlySet<string> = new Set<QueryName>(['run.transition', 'run.bundle', 'run.resolve', 'run.page']);
// Answers that the journal of runs says nothing about.
const untouched: ReadonlySet<string> = new Set<QueryName>(['app.info', 'settings.get', 'task.inspect', 'run.header']);
const maxIdleEntries = 200;
const minRefreshMs = 120;

export type QueryCache = {
  read<K extends QueryName>(name: K, input: Input<Contract[K]>): QueryState<Output<Contract[K]>>;
  /** Fetches unless there is an answer that still holds; calls back on each change. */
  watch<K extends QueryName>(name: K, input: Input<Contract[K]>, listener: () => void): () => void;
  /** Fetches what is not there yet and resolves with it. */
  load<K extends QueryName>(name: K, input: Input<Contract[K]>): Promise<Output<Contract[K]>>;
  refresh(name: QueryName): void;
  /** Puts an answer that a command has just given in its place. */
  put<K extends QueryName>(name: K, input: Input<Contract[K]>, data: Output<Contract[K]>): void;
  close(): void;
};

const nothing: QueryState<never> = { data: undefined, error: null, fetching: true };
const keyOf = (name: string, input: object): string =>
  `${name} ${JSON.stringify(Object.entries(input).toSorted(([a], [b]) => (a < b ? -1 : 1)))}`;

/** A cache over one engine; follows its journal and reads again what a change has touched. */
export function createQueryCache(engine: Engine): QueryCache {
  const entries = new Map<string, Entry>();
  const abort = new AbortController();

  const set = (entry: Entry, state: QueryState<unknown>) => {
    entry.state = state;
    for (const listener of entry.listeners) listener();
  };
  const fetchNow = async (entry: Entry): Promise<unknown> => {
    entry.stale = false;
    if (!entry.state.fetching || entry.readAt > 0) set(entry, { ...entry.state, fetching: true });
    entry.readAt = performance.now();
    try {
      const data = await entry.fetch();
      set(entry, { data, error: null, fetching: false });
      return data;
    } catch (cause) {
      set(entry, { data: entry.state.data, error: asRpcError(cause), fetching: false });
      throw cause;
    } finally {
      if (entry.again) {
        entry.again = false;
        refreshEntry(entry);
      }
    }
  };
  const fetchQuietly = (entry: Entry) => {
    fetchNow(entry).catch(() => {});
  };
  const refreshEntry = (entry: Entry) => {
    if (entry.listeners.size === 0) {
      entry.stale = true;
    } else if (entry.state.fetching && entry.readAt > 0) {
      entry.again = true;
    } else {
      // A live run changes faster than anyone reads: the newest answer a few times a second is enough.
      const wait = entry.readAt + minRefreshMs - performance.now();
      if (wait <= 0) fetchQuietly(entry);
      else if (!entry.stale) {
        entry.stale = true;
        setTimeout(() => fetchQuietly(entry), wait);
      }
    }
  };
  const forgetIdle = () => {
    if (entries.size <= maxIdleEntries) return;
    for (const [key, entry] of entries) {
      if (entry.listeners.size === 0 && !entry.state.fetching) entries.delete(key);
      if (entries.size <= maxIdleEntries) return;
    }
  };
  const entryOf = <K extends QueryName>(name: K, input: Input<Contract[K]>): Entry => {
    const key = keyOf(name, input);
    const known = entries.get(key);
    if (known) return known;
    const entry: Entry = {
      state: nothing,
      listeners: new Set(),
      fetch: () => engine.call(name, input),
      run: 'run' in input ? input.run : null,
      fixed: immutable.has(name) || untouched.has(name),
      again: false,
      stale: true,
      readAt: 0,
    };
    entries.set(key, entry);
    forgetIdle();
    return entry;
  };

  const onJournal = (item: JournalItem) => {
    for (const entry of entries.values()) if (!entry.fixed && (entry.run === null || entry.run === item.run)) refreshEntry(entry);
  };
  const follow = async () => {
    let after = await engine.ready();
    while (!abort.signal.aborted) {
      try {
        for await (const item of engine.stream('app.journal', { after }, { signal: abort.signal })) {
          after = item.journal;
          onJournal(item);
        }
      } catch (error) {
        if (abort.signal.aborted) return;
        if (error instanceof RpcError && error.code === 'incompatible') return;
      }
      // The connection broke: nothing is known about what changed meanwhile, so everything in view is read again.
      const journal = await engine.ready();
      if (journal < after) after = journal;
      for (const entry of entries.values()) if (!entry.fixed || entry.state.error) refreshEntry(entry);
    }
  };
  follow().catch(() => {});

  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- fetched under this very name and input, which a map cannot say
    read: (name, input) => entryOf(name, input).state as QueryState<Output<Contract[typeof name]>>,
    watch(name, input, listener) {
      const entry = entryOf(name, input);
      entry.listeners.add(listener);
      if ((entry.stale || entry.state.error) && !(entry.state.fetching && entry.readAt > 0)) fetchQuietly(entry);
      return () => {
        entry.listeners.delete(listener);
      };
    },
    async load(name, input) {
      const entry = entryOf(name, input);
      const data = entry.state.data !== undefined && !entry.stale ? entry.state.data : await fetchNow(entry);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as in `read`
      return data as Output<Contract[typeof name]>;
    },
    refresh(name) {
      for (const [key, entry] of entries) if (key.startsWith(`${name} `)) refreshEntry(entry);
    },
    put(name, input, data) {
      const entry = entryOf(name, input);
      entry.stale = false;
      entry.readAt = performance.now();
      set(entry, { data, error: null, fetching: false });
    },
    close() {
      abort.abort();
    },
  };
}
