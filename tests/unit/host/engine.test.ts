import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { acquireEngine, type EngineHandle, type RunnerProcess } from '#electron/host/engine.ts';
import { keepEngine } from '#electron/host/keeper.ts';
import { takeLock } from '#electron/host/lock.ts';
import { fromSocket } from '#electron/host/ports/local-socket.ts';
import { contract, type Contract } from '#shared/contract/contract.ts';
import { contractHash } from '#shared/contract/contract-hash.ts';
import { createClient, type Liveness } from '#shared/rpc/client.ts';
import { createPortPair } from '#shared/rpc/port.ts';
import { createFakeCore, fakeRunner } from '../../support/fake-core.ts';

let dir = '';
let address = '';
const open: { close(): unknown }[] = [];
const children: ChildProcess[] = [];
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'pawl-eng-'));
  address = path.join(dir, 'e.sock');
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')) await once(child, 'exit');
  }
  for (const thing of open.splice(0)) await thing.close();
  rmSync(dir, { recursive: true, force: true });
});

const blobs = new Map([['ab', new Uint8Array([1, 2, 3])]]);
const acquire = (
  more: {
    waitMs?: number;
    startPotential?: number;
    lost?: Promise<void>;
    liveness?: Liveness;
    startRunner?: () => Promise<RunnerProcess>;
  } = {},
): Promise<EngineHandle> =>
  acquireEngine({
    dataDir: dir,
    addresses: [address],
    appVersion: '0.0.0',
    startRunner: fakeRunner,
    createCore: (options) => createFakeCore({ dataDir: options.dataDir, blobs, ...more }),
    storeWorker: new URL('file:///none'),
    samplesDir: '/none',
    logInternal: () => 'none',
    ...more,
  });
