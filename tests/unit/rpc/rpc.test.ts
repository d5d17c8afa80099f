import { MessageChannel, type MessagePort } from 'node:worker_threads';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { contractHash } from '#shared/contract/contract-hash.ts';
import { contract } from '#shared/contract/contract.ts';
import { RpcError } from '#shared/contract/errors.ts';
import { command, query, stream } from '#shared/contract/procedure.ts';
import { createClient } from '#shared/rpc/client.ts';
import { createPortPair, type Port } from '#shared/rpc/port.ts';
import { serve, type ServeOptions } from '#shared/rpc/server.ts';
import type { Handlers } from '#shared/rpc/types.ts';

const table = {
  range: stream(z.strictObject({ n: z.int() }), z.int()),
  waiting: stream(z.strictObject({}), z.int()),
  double: query(z.strictObject({ n: z.int() }), z.int()),
  hang: command(z.strictObject({}), z.null()),
  fail: query(z.strictObject({ how: z.enum(['expected', 'unexpected', 'output']) }), z.int()),
  nothing: query(z.undefined(), z.undefined()),
  bad: stream(z.strictObject({}), z.unknown()),
};
type Table = typeof table;
const hello = { contract: 'h', version: '1.2.3', journal: 7 };

/** A port that clones what crosses it, and takes its time. */
const cloning = (port: MessagePort): Port => ({
  send: (frame) => port.postMessage(frame),
  listen: (onFrame, onClose) => {
    port.on('message', onFrame);
    port.on('close', onClose);
  },
  close: () => port.close(),
});

function setup(options: Partial<ServeOptions> = {}, ports: [Port, Port] = createPortPair()) {
  const seen = { made: 0, live: 0, hung: 0, aborted: 0 };
  const handlers: Handlers<Table> = {
    async *range({ n }) {
      seen.live++;
      try {
        for (let i = 0; i < n; i++) {
          seen.made++;
          yield i;
        }
      } finally {
        seen.live--;
      }
    },
    async *waiting(_, { signal }) {
      seen.live++;
      try {
        yield 1;
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      } finally {
        seen.live--;
      }
    },
    double: ({ n }) => n * 2,
    hang: (_, { signal }) => {
      seen.hung++;
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          seen.aborted++;
          reject(new Error('aborted'));
        }),
      );
    },
    fail: ({ how }) => {
      if (how === 'expected') throw new RpcError('conflict', 'taken', { file: 'a.toml', field: 'id' });
      if (how === 'unexpected') throw new Error('boom');
      return 1.5;
    },
    nothing: () => {},
    async *bad(_, { signal }) {
      yield new SharedArrayBuffer(4);
      yield () => {};
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    },
  };
  const server = serve(table, handlers, ports[0], { hello, ...options });
  const client = createClient<Table>(ports[1], 'h');
  return { client, server, seen, ports };
}

const code = (promise: Promise<unknown>) =>
  promise.then(
    () => 'answered',
    (error: unknown) => (error instanceof RpcError ? error.code : `not an RpcError: ${String(error)}`),
  );

describe('a server that is silent', () => {
  const liveness = { quietMs: 1_000, patience: 3 };
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  /** A server behind a wire that stops carrying its frames, as a suspended process does. */
  const silenced = () => {
    const [a, b] = createPortPair();
    const asked: unknown[] = [];
    let silent = false;
    const wire: Port = {
      send: (frame) => {
        if (!silent) a.send(frame);
      },
      listen: (onFrame, onClose) =>
        a.listen((frame) => {
          asked.push(frame);
          if (!silent) onFrame(frame);
        }, onClose),
      close: () => a.close(),
    };
    const client = createClient<Table>(b, 'h', liveness);
    return {
      client,
      asked: () => asked.filter((frame) => Reflect.get(Object(frame), 't') === 'ping').length,
      begin: () => {
        const { seen } = setup({}, [wire, createPortPair()[0]]);
        return seen;
      },
      silence: () => {
        silent = true;
      },
    };
  };

  test('is asked, and left as closed when it does not answer: a call may have been carried out', async () => {
    const { client, asked, begin, silence } = silenced();
    begin();
    await client.hello;
    silence();
    const call = client.call('hang', {}).catch((error: unknown) => error);
    const stream = (async () => {
      for await (const _ of client.stream('waiting', {}));
    })().catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(2_900);
    expect(asked()).toBe(2);
    await vi.advanceTimersByTimeAsync(200);
    const gone = {
      code: 'closed',
      message: expect.stringMatching(/^the engine has not answered for 3 s: its process hangs or is suspended/),
    };
    expect([await call, await stream]).toMatchObject([gone, gone]);
    await client.closed;
    expect(await code(client.call('double', { n: 1 }))).toBe('closed');
  });

  test('a long call on a server that is there is waited for', async () => {
    const { client, asked, begin } = silenced();
    const seen = begin();
    await client.hello;
    const abort = new AbortController();
    const call = code(client.call('hang', {}, { signal: abort.signal }));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked()).toBe(60);
    expect(seen.hung).toBe(1);
    abort.abort();
    expect(await call).toBe('cancelled');
    // Nobody waits for anything, so nobody asks.
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked()).toBe(60);
    expect(await client.call('double', { n: 2 })).toBe(4);
  });

  test('that never says hello is asked nothing, and given up', async () => {
    const { client, asked } = silenced();
    const call = code(client.call('double', { n: 2 }));
    await vi.advanceTimersByTimeAsync(3_100);
    expect(await call).toBe('closed');
    expect(await code(client.hello)).toBe('closed');
    expect(asked()).toBe(0);
  });

  test('silence before a call does not count', async () => {
    const { client, begin, silence } = silenced();
    begin();
    await client.hello;
    expect(await client.call('double', { n: 2 })).toBe(4);
    silence();
    await vi.advanceTimersByTimeAsync(60_000);
    let answered: string | null = null;
    void code(client.call('double', { n: 2 })).then((how) => {
      answered = how;
    });
    await vi.advanceTimersByTimeAsync(2_900);
    expect(answered).toBeNull();
    await vi.advanceTimersByTimeAsync(200);
    expect(answered).toBe('closed');
  });
});

