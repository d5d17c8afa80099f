// Client half of the RPC: calls, streams with credit, cancellation. Knows nothing of Electron or sockets.
import type { ProcedureTable } from '#shared/contract/procedure.ts';
import { RpcError } from '#shared/contract/errors.ts';
import { ServerFrame } from './frames.ts';
import type { Port } from './port.ts';
import type { CallName, Input, Output, StreamName } from './types.ts';

export type Hello = { readonly contract: string; readonly version: string; readonly journal: number };

export type Client<T extends ProcedureTable> = {
  /** Resolves with the server's first frame; rejects with `incompatible` when its contract is not ours, with `closed` when none comes. */
  readonly hello: Promise<Hello>;
  call<K extends CallName<T>>(name: K, input: Input<T[K]>, options?: { signal?: AbortSignal }): Promise<Output<T[K]>>;
  /** Items in order. Leaving the loop stops the producer. `window` = items that may be on their way at once (default 64). */
  stream<K extends StreamName<T>>(
    name: K,
    input: Input<T[K]>,
    options?: { signal?: AbortSignal; window?: number },
  ): AsyncGenerator<Output<T[K]>, void, void>;
  /** Bytes of a stored object, or null where there is none. */
  blob(sha: string): Promise<Uint8Array | null>;
  /** Resolves once the connection is gone, whoever closed it. */
  readonly closed: Promise<void>;
  close(): void;
};

/**
 * How long a server may be silent while something is waited for: after `quietMs` it is asked whether it is there, and after `quietMs * patience`
 * it is taken for gone. Counted in turns of our own timer, so that a machine that slept has not been silent.
 */
export type Liveness = { readonly quietMs: number; readonly patience: number };

/** Of an engine, which does nothing that keeps it from answering for long. */
export const engineLiveness: Liveness = { quietMs: 5_000, patience: 4 };

type Pending = { items?: (values: readonly unknown[]) => void; done: (value: unknown) => void; fail: (error: RpcError) => void };

/**
 * Joins a client to `port`. `contractHash` is the hash of `table` on this side: a server with another one is refused, and every
 * call fails with `incompatible`. Answers are not parsed again: the server parses what it sends. With `liveness`, a server that is silent
 * for too long is left as if it had closed the port: whether what it was asked for was done cannot be known.
 */
