// Server half of the RPC: parses inputs, runs handlers, batches stream items within the consumer's credit.
import type { z } from 'zod';
import { RpcError, type ErrorCode, type ErrorWhere } from '#shared/contract/errors.ts';
import type { Procedure, ProcedureTable } from '#shared/contract/procedure.ts';
import { batchDelayMs, ClientFrame, maxBatch, type ServerFrame } from './frames.ts';
import type { Port } from './port.ts';
import type { CallContext, Handlers } from './types.ts';
import { messageOf } from '#shared/lib/message-of.ts';

export type ServeOptions = {
  readonly hello: { readonly contract: string; readonly version: string; readonly journal: number };
  /** Bytes of a stored object; absent where a port may not ask for bytes. */
  readonly blob?: (sha: string) => Promise<Uint8Array | null>;
  /** Told of every failure whose code is `internal`; returns the id under which it was logged. */
  readonly onInternal?: (error: unknown, name: string) => string;
  /** Asked before each call: an error refuses it (an engine that is closing answers `unavailable`). */
  readonly refuse?: (name: string) => RpcError | null;
};

type LiveCall = { readonly kind: Procedure['kind']; readonly abort: AbortController; credit: number; wake: () => void };
/** One connection being answered. */
export type Serving = {
  active(kind?: Procedure['kind']): number;
  /** Asks the client to send no more calls. */
  goodbye(): void;
  /** Whether it has agreed: every call that it sent has been read. */
  left(): boolean;
};

type AnyHandler = (input: unknown, context: CallContext) => unknown;

/** Answers everything that arrives on `port`. Closing the port aborts that client's calls. `active` counts the calls now under way, of one kind or all. */
export function serve<T extends ProcedureTable>(table: T, handlers: Handlers<T>, port: Port, options: ServeOptions): Serving {
  const live = new Map<number, LiveCall>();
  let left = false;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- looked up by the name that also chose the schema its input was parsed with
  const handlerOf = new Map<string, AnyHandler>(Object.entries(handlers as Record<string, AnyHandler>));
  const send = (frame: ServerFrame) => port.send(frame);

  const describe = (error: unknown, name: string): { code: ErrorCode; message: string; where: ErrorWhere } => {
    if (error instanceof RpcError) return { code: error.code, message: error.message, where: error.where };
    const id = options.onInternal?.(error, name);
    const text = messageOf(error);
    return { code: 'internal', message: `${name} failed inside the engine: ${text}${id === undefined ? '' : ` (log ${id})`}`, where: {} };
  };

  const run = async (frame: Extract<ClientFrame, { t: 'call' }>) => {
    const { id, name } = frame;
    const procedure = Object.hasOwn(table, name) ? table[name] : undefined;
    const handler = handlerOf.get(name);
    if (!procedure || !handler) {
      send({ t: 'err', id, code: 'not_found', message: `no procedure is called ${JSON.stringify(name)}`, where: {} });
      return;
    }
    const refusal = options.refuse?.(name);
    if (refusal) {
      send({ t: 'err', id, ...describe(refusal, name) });
      return;
    }
    const call: LiveCall = { kind: procedure.kind, abort: new AbortController(), credit: frame.credit ?? 0, wake: () => {} };
    live.set(id, call);
    const signal = call.abort.signal;
    try {
      const input = parseInput(procedure.input, frame.input, name);
      const result = handler(input, { signal });
      if (procedure.kind === 'stream') {
        if (!isAsyncIterable(result)) throw new TypeError(`the handler of ${name} gives no stream`);
        await pump(frame, call, result, procedure.item);
        if (!signal.aborted) send({ t: 'end', id });
      } else {
        const value = procedure.output.parse(await result);
        if (!signal.aborted) send({ t: 'ok', id, value });
      }
    } catch (error) {
      if (!signal.aborted) send({ t: 'err', id, ...describe(error, name) });
    } finally {
      live.delete(id);
    }
  };

  const pump = async ({ id, name }: { id: number; name: string }, call: LiveCall, items: AsyncIterable<unknown>, schema: z.ZodType) => {
    const signal = call.abort.signal;
    let batch: unknown[] = [];
    let timer: unknown;
    const flush = () => {
      clearTimeout(timer);
      timer = undefined;
      const values = batch;
      batch = [];
      if (values.length > 0 && !signal.aborted) send({ t: 'items', id, values });
    };
    // In a timer nobody would catch what a transport refuses to carry.
    const flushLate = () => {
      try {
        flush();
      } catch (error) {
        send({ t: 'err', id, ...describe(error, name) });
        call.abort.abort();
        call.wake();
      }
    };
    try {
      for await (const item of items) {
        while (call.credit === 0 && !signal.aborted) {
          flush();
          await new Promise<void>((resolve) => {
            call.wake = resolve;
          });
        }
        if (signal.aborted) break;
        call.credit--;
        batch.push(schema.parse(item));
        if (batch.length === maxBatch) flush();
        else timer ??= setTimeout(flushLate, batchDelayMs);
      }
    } finally {
      flush();
    }
  };

  const blob = async (id: number, sha: string) => {
    try {
      if (!options.blob) throw new RpcError('not_found', 'this connection carries no bytes');
      send({ t: 'ok', id, value: await options.blob(sha) });
    } catch (error) {
      send({ t: 'err', id, ...describe(error, 'blob') });
    }
  };

  port.listen(
    (raw) => {
      const parsed = ClientFrame.safeParse(raw);
      if (!parsed.success) return;
      const frame = parsed.data;
      switch (frame.t) {
        case 'call':
          // A client that reuses the id of a live call could not tell the answers apart: only a broken one does it.
          if (live.has(frame.id)) port.close();
          else void run(frame);
          break;
        case 'blob':
          void blob(frame.id, frame.sha);
          break;
        case 'bye':
          left = true;
          break;
        case 'ping':
          send({ t: 'pong' });
          break;
        case 'credit': {
          const call = live.get(frame.id);
          if (call) {
            call.credit += frame.n;
            call.wake();
          }
          break;
        }
        case 'cancel': {
          const call = live.get(frame.id);
          call?.abort.abort();
          call?.wake();
          break;
        }
      }
    },
    () => {
      for (const call of live.values()) {
        call.abort.abort();
        call.wake();
      }
      live.clear();
    },
  );
  send({ t: 'hello', ...options.hello });
  return {
    active: (kind) => (kind === undefined ? live.size : [...live.values()].filter((call) => call.kind === kind).length),
    goodbye: () => send({ t: 'bye' }),
    left: () => left,
  };
}

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

function parseInput(schema: z.ZodType, value: unknown, name: string): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue?.path.join('.') ?? '';
  throw new RpcError(
    'bad_input',
    `${name}: ${field === '' ? '' : `${field}: `}${issue?.message ?? 'wrong input'}`,
    field === '' ? {} : { field },
  );
}
