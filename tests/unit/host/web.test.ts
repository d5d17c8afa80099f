import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { acquireEngine } from '#electron/host/engine.ts';
import { keepEngine, type EngineKeeper } from '#electron/host/keeper.ts';
import { fromWebSocket } from '#electron/host/ports/web-socket.ts';
import { startWebHost, webOrigin, type WebHost } from '#electron/host/web.ts';
import { contract, type Contract } from '#shared/contract/contract.ts';
import { contractHash } from '#shared/contract/contract-hash.ts';
import { sha256Hex } from '#shared/lib/hash.ts';
import { encodeFrame } from '#shared/rpc/codec.ts';
import { createClient } from '#shared/rpc/client.ts';
import { createFakeCore, fakeRunner } from '../../support/fake-core.ts';

const bytes = new TextEncoder().encode('<script>alert(1)</script>');
const sha = sha256Hex(bytes);
let dir = '';
let engine: EngineKeeper;
let web: WebHost;
const failures: unknown[] = [];

beforeAll(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'pawl-web-'));
  mkdirSync(path.join(dir, 'page/assets'), { recursive: true });
  writeFileSync(path.join(dir, 'page/index.html'), '<!doctype html><title>page</title>');
  writeFileSync(path.join(dir, 'page/assets/main-abc.js'), 'export {};');
  writeFileSync(path.join(dir, 'secret.txt'), 'secret');
  const acquire = () =>
    acquireEngine({
      dataDir: dir,
      addresses: [path.join(dir, 'e.sock')],
      appVersion: '0.0.0',
      startRunner: fakeRunner,
      createCore: () => createFakeCore({ dataDir: dir, blobs: new Map([[sha, bytes]]) }),
      storeWorker: new URL('file:///none'),
      samplesDir: '/none',
      logInternal: () => 'none',
    });
  engine = await keepEngine(acquire, (error) => failures.push(error));
  web = await startWebHost({ engine, rendererDir: path.join(dir, 'page'), onError: (error) => failures.push(error) });
});
afterAll(async () => {
  await web.close();
  await engine.close();
  rmSync(dir, { recursive: true, force: true });
});

type Answer = { status: number; headers: IncomingHttpHeaders; body: string };

/** A request whose path and headers go out as they are, unlike those of `fetch`. */
function ask(
  target: string,
  { method = 'GET', headers = {}, body = '' }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port: web.port, path: target, method, headers: { host: `127.0.0.1:${web.port}`, ...headers }, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString() }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
const origin = () => `http://127.0.0.1:${web.port}`;
const token = () => new URL(web.url).hash.slice('#token='.length);
const session = (given: string, headers: Record<string, string> = {}) =>
  ask('/session', { method: 'POST', headers: { origin: origin(), ...headers }, body: JSON.stringify({ token: given }) });
const cookie = async () => (await session(token())).headers['set-cookie']?.[0]?.split(';')[0] ?? '';

