// React's view of the engine and of what it has answered.
import { createContext, useCallback, useContext, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { Contract } from '#shared/contract/contract.ts';
import { asRpcError, type RpcError } from '#shared/contract/errors.ts';
import type { CallName, Input, Output } from '#shared/rpc/types.ts';
import { ensure } from '#shared/lib/assert.ts';
import type { Engine, EngineState } from './engine.ts';
import type { QueryCache, QueryName, QueryState } from './query-cache.ts';
import { createLatestWins } from './latest-wins.ts';

export type Connection = { readonly engine: Engine; readonly cache: QueryCache };
export const ConnectionContext = createContext<Connection | null>(null);

/** The engine and the cache of this page. Throws outside of the app. */
export const useConnection = (): Connection => ensure(useContext(ConnectionContext), 'connection to the engine');

export function useEngineState(): EngineState {
  const { engine } = useConnection();
  return useSyncExternalStore(
    (listener) => engine.subscribe(listener),
    () => engine.state,
  );
}

const idle: QueryState<never> = { data: undefined, error: null, fetching: false };
const unwatched = () => () => {};

/** The answer to one query, kept current; null asks for nothing. A new input starts without data; `useKept` bridges that. */
export function useQuery<K extends QueryName>(name: K, input: Input<Contract[K]> | null): QueryState<Output<Contract[K]>> {
  const { cache } = useConnection();
  const stable = useStable(input);
  return useSyncExternalStore(
    useCallback((listener: () => void) => (stable === null ? unwatched() : cache.watch(name, stable, listener)), [cache, name, stable]),
    () => (stable === null ? idle : cache.read(name, stable)),
  );
}

/** The same object for as long as its content, as JSON, is the same: so what is written as a literal or answered anew can be a dependency. */
export function useStable<T>(value: T): T {
  const key = JSON.stringify(value);
  const [kept, setKept] = useState({ key, value });
  if (kept.key === key) return kept.value;
  setKept({ key, value });
  return value;
}

/** The value once it has not changed for `ms`: what is being typed is not asked about letter by letter. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** The last value that was there, until the next one is: nothing flashes empty while it loads. */
export function useKept<T>(value: T | undefined): T | undefined {
  const [kept, setKept] = useState(value);
  if (value !== undefined && value !== kept) setKept(value);
  return value ?? kept;
}

type CommandState = { readonly pending: boolean; readonly error: RpcError | null; readonly cancelled: boolean };
const resting: CommandState = { pending: false, error: null, cancelled: false };

/** A command with its pending state and its last error. `run` resolves with undefined when it failed or was cancelled. */
export function useCommand<K extends CallName<Contract>>(name: K) {
  const { engine } = useConnection();
  const [state, setState] = useState<CommandState>(resting);
  const current = useRef<AbortController | null>(null);
  const cancel = useCallback(() => current.current?.abort(), []);
  const run = useCallback(
    async (input: Input<Contract[K]>): Promise<Output<Contract[K]> | undefined> => {
      const controller = new AbortController();
      current.current = controller;
      setState({ ...resting, pending: true });
      try {
        const answer = await engine.call(name, input, { signal: controller.signal });
        setState(resting);
        return answer;
      } catch (cause) {
        const error = asRpcError(cause);
        setState(controller.signal.aborted ? { ...resting, cancelled: true } : { ...resting, error });
        return undefined;
      }
    },
    [engine, name],
  );
  const reset = useCallback(() => setState(resting), []);
  return { ...state, run, cancel, reset };
}

export type Latest<T> = {
  /** What to show: the newest answer there is. */
  readonly data: T | undefined;
  /** The key that `data` answers; differs from the wanted key while that is on its way. */
  readonly key: number | null;
  readonly error: RpcError | null;
};

/** Loads by number, one at a time, always the newest wanted: holding a key down never queues more than one request. */
export function useLatest<T>(key: number | null, load: (key: number) => Promise<T>, peek: (key: number) => T | undefined): Latest<T> {
  const [state, setState] = useState<Latest<T>>({ data: undefined, key: null, error: null });
  const limiter = useRef(createLatestWins());
  const order = useRef({ asked: 0, settled: 0 });
  const known = key === null ? undefined : peek(key);
  useEffect(() => {
    if (key === null) return undefined;
    let current = true;
    const turns = order.current;
    const mine = ++turns.asked;
    // An answer that is not wanted any more is still newer than what is shown: where wishes come faster than answers, it is all there is.
    const settle = (next: Latest<T>) => {
      if (mine < turns.settled || (next.error !== null && !current)) return;
      turns.settled = mine;
      setState(next);
    };
    const there = peek(key);
    if (there !== undefined) {
      settle({ data: there, key, error: null });
      return undefined;
    }
    limiter.current.submit(async () => {
      try {
        const data = await load(key);
        settle({ data, key, error: null });
      } catch (cause) {
        settle({ data: undefined, key, error: asRpcError(cause) });
      }
    });
    return () => {
      current = false;
    };
  }, [key, load, peek]);
  return known === undefined ? state : { data: known, key, error: null };
}
