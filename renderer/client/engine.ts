// The engine as the page sees it: one client at a time, connected again whenever the connection is lost.
import { contract, type Contract } from '#shared/contract/contract.ts';
import { RpcError } from '#shared/contract/errors.ts';
import type { DesktopApi } from '#shared/contract/desktop.ts';
import { createClient, engineLiveness, type Client } from '#shared/rpc/client.ts';
import { contractHash } from '#shared/contract/contract-hash.ts';
import type { Port } from '#shared/rpc/port.ts';
import type { CallName, Input, Output, StreamName } from '#shared/rpc/types.ts';
import { busy } from './activity.ts';

export type EngineState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'ready'; readonly version: string }
  /** `reason` is what the shell said when the engine died; null when only the connection is gone. */
  | { readonly kind: 'lost'; readonly reason: string | null }
  /** Another version, or no access: trying again will not help. */
  | { readonly kind: 'refused'; readonly code: 'incompatible' | 'unavailable'; readonly message: string };

export type Engine = {
  readonly desktop: DesktopApi;
  readonly state: EngineState;
  /** Called after each change of `state`. Returns the function that stops it. */
  subscribe(listener: () => void): () => void;
  /** One call; while the engine is lost it waits for the next connection. */
  call<K extends CallName<Contract>>(name: K, input: Input<Contract[K]>, options?: { signal?: AbortSignal }): Promise<Output<Contract[K]>>;
  /** Items of one connection; breaks with `closed` when that is lost. */
  stream<K extends StreamName<Contract>>(
    name: K,
    input: Input<Contract[K]>,
    options?: { signal?: AbortSignal; window?: number },
  ): AsyncGenerator<Output<Contract[K]>, void, void>;
  /** Resolves with the journal's number as soon as there is a connection. */
  ready(): Promise<number>;
  restart(): Promise<void>;
  close(): void;
};

const firstDelayMs = 250;
const longestDelayMs = 4_000;

/** Connects through `open` and keeps connected until `close`. */
export function createEngine(open: () => Promise<Port>, desktop: DesktopApi): Engine {
  const hash = contractHash(contract);
  const listeners = new Set<() => void>();
  let state: EngineState = { kind: 'connecting' };
  let client: Client<Contract> | null = null;
  const waiting: {
    readonly resolve: (value: { client: Client<Contract>; journal: number }) => void;
    readonly reject: (error: Error) => void;
  }[] = [];
  let journal = 0;
  let closed = false;
  let wasReady = false;
  /** A connection is being asked for: a restart meanwhile must not ask for a second one. */
  let opening = false;
  let delay = firstDelayMs;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let reason: string | null = null;

  const set = (next: EngineState) => {
    state = next;
    for (const listener of listeners) listener();
  };
  const connected = (): Promise<{ client: Client<Contract>; journal: number }> =>
    closed
      ? Promise.reject(new RpcError('closed', 'the page has closed its connection'))
      : client
        ? Promise.resolve({ client, journal })
        : state.kind === 'refused'
          ? Promise.reject(new RpcError(state.code, state.message))
          : new Promise((resolve, reject) => waiting.push({ resolve, reject }));

  const retry = () => {
    if (closed) return;
    timer = setTimeout(() => void connect(), delay);
    delay = Math.min(longestDelayMs, delay * 2);
  };
  const refuse = (error: RpcError, code: 'incompatible' | 'unavailable') => {
    set({ kind: 'refused', code, message: error.message });
    for (const { reject } of waiting.splice(0)) reject(error);
  };
  const connect = async () => {
    clearTimeout(timer);
    if (opening) return;
    let port: Port;
    opening = true;
    try {
      port = await open();
    } catch (error) {
      opening = false;
      if (closed) return;
      // Before the first hello nobody has seen this engine: the address may carry no access, which no waiting will mend.
      if (!wasReady && desktop.kind === 'web' && error instanceof RpcError) {
        refuse(error, 'unavailable');
        return;
      }
      set({ kind: 'lost', reason });
      retry();
      return;
    }
    opening = false;
    const next = createClient<Contract>(port, hash, engineLiveness);
    try {
      const hello = await next.hello;
      client = next;
      journal = hello.journal;
      wasReady = true;
      delay = firstDelayMs;
      reason = null;
      set({ kind: 'ready', version: hello.version });
      for (const { resolve } of waiting.splice(0)) resolve({ client: next, journal });
      await next.closed;
    } catch (error) {
      if (error instanceof RpcError && error.code === 'incompatible') {
        refuse(error, 'incompatible');
        return;
      }
    }
    client = null;
    if (closed) return;
    set({ kind: 'lost', reason });
    retry();
  };

  const stopListening = desktop.onEngineStopped((why) => {
    reason = why;
    if (client) client.close();
    else set({ kind: 'lost', reason });
  });
  void connect();

  return {
    desktop,
    get state() {
      return state;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    call: (name, input, options) => busy(connected().then(({ client }) => client.call(name, input, options))),
    async *stream(name, input, options) {
      const { client } = await connected();
      yield* client.stream(name, input, options);
    },
    ready: async () => (await connected()).journal,
    async restart() {
      await desktop.restartEngine();
      delay = firstDelayMs;
      if (!client) void connect();
    },
    close() {
      closed = true;
      clearTimeout(timer);
      stopListening();
      client?.close();
      client = null;
      const error = new RpcError('closed', 'the page has closed its connection');
      for (const { reject } of waiting.splice(0)) reject(error);
    },
  };
}