describe('streams', () => {
  test('deliver a prefix in order, never run ahead of their credit, always end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(300),
        fc.integer({ min: 1, max: 70 }),
        fc.option(fc.integer({ min: 1, max: 300 })),
        fc.boolean(),
        async (n, window, stopAt, cloned) => {
          const channel = new MessageChannel();
          const { client, seen } = setup({}, cloned ? [cloning(channel.port1), cloning(channel.port2)] : createPortPair());
          const got: number[] = [];
          let ahead = 0;
          for await (const item of client.stream('range', { n }, { window })) {
            ahead = Math.max(ahead, seen.made - got.length);
            got.push(item);
            if (got.length === stopAt) break;
          }
          expect(got).toEqual(Array.from({ length: Math.min(n, stopAt ?? n) }, (_, i) => i));
          // One more than the window: the item that waits for credit.
          expect(ahead).toBeLessThanOrEqual(window + 1);
          await expect.poll(() => seen.live, { interval: 1 }).toBe(0);
          client.close();
        },
      ),
      { numRuns: 60 },
    );
  });

  test('a consumer that leaves stops a producer that waits', async () => {
    const { client, server, seen } = setup();
    for await (const item of client.stream('waiting', {})) {
      expect(item).toBe(1);
      expect(seen.live).toBe(1);
      break;
    }
    await expect.poll(() => seen.live).toBe(0);
    expect(server.active()).toBe(0);
  });

  test('an abort ends the stream with `cancelled` and stops the producer', async () => {
    const { client, seen } = setup();
    const abort = new AbortController();
    const read = async () => {
      for await (const item of client.stream('waiting', {}, { signal: abort.signal })) if (item === 1) abort.abort();
    };
    expect(await code(read())).toBe('cancelled');
    await expect.poll(() => seen.live).toBe(0);
  });

  test('what the transport cannot carry ends the stream with an error, not the process', async () => {
    const { client, server } = setup();
    const read = async () => {
      for await (const item of client.stream('bad', {})) expect(item).toBeDefined();
    };
    expect(await code(read())).toBe('internal');
    await expect.poll(() => server.active()).toBe(0);
  });
});

