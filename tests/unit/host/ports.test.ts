import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, connect, type AddressInfo } from 'node:net';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { createFrameReader, fromSocket, maxSocketFrame } from '#electron/host/ports/local-socket.ts';
import { fromChildProcess } from '#electron/host/ports/process-ipc.ts';
import { fromWebSocket } from '#electron/host/ports/web-socket.ts';
import type { Port } from '#shared/rpc/port.ts';

const collect = (port: Port) => {
  const frames: unknown[] = [];
  const closed = new Promise<void>((resolve) => port.listen((frame) => frames.push(frame), resolve));
  return { frames, closed };
};

const collectUntilClosed = async (port: Port): Promise<unknown[]> => {
  const { frames, closed } = collect(port);
  await closed;
  return frames;
};

const portOf = (server: { address(): string | AddressInfo | null }): number => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('listens on no port');
  return address.port;
};

describe('local socket', () => {
  test('frames survive any cutting of the stream', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        (bodies, cuts) => {
          const whole = Buffer.concat(
            bodies.map((body) => {
              const head = Buffer.alloc(4);
              head.writeUInt32BE(body.length);
              return Buffer.concat([head, body]);
            }),
          );
          const got: Uint8Array[] = [];
          const read = createFrameReader((bytes) => got.push(Uint8Array.from(bytes)));
          for (let at = 0, i = 0; at < whole.length; i++) {
            const size = cuts[i % cuts.length] ?? 1;
            read(whole.subarray(at, at + size));
            at += size;
          }
          expect(got).toEqual(bodies);
        },
      ),
    );
  });

  test('an oversized length is refused before anything is kept for it', () => {
    const head = Buffer.alloc(4);
    head.writeUInt32BE(maxSocketFrame + 1);
    expect(() => createFrameReader(() => {})(head)).toThrow(RangeError);
  });

  test('big frames arrive in order; rubbish ends the connection', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const port = portOf(server);
    const [client, [accepted]] = await Promise.all([Promise.resolve(connect(port, '127.0.0.1')), once(server, 'connection')]);
    const a = fromSocket(client);
    const b = fromSocket(accepted);
    const [left, right] = [collect(a), collect(b)];
    for (let i = 0; i < 20; i++) a.send({ i, bytes: new Uint8Array(1 << 20).fill(i) });
    b.send({ hello: true });
    await expect.poll(() => right.frames.length).toBe(20);
    expect(right.frames.map((f) => Reflect.get(Object(f), 'i'))).toEqual(Array.from({ length: 20 }, (_, i) => i));
    await expect.poll(() => left.frames).toEqual([{ hello: true }]);
    client.write(Buffer.from([0, 0, 0, 2, 1, 2]));
    await Promise.all([left.closed, right.closed]);
    server.close();
  });
});

describe('WebSocket', () => {
  test('a page that takes no answers is not read from until it does', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    const client = new WebSocket(`ws://127.0.0.1:${portOf(server)}`);
    const [[accepted]] = await Promise.all([once(server, 'connection'), once(client, 'open')]);
    const port = fromWebSocket(accepted);
    client.pause();
    // More than the buffers of the system take.
    for (let i = 0; i < 32; i++) port.send({ bytes: new Uint8Array(1 << 20) });
    expect(accepted.isPaused).toBe(true);
    client.resume();
    await expect.poll(() => accepted.isPaused).toBe(false);
    expect(accepted.bufferedAmount).toBeLessThanOrEqual(1 << 20);
    client.terminate();
    server.close();
  });

  test('an error before anybody listens to the port is no uncaught one, and ends it', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    const client = connect(portOf(server), '127.0.0.1');
    client.resume();
    const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==';
    client.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n\r\n`);
    const [accepted] = await once(server, 'connection');
    const port = fromWebSocket(accepted);
    const listeners = accepted.listenerCount('error');
    // A frame without its mask.
    client.write(Buffer.from([0x82, 0x01, 0x00]));
    await once(client, 'close');
    expect(listeners).toBe(1);
    expect((await collectUntilClosed(port)).length).toBe(0);
    server.close();
  });

  test('frames both ways; a text frame ends the connection', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    const port = portOf(server);
    const client = new WebSocket(`ws://127.0.0.1:${port}`);
    const [[accepted]] = await Promise.all([once(server, 'connection'), once(client, 'open')]);
    const b = fromWebSocket(accepted);
    const right = collect(b);
    const a = fromWebSocket(client);
    const left = collect(a);
    a.send({ x: new Float64Array([0.5]) });
    b.send({ y: 'text' });
    await expect.poll(() => [...right.frames, ...left.frames]).toEqual([{ x: new Float64Array([0.5]) }, { y: 'text' }]);
    client.send('text');
    await Promise.all([left.closed, right.closed]);
    // Nothing to send to any more, and no error.
    b.send({ late: true });
    const late = collect(fromWebSocket(accepted));
    await late.closed;
    server.close();
  });
});

describe('a child process', () => {
  test('that is gone before anybody listens closes the port all the same', async () => {
    const child = spawn(process.execPath, ['-e', ''], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], serialization: 'advanced' });
    const port = fromChildProcess(child);
    await once(child, 'close');
    const { closed, frames } = collect(port);
    port.send({ late: true });
    await closed;
    expect(frames).toEqual([]);
    await collect(fromChildProcess(child)).closed;
  });
});