const kept = async (promise: Promise<EngineHandle>) => {
  const engine = await promise;
  open.push(engine);
  return engine;
};
const inAnotherProcess = async (): Promise<{ child: ChildProcess; role: unknown }> => {
  const child = fork(path.join(import.meta.dirname, '../../support/engine-process.ts'), [dir, address], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  children.push(child);
  const [message] = await once(child, 'message');
  return { child, role: Reflect.get(Object(message), 'role') };
};
const start = (engine: EngineHandle, task: string) =>
  engine.client.call('run.start', { task: `/tasks/${task}`, proposer: 'search', slots: 1, seed: 1 });

describe('one folder', () => {
  test('the first becomes the owner, the next its client; both see the same runs and bytes', async () => {
    const owner = await kept(acquire());
    const client = await kept(acquire());
    expect([owner.role, client.role]).toEqual(['owner', 'client']);
    expect(statSync(address).mode & 0o777).toBe(0o600);
    const { run } = await start(client, 'slow');
    expect(owner.dependants()).toBe(1);
    expect((await owner.client.call('run.list', { limit: 10 })).runs.map((r) => r.id)).toEqual([run]);
    expect(await client.blob('ab')).toEqual(new Uint8Array([1, 2, 3]));
    expect(await client.blob('cd')).toBeNull();
    expect((await client.client.hello).version).toBe('0.0.0');
  });

  test('many at once: one owner', async () => {
    const engines = await Promise.all(Array.from({ length: 6 }, () => kept(acquire())));
    expect(engines.filter((e) => e.role === 'owner')).toHaveLength(1);
  });

  test('a page is joined to an engine of another process', async () => {
    const { role } = await inAnotherProcess();
    expect(role).toBe('owner');
    const proxy = await kept(acquire());
    expect(proxy.role).toBe('client');
    const [page, host] = createPortPair();
    await proxy.attach(host);
    const client = createClient<Contract>(page, contractHash(contract));
    expect((await client.call('app.info', {})).dataDir).toBe(dir);
    client.close();
  });

  test('closing refuses the calls that it has not read, instead of cutting them off', async () => {
    const owner = await acquire();
    const socket = connect(address);
    const port = fromSocket(socket);
    const frames: unknown[] = [];
    const gone = new Promise<void>((resolve) => port.listen((frame) => frames.push(frame), resolve));
    await expect.poll(() => frames, { interval: 1 }).toMatchObject([{ t: 'hello' }]);
    const closing = owner.close();
    // As of a client that has not heard of it yet.
    await expect.poll(() => frames.at(-1), { interval: 1 }).toEqual({ t: 'bye' });
    port.send({ t: 'call', id: 1, name: 'app.info', input: {} });
    port.send({ t: 'call', id: 2, name: 'run.start', input: { task: '/tasks/slow', proposer: 'search', slots: 1, seed: 1 } });
    port.send({ t: 'bye' });
    await gone;
    await closing;
    expect(frames.slice(2)).toMatchObject([
      { t: 'err', id: 1, code: 'unavailable' },
      { t: 'err', id: 2, code: 'unavailable' },
    ]);
  });

  test('closing answers what is under way, refuses what comes later, and frees the folder', async () => {
    const owner = await acquire({ startPotential: 50 });
    const client = await kept(acquire());
    const { run } = await start(client, 'slow');
    // The fake answers run.stop at its next attempt, 20 ms later: the call is under way when the engine is told to close.
    const stopping = client.client.call('run.stop', { run });
    await expect.poll(() => owner.dependants(), { interval: 1 }).toBe(2);
    const closing = owner.close();
    expect(await stopping).toEqual({ stop: 'user' });
    await closing;
    await client.closed;
    await expect(client.client.call('app.info', {})).rejects.toMatchObject({ code: expect.stringMatching(/^(closed|unavailable)$/) });
    expect(existsSync(address)).toBe(false);
    expect((await kept(acquire())).role).toBe('owner');
  });
});

describe('trouble', () => {
  test('an owner that is killed leaves a stale socket and no lock: the next one takes over', async () => {
    const { child } = await inAnotherProcess();
    const keeper = await keepEngine(
      () => acquire(),
      () => {},
    );
    open.push(keeper);
    const first = await keeper.current();
    expect(first.role).toBe('client');
    child.kill('SIGKILL');
    await first.closed;
    await expect.poll(async () => (await keeper.current()).role).toBe('owner');
    const [page, host] = createPortPair();
    await keeper.attach(host);
    expect((await createClient<Contract>(page, contractHash(contract)).call('app.info', {})).dataDir).toBe(dir);
  });

  test('an engine that has lost its runner is replaced, and its pages find the next one', async () => {
    let runnerEnds = () => {};
    const runners = [
      new Promise<void>((resolve) => {
        runnerEnds = resolve;
      }),
    ];
    const keeper = await keepEngine(
      () =>
        acquire({
          startRunner: async () => ({ ...(await fakeRunner()), exited: runners.shift() ?? new Promise(() => {}) }),
        }),
      () => {},
    );
    open.push(keeper);
    const first = await keeper.current();
    const [page, host] = createPortPair();
    await keeper.attach(host);
    const client = createClient<Contract>(page, contractHash(contract));
    expect((await client.call('app.info', {})).dataDir).toBe(dir);
    runnerEnds();
    await first.closed;
    await client.closed;
    await expect.poll(async () => (await keeper.current()) !== first).toBe(true);
    const [again, next] = createPortPair();
    await keeper.attach(next);
    expect((await createClient<Contract>(again, contractHash(contract)).call('app.info', {})).dataDir).toBe(dir);
  });

  test('an engine whose store has died is replaced too', async () => {
    let storeDies = () => {};
    const stores = [
      new Promise<void>((resolve) => {
        storeDies = resolve;
      }),
    ];
    const keeper = await keepEngine(
      () => acquire({ lost: stores.shift() ?? new Promise<void>(() => {}) }),
      () => {},
    );
    open.push(keeper);
    const first = await keeper.current();
    storeDies();
    await first.closed;
    await expect.poll(async () => (await keeper.current()) !== first).toBe(true);
    expect((await (await keeper.current()).client.call('app.info', {})).dataDir).toBe(dir);
  });

  test('an owner that leaves politely hands over as well', async () => {
    const { child } = await inAnotherProcess();
    const engine = await kept(acquire());
    child.send('close');
    await engine.closed;
    expect((await kept(acquire())).role).toBe('owner');
  });

  test('a locked folder whose engine does not answer is refused by name', async () => {
    const lock = takeLock(dir);
    open.push({ close: () => lock?.release() });
    await expect(acquire({ waitMs: 100 })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(dir),
      where: { file: dir },
    });
  });

  describe.skipIf(process.platform === 'win32')('an engine that is suspended', () => {
    const named = (pid: number | undefined) =>
      process.platform === 'linux'
        ? `another Pawl \\(process ${pid}\\) that is suspended, as by Ctrl-Z. .*kill -CONT ${pid}`
        : 'another Pawl that does not answer';

    test('is named to whoever comes next, in time', async () => {
      const { child } = await inAnotherProcess();
      child.kill('SIGSTOP');
      const begun = performance.now();
      await expect(acquire({ waitMs: 500 })).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(named(child.pid)),
        where: { file: dir },
      });
      // One hello that never came, and what was left of the wait.
      expect(performance.now() - begun).toBeLessThan(10_000);
      child.kill('SIGCONT');
      expect((await kept(acquire())).role).toBe('client');
    });

    test('is left by a client that waits for an answer, whose host says why once and finds it again when it goes on', async () => {
      const { child } = await inAnotherProcess();
      const told: string[] = [];
      const keeper = await keepEngine(
        () => acquire({ waitMs: 100, liveness: { quietMs: 100, patience: 4 } }),
        (error) => told.push(String(error)),
      );
      open.push(keeper);
      const engine = await keeper.current();
      expect((await engine.client.call('app.info', {})).dataDir).toBe(dir);
      child.kill('SIGSTOP');
      await expect(engine.client.call('app.info', {})).rejects.toMatchObject({
        code: 'closed',
        message: expect.stringContaining('hangs or is suspended'),
      });
      await engine.closed;
      await expect.poll(() => told, { timeout: 10_000 }).toMatchObject([expect.stringMatching(named(child.pid))]);
      child.kill('SIGCONT');
      expect((await (await keeper.current()).client.call('app.info', {})).dataDir).toBe(dir);
      expect(told).toHaveLength(1);
    });
  });

  test('a client waits for an engine that is starting', async () => {
    const lock = takeLock(dir);
    const waiting = kept(acquire());
    lock?.release();
    expect((await waiting).role).toBe('owner');
  });

  test('an engine of another contract is refused, not replaced', async () => {
    const server = createServer((socket) => {
      const port = fromSocket(socket);
      port.listen(
        () => {},
        () => {},
      );
      port.send({ t: 'hello', contract: 'another', version: '9.9.9', journal: 0 });
    });
    server.listen(address);
    await once(server, 'listening');
    open.push({ close: () => server.close() });
    await expect(acquire()).rejects.toMatchObject({ code: 'incompatible', message: expect.stringContaining('9.9.9') });
  });

  test('a damaged lock file is named', async () => {
    writeFileSync(path.join(dir, 'lock.db'), 'not a database, and long enough to be looked at as one'.repeat(20));
    await expect(acquire()).rejects.toMatchObject({ code: 'unavailable', where: { file: path.join(dir, 'lock.db') } });
  });

  test('a core that does not start frees the folder', async () => {
    const failing = acquireEngine({
      dataDir: dir,
      addresses: [address],
      appVersion: '0.0.0',
      startRunner: fakeRunner,
      createCore: () => Promise.reject(new Error('broken store')),
      storeWorker: new URL('file:///none'),
      samplesDir: '/none',
      logInternal: () => 'none',
    });
    await expect(failing).rejects.toThrow('broken store');
    expect((await kept(acquire())).role).toBe('owner');
  });
});