describe('calls', () => {
  test('are answered; inputs are parsed; unknown names are not found', async () => {
    const { client } = setup();
    expect(await client.hello).toEqual(hello);
    expect(await client.call('double', { n: 21 })).toBe(42);
    await expect(client.call('double', { n: 0.5 })).rejects.toMatchObject({ code: 'bad_input', where: { field: 'n' } });
    const [a, b] = createPortPair();
    serve({}, {}, a, { hello });
    const other = createClient<{ nothing: typeof table.double; toString: typeof table.double }>(b, 'h');
    expect(await code(other.call('nothing', { n: 1 }))).toBe('not_found');
    expect(await code(other.call('toString', { n: 1 }))).toBe('not_found');
  });

  test('an undefined input or answer is one, also where frames are JSON', async () => {
    const [a, b] = createPortPair();
    const json = (port: Port): Port => ({ ...port, send: (frame) => port.send(JSON.parse(JSON.stringify(frame))) });
    expect(await setup({}, [json(a), json(b)]).client.call('nothing', undefined)).toBeUndefined();
  });

  test('errors: expected ones whole, unexpected ones with a log id, wrong outputs never', async () => {
    const logged: unknown[] = [];
    const { client } = setup({ onInternal: (error) => `log-${logged.push(error)}` });
    await expect(client.call('fail', { how: 'expected' })).rejects.toMatchObject({
      code: 'conflict',
      message: 'taken',
      where: { file: 'a.toml', field: 'id' },
    });
    await expect(client.call('fail', { how: 'unexpected' })).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringContaining('log-1'),
    });
    expect(await code(client.call('fail', { how: 'output' }))).toBe('internal');
    expect(logged).toHaveLength(2);
  });

  test('a signal cancels a call on both sides', async () => {
    const { client, seen } = setup();
    const abort = new AbortController();
    const answer = code(client.call('hang', {}, { signal: abort.signal }));
    await expect.poll(() => seen.hung).toBe(1);
    abort.abort();
    expect(await answer).toBe('cancelled');
    await expect.poll(() => seen.aborted).toBe(1);
    expect(await code(client.call('double', { n: 1 }, { signal: abort.signal }))).toBe('cancelled');
  });

  test('closing fails what waits and aborts it in the engine', async () => {
    const { client, server, seen } = setup();
    const answers = [code(client.call('hang', {})), code(client.call('hang', {}))];
    await expect.poll(() => seen.hung).toBe(2);
    client.close();
    expect(await Promise.all(answers)).toEqual(['closed', 'closed']);
    await client.closed;
    await expect.poll(() => seen.aborted).toBe(2);
    expect(server.active()).toBe(0);
    expect(await code(client.call('double', { n: 1 }))).toBe('closed');
  });

  test('an engine that is closing refuses calls before they begin', async () => {
    const { client, seen } = setup({ refuse: () => new RpcError('unavailable', 'the engine is closing') });
    expect(await code(client.call('hang', {}))).toBe('unavailable');
    expect(seen.hung).toBe(0);
  });
});

describe('hello', () => {
  test('a server of another contract is refused before anything reaches it', async () => {
    const [a, b] = createPortPair();
    let called = 0;
    const tally = query(z.strictObject({}), z.int());
    serve({ tally }, { tally: () => ++called }, a, { hello: { ...hello, contract: 'another' } });
    const client = createClient<{ tally: typeof tally }>(b, 'h');
    expect(await code(client.call('tally', {}))).toBe('incompatible');
    await expect(client.hello).rejects.toMatchObject({ code: 'incompatible', message: expect.stringContaining('1.2.3') });
    await client.closed;
    expect(called).toBe(0);
  });

  test('a connection that ends without one rejects with `closed`', async () => {
    const [a, b] = createPortPair();
    const client = createClient<Table>(b, 'h');
    a.close();
    expect(await code(client.hello)).toBe('closed');
  });

  test('the hash of the contract is stable', () => {
    expect(contractHash(contract)).toMatch(/^[0-9a-f]{64}$/);
    expect(contractHash(contract)).toBe(contractHash(contract));
  });
});

describe('a hostile peer', () => {
  test('frames of any shape are ignored', async () => {
    const { client, ports } = setup();
    await client.hello;
    fc.assert(
      fc.property(fc.anything({ withBigInt: false }), (frame) => ports[1].send(structuredClone(JSON.parse(JSON.stringify({ frame }))))),
    );
    expect(await client.call('double', { n: 2 })).toBe(4);
  });

  test('the id of a live call used again closes the connection', async () => {
    const [a, b] = createPortPair();
    serve({ hang: table.hang }, { hang: () => new Promise<null>(() => {}) }, a, { hello });
    const closed = new Promise<string>((resolve) =>
      b.listen(
        () => {},
        () => resolve('closed'),
      ),
    );
    b.send({ t: 'call', id: 1, name: 'hang', input: {} });
    b.send({ t: 'call', id: 1, name: 'hang', input: {} });
    expect(await closed).toBe('closed');
  });

  test('bytes are refused where a port carries none', async () => {
    const { client } = setup();
    expect(await code(client.blob('ab'))).toBe('not_found');
    const other = setup({ blob: (sha) => Promise.resolve(sha === 'ab' ? new Uint8Array([1]) : null) });
    expect(await other.client.blob('ab')).toEqual(new Uint8Array([1]));
    expect(await other.client.blob('cd')).toBeNull();
  });
});

describe('a server that is about to close', () => {
  test('answers what it has, and is sent nothing more', async () => {
    const { client, server, seen } = setup();
    await client.hello;
    const before = code(client.call('double', { n: 2 }));
    const hanging = code(client.call('hang', {}));
    await expect.poll(() => seen.hung, { interval: 1 }).toBe(1);
    expect(server.left()).toBe(false);
    server.goodbye();
    await expect.poll(() => server.left(), { interval: 1 }).toBe(true);
    expect(await before).toBe('answered');
    expect(await code(client.call('hang', {}))).toBe('unavailable');
    expect([seen.hung, server.active('command')]).toEqual([1, 1]);
    client.close();
    expect(await hanging).toBe('closed');
  });
});