/** The status of a refused WebSocket, or 101. */
function upgrade(headers: Record<string, string>, target = '/rpc'): Promise<number> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${web.port}${target}`, { headers });
    socket.on('open', () => {
      socket.close();
      resolve(101);
    });
    socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
    socket.on('error', () => {});
  });
}

describe('the page', () => {
  test('is served with a strict CSP and never cached; assets for ever', async () => {
    for (const target of ['/', '/index.html', '/?x=1']) {
      const page = await ask(target);
      expect(page).toMatchObject({ status: 200, body: '<!doctype html><title>page</title>' });
      expect(page.headers['content-security-policy']).toBe(
        "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(page.headers).toMatchObject({
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'content-type': 'text/html; charset=utf-8',
      });
    }
    const asset = await ask('/assets/main-abc.js');
    expect(asset.headers).toMatchObject({
      'cache-control': 'private, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
    });
    expect((await ask('/index.html', { method: 'HEAD' })).body).toBe('');
  });

  test.each([
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/%2e%2e%2fsecret.txt',
    '/assets/..%2f..%2f..%2fsecret.txt',
    '/..%5csecret.txt',
    '/assets//main-abc.js',
    '/%00',
    '/%',
    '/C:%5csecret.txt',
    '//127.0.0.1/../secret.txt',
  ])('%s leads nowhere', async (target) => {
    const answer = await ask(target);
    expect([400, 403, 404]).toContain(answer.status);
    expect(answer.body).not.toContain('secret\n');
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  });

  test('what is not there is 404, other methods 405, folders nothing', async () => {
    expect((await ask('/missing.js')).status).toBe(404);
    expect((await ask('/assets')).status).toBe(404);
    expect((await ask('/', { method: 'PUT' })).status).toBe(405);
    expect((await ask('/session')).status).toBe(405);
  });

  test.each(['localhost', '127.0.0.1', 'evil.example', '127.0.0.1:1'])('Host %s is refused', async (host) => {
    const answer = await ask('/', { headers: { host: host === 'localhost' ? `localhost:${web.port}` : host } });
    expect(answer.status).toBe(403);
  });
});

describe('access', () => {
  test('Host and Origin are what a browser sends, which leaves port 80 out', () => {
    expect(webOrigin(80)).toEqual({ host: '127.0.0.1', origin: 'http://127.0.0.1' });
    expect(webOrigin(8080)).toEqual({ host: '127.0.0.1:8080', origin: 'http://127.0.0.1:8080' });
  });

  test('the token gives a cookie, by POST from the page itself only', async () => {
    const right = await session(token());
    expect(right.status).toBe(204);
    expect(right.headers['set-cookie']).toEqual([
      expect.stringMatching(new RegExp(`^pawl_${web.port}=[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/$`)),
    ]);
    expect((await session('0'.repeat(43))).status).toBe(401);
    expect((await session('')).status).toBe(401);
    expect((await session(token(), { origin: 'http://evil.example' })).status).toBe(403);
    expect((await session(token(), { origin: `http://localhost:${web.port}` })).status).toBe(403);
    expect((await ask('/session', { method: 'POST', body: JSON.stringify({ token: token() }) })).status).toBe(403);
    for (const body of ['', 'null', '{', JSON.stringify({ token: 5 }), JSON.stringify({ token: token(), more: 1 }), 'x'.repeat(10_000)]) {
      expect((await ask('/session', { method: 'POST', headers: { origin: origin() }, body })).status).toBe(401);
    }
  });

  test('stored bytes need it, and are bytes', async () => {
    expect((await ask(`/blob/${sha}`)).status).toBe(401);
    expect((await ask(`/blob/${sha}`, { headers: { cookie: `pawl_${web.port}=wrong` } })).status).toBe(401);
    expect((await ask(`/blob/${sha}`, { headers: { cookie: `pawl_1=${(await cookie()).split('=')[1]}` } })).status).toBe(401);
    const answer = await ask(`/blob/${sha}`, { headers: { cookie: `other=1; ${await cookie()}` } });
    expect(answer).toMatchObject({ status: 200, body: '<script>alert(1)</script>' });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, max-age=31536000, immutable',
    });
    for (const target of [`/blob/${'0'.repeat(64)}`, '/blob/', '/blob/../index.html', `/blob/${sha}/x`, `/blob/${sha.toUpperCase()}`]) {
      expect([200, 404]).toContain((await ask(target, { headers: { cookie: await cookie() } })).status);
      expect((await ask(target, { headers: { cookie: await cookie() } })).body).not.toContain('alert');
    }
  });

  test('the socket needs the cookie, the origin and the host', async () => {
    const right = await cookie();
    expect(await upgrade({ origin: origin(), cookie: right })).toBe(101);
    expect(await upgrade({ origin: origin() })).toBe(401);
    expect(await upgrade({ origin: origin(), cookie: `pawl_${web.port}=wrong` })).toBe(401);
    expect(await upgrade({ cookie: right })).toBe(403);
    expect(await upgrade({ origin: 'http://evil.example', cookie: right })).toBe(403);
    expect(await upgrade({ origin: origin(), host: 'evil.example', cookie: right })).toBe(403);
    expect(await upgrade({ origin: origin(), cookie: right }, '/other')).toBe(404);
    // The token in a query string is not a way in.
    expect(await upgrade({ origin: origin() }, `/rpc?token=${token()}`)).toBe(404);
  });
});

/** The request for the socket and what follows it, in one write. The socket is the caller's to end. */
function upgradeWith(frame: Buffer, cookieHeader: string): { received: Promise<Buffer>; text: () => string; end: () => void } {
  const socket = connect(web.port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const received = new Promise<Buffer>((resolve) => socket.on('close', () => resolve(Buffer.concat(chunks))));
  const head = [
    'GET /rpc HTTP/1.1',
    `Host: 127.0.0.1:${web.port}`,
    `Origin: ${origin()}`,
    `Cookie: ${cookieHeader}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  ];
  socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), frame]));
  return { received, text: () => Buffer.concat(chunks).toString('latin1'), end: () => socket.destroy() };
}

describe('what comes with the handshake', () => {
  test('a malformed frame ends that connection and nothing else', async () => {
    // A binary frame of one byte without the mask that a client must use.
    const { received } = upgradeWith(Buffer.from([0x82, 0x01, 0x00]), await cookie());
    expect((await received).toString('latin1')).toMatch(/^HTTP\/1\.1 101 /);
    expect((await ask('/')).status).toBe(200);
    expect(failures).toEqual([]);
  });

  test('a call is answered', async () => {
    const body = encodeFrame({ t: 'call', id: 1, name: 'app.info', input: {} });
    expect(body.length).toBeLessThan(126);
    // The mask is zero, which changes nothing.
    const { text, end } = upgradeWith(Buffer.concat([Buffer.from([0x82, 0x80 | body.length, 0, 0, 0, 0]), body]), await cookie());
    await expect.poll(text, { interval: 5 }).toContain(dir);
    end();
  });
});

describe('the engine behind it', () => {
  test('answers over the socket; a message of more than 16 MiB ends it', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${web.port}/rpc`, { headers: { origin: origin(), cookie: await cookie() } });
    // Joined before it is open: the engine's first frame may come with the handshake.
    const client = createClient<Contract>(fromWebSocket(socket), contractHash(contract));
    expect((await client.call('app.info', {})).dataDir).toBe(dir);
    await expect(client.call('task.inspect', { path: 'x'.repeat(17 << 20) })).rejects.toMatchObject({ code: 'closed' });
    await client.closed;
    expect(failures).toEqual([]);
  });

  test('a taken port is named', async () => {
    await expect(startWebHost({ engine, rendererDir: dir, port: web.port, onError: () => {} })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(new RegExp(`port ${web.port} .*another program uses it`)),
    });
  });
});