export function createClient<T extends ProcedureTable>(port: Port, contractHash: string, liveness: Liveness | null = null): Client<T> {
  let nextId = 1;
  let gone: RpcError | undefined;
  /** The server closes soon: what it has is still answered, more is not sent. */
  let leaving: RpcError | undefined;
  // Nothing is sent before the server has shown that it speaks our contract: a command must not reach an engine that misreads it.
  let outbox: unknown[] | undefined = [];
  const send = (frame: unknown) => {
    if (outbox) outbox.push(frame);
    else port.send(frame);
  };
  const pending = new Map<number, Pending>();
  let greet: (hello: Hello) => void = () => {};
  let refuse: (error: RpcError) => void = () => {};
  const hello = new Promise<Hello>((resolve, reject) => {
    greet = resolve;
    refuse = reject;
  });
  hello.catch(() => {});
  let markClosed: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    markClosed = resolve;
  });

  const failAll = (error: RpcError) => {
    gone ??= error;
    clearTimeout(timer);
    refuse(gone);
    const waiting = [...pending.values()];
    pending.clear();
    for (const p of waiting) p.fail(gone);
  };

  let silent = 0;
  let timer: unknown;
  // For the hello or for an answer; an idle client asks nothing.
  const waits = () => gone === undefined && (outbox !== undefined || pending.size > 0);
  const watch = () => {
    if (liveness === null || timer !== undefined || !waits()) return;
    timer = setTimeout(() => {
      timer = undefined;
      if (!waits()) return;
      if (++silent < liveness.patience) {
        // Nothing is sent before its hello.
        if (outbox === undefined) port.send({ t: 'ping' });
        watch();
        return;
      }
      const seconds = Math.round((liveness.quietMs * liveness.patience) / 1_000);
      failAll(
        new RpcError(
          'closed',
          `the engine has not answered for ${seconds} s: its process hangs or is suspended. What it was doing goes on when it does`,
        ),
      );
      port.close();
      markClosed();
    }, liveness.quietMs);
  };

  port.listen(
    (raw) => {
      const parsed = ServerFrame.safeParse(raw);
      if (!parsed.success) return;
      const frame = parsed.data;
      silent = 0;
      if (frame.t === 'hello') {
        if (frame.contract === contractHash) {
          greet({ contract: frame.contract, version: frame.version, journal: frame.journal });
          const waiting = outbox ?? [];
          outbox = undefined;
          for (const early of waiting) port.send(early);
        } else {
          failAll(
            new RpcError(
              'incompatible',
              `the running engine is Pawl ${frame.version} and speaks another contract; close it, or use the same version, and try again`,
            ),
          );
          port.close();
        }
        return;
      }
      if (frame.t === 'bye') {
        leaving ??= new RpcError('unavailable', 'the engine is closing; try again');
        port.send({ t: 'bye' });
        return;
      }
      if (frame.t === 'pong') return;
      const p = pending.get(frame.id);
      if (!p) return;
      if (frame.t === 'items') {
        p.items?.(frame.values);
        return;
      }
      pending.delete(frame.id);
      if (frame.t === 'err') p.fail(new RpcError(frame.code, frame.message, frame.where));
      else p.done(frame.t === 'ok' ? frame.value : undefined);
    },
    () => {
      failAll(new RpcError('closed', 'the connection to the engine is closed'));
      markClosed();
    },
  );
  watch();

  const begin = (entry: Pending, signal: AbortSignal | undefined): number => {
    const id = nextId++;
    const refusal = gone ?? leaving;
    if (refusal) {
      entry.fail(refusal);
      return id;
    }
    if (signal?.aborted) {
      entry.fail(new RpcError('cancelled', 'cancelled before it was sent'));
      return id;
    }
    const onAbort = () => {
      if (!pending.delete(id)) return;
      send({ t: 'cancel', id });
      entry.fail(new RpcError('cancelled', 'cancelled'));
    };
    const settle = (then: () => void) => {
      signal?.removeEventListener('abort', onAbort);
      then();
    };
    pending.set(id, {
      ...(entry.items ? { items: entry.items } : {}),
      done: (value) => settle(() => entry.done(value)),
      fail: (error) => settle(() => entry.fail(error)),
    });
    signal?.addEventListener('abort', onAbort, { once: true });
    // The silence of before anything was asked does not count.
    if (pending.size === 1) silent = 0;
    watch();
    return id;
  };

  const request = <R>(frame: (id: number) => unknown, signal?: AbortSignal): Promise<R> =>
    new Promise<R>((resolve, reject) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type that the table promises: the server has parsed it against that table
      const id = begin({ done: (value) => resolve(value as R), fail: reject }, signal);
      if (pending.has(id)) send(frame(id));
    });

  return {
    hello,
    closed,
    call: (name, input, options = {}) => request((id) => ({ t: 'call', id, name, input }), options.signal),
    blob: (sha) => request((id) => ({ t: 'blob', id, sha })),
    async *stream(name, input, { signal, window = 64 } = {}) {
      type Item = Output<T[typeof name]>;
      let queue: Item[] = [];
      let ended = false;
      let error: RpcError | undefined;
      let wake = () => {};
      const id = begin(
        {
          items: (values) => {
            // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as for the answers of calls
            for (const value of values) queue.push(value as Item);
            wake();
          },
          done: () => {
            ended = true;
            wake();
          },
          fail: (e) => {
            error = e;
            ended = true;
            wake();
          },
        },
        signal,
      );
      if (pending.has(id)) send({ t: 'call', id, name, input, credit: window });
      let taken = 0;
      try {
        for (;;) {
          const batch = queue;
          queue = [];
          for (const item of batch) {
            yield item;
            if (++taken >= Math.max(1, window >> 1)) {
              if (pending.has(id)) send({ t: 'credit', id, n: taken });
              taken = 0;
            }
          }
          if (queue.length > 0) continue;
          if (ended) {
            if (error) throw error;
            return;
          }
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      } finally {
        if (pending.delete(id)) send({ t: 'cancel', id });
      }
    },
    close: () => {
      port.close();
      failAll(new RpcError('closed', 'the connection to the engine is closed'));
      markClosed();
    },
  };
}
