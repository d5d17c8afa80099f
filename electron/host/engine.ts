// Reaches the engine of a data folder: the one that runs already, or one started here. Exactly one engine owns a folder.
import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Core, CoreOptions } from '#electron/core/core.ts';
import { contract, type Contract } from '#shared/contract/contract.ts';
import { RpcError } from '#shared/contract/errors.ts';
import { contractHash } from '#shared/contract/contract-hash.ts';
import { createClient, engineLiveness, type Client, type Liveness } from '#shared/rpc/client.ts';
import { createPortPair, type Port } from '#shared/rpc/port.ts';
import { serve, type Serving } from '#shared/rpc/server.ts';
import { engineAddresses } from './address.ts';
import { holderText, lockHolder, takeLock, type Lock } from './lock.ts';
import { bridge } from './ports/bridge.ts';
import { fromSocket } from './ports/local-socket.ts';

export type EngineOptions = {
  /** Real path of the data folder, from `openDataDir`. */
  readonly dataDir: string;
  readonly appVersion: string;
  /** Starts the runner process. Called only when the engine starts here. */
  readonly startRunner: () => Promise<RunnerProcess>;
  readonly createCore: (options: CoreOptions) => Core | Promise<Core>;
  readonly storeWorker: URL;
  readonly samplesDir: string;
  /** Keeps an unexpected failure and returns the id under which it can be found. */
  readonly logInternal: (error: unknown, name: string) => string;
  /** How long an engine may take to answer, in ms: it may be starting, or closing. */
  readonly waitMs?: number;
  /** Where it listens; the tests give their own. */
  readonly addresses?: readonly string[];
  /** How long the engine of another process may be silent once it has answered. */
  readonly liveness?: Liveness;
};

/** The process that spawns verifiers, whoever started it. Closing the port ends it. */
export type RunnerProcess = { readonly port: Port; readonly exited: Promise<unknown> };

export type EngineHandle = {
  readonly client: Client<Contract>;
  /** `owner`: the engine runs in this process. */
  readonly role: 'owner' | 'client';
  /** Joins a page or another client to the engine; the port is closed when the engine goes. */
  attach(port: Port): Promise<void>;
  /** Plain bytes of a stored object. */
  blob(sha: string): Promise<Uint8Array | null>;
  /** Runs that are alive here, and calls of other processes under way here: what would be cut off by closing. 0 for a client. */
  dependants(): number;
  /** Resolves when our engine has lost its runner or its store and can only be replaced. Never for a client. */
  readonly crippled: Promise<void>;
  /** Resolves when the engine is gone, whoever ended it. */
  readonly closed: Promise<void>;
  /** Leaves the engine; its owner ends it and releases the folder. */
  close(): Promise<void>;
};

const pollMs = 50;
const helloMs = 3_000;
const drainMs = 1_000;

/**
 * Connects to the engine of the folder, or becomes its owner. Rejects with `incompatible` (the engine speaks another contract) or
 * `unavailable` (the folder is locked by an engine that does not answer, or the engine cannot start).
 */
export async function acquireEngine(options: EngineOptions): Promise<EngineHandle> {
  const addresses = options.addresses ?? engineAddresses(options.dataDir);
  const deadline = performance.now() + (options.waitMs ?? 8_000);
  for (;;) {
    const joined = await join(addresses, options.liveness ?? engineLiveness);
    if (joined) return joined;
    const lock = takeLock(options.dataDir);
    if (lock) return own(options, addresses, lock);
    if (performance.now() > deadline) {
      throw new RpcError(
        'unavailable',
        `the data folder ${options.dataDir} is locked by ${holderText(lockHolder(options.dataDir))} Or use another folder with --data DIR.`,
        { file: options.dataDir },
      );
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

/** A client of the first address that answers, or null. */
async function join(addresses: readonly string[], liveness: Liveness): Promise<EngineHandle | null> {
  for (const address of addresses) {
    const socket = await dial(address);
    if (!socket) continue;
    const client = createClient<Contract>(fromSocket(socket), contractHash(contract), liveness);
    if (!(await greeted(client))) {
      client.close();
      continue;
    }
    return {
      client,
      role: 'client',
      attach: async (port) => {
        const own = await dial(address);
        if (own) bridge(port, fromSocket(own));
        else port.close();
      },
      blob: (sha) => client.blob(sha),
      dependants: () => 0,
      crippled: new Promise(() => {}),
      closed: client.closed,
      close: () => {
        client.close();
        return client.closed;
      },
    };
  }
  return null;
}

/** True once the engine has shown our contract, false when it hangs up or stays silent; rejects with `incompatible`. */
async function greeted(client: Client<Contract>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  try {
    const silence = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), helloMs);
    });
    return await Promise.race([client.hello.then(() => true), silence]);
  } catch (error) {
    if (error instanceof RpcError && error.code === 'incompatible') throw error;
    return false;
  } finally {
    clearTimeout(timer);
  }
}

function dial(address: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(address);
    socket.once('connect', () => resolve(socket));
    // Nobody there, a stale file, or a folder that is gone: all mean that no engine answers here.
    socket.once('error', () => resolve(null));
  });
}

async function own(options: EngineOptions, addresses: readonly string[], lock: Lock): Promise<EngineHandle> {
  const undo: (() => unknown)[] = [() => lock.release()];
  try {
    const runner = await options.startRunner();
    undo.unshift(() => runner.port.close());
    const core = await options.createCore({
      dataDir: options.dataDir,
      runner: runner.port,
      storeWorker: options.storeWorker,
      samplesDir: options.samplesDir,
      appVersion: options.appVersion,
    });
    undo.unshift(() => core.close());

    let closing: Promise<void> | undefined;
    let markClosed = () => {};
    const closed = new Promise<void>((resolve) => {
      markClosed = resolve;
    });
    const ports = new Set<Port>();
    const remote = new Set<Serving>();

    const attach = async (port: Port, serving: Set<Serving>) => {
      const hello = { contract: contractHash(contract), version: options.appVersion, journal: closing ? 0 : await core.journal() };
      // Served by an engine that is going, it would be refused everything and never learn of the next one.
      if (closing) {
        port.close();
        return;
      }
      const tracked: Port = {
        send: (frame) => port.send(frame),
        listen: (onFrame, onClose) =>
          port.listen(onFrame, () => {
            ports.delete(tracked);
            serving.delete(served);
            onClose();
          }),
        close: () => port.close(),
      };
      ports.add(tracked);
      const served = serve(contract, core.handlers, tracked, {
        hello,
        blob: (sha) => core.blob(sha),
        onInternal: options.logInternal,
        refuse: () => (closing ? new RpcError('unavailable', 'the engine is closing; try again') : null),
      });
      serving.add(served);
    };

    const server = await listen(addresses, (socket) => {
      attach(fromSocket(socket), remote).catch((error: unknown) => {
        options.logInternal(error, 'connection');
        socket.destroy();
      });
    });

    const [here, there] = createPortPair();
    await attach(there, new Set());
    const client = createClient<Contract>(here, contractHash(contract));
    const busy = (kinds: readonly ('query' | 'command')[]) =>
      [...remote].reduce((sum, s) => sum + kinds.reduce((n, kind) => n + s.active(kind), 0), 0);

    const shutDown = async () => {
      // No new clients, no new calls; those under way get their answer, so that nobody has to guess whether a command was carried out.
      const unheard = server === null ? Promise.resolve() : new Promise<void>((resolve) => server.close(() => resolve()));
      const until = performance.now() + drainMs;
      // A call that lies unread in a socket when that closes could not be told from one that was carried out.
      const parting = [...remote];
      for (const serving of parting) serving.goodbye();
      const unread = () => parting.some((serving) => remote.has(serving) && !serving.left());
      while ((unread() || busy(['query', 'command']) > 0) && performance.now() < until)
        await new Promise((resolve) => setTimeout(resolve, 10));
      for (const port of ports) port.close();
      try {
        await core.close();
      } finally {
        runner.port.close();
        lock.release();
        await unheard;
        markClosed();
      }
    };

    return {
      client,
      role: 'owner',
      attach: (port) => attach(port, new Set()),
      blob: (sha) => core.blob(sha),
      crippled: Promise.race([runner.exited, core.lost]).then(() => {}),
      dependants: () => core.liveRuns() + busy(['command']),
      closed,
      close: () => (closing ??= shutDown()),
    };
  } catch (error) {
    for (const step of undo) await step();
    throw error;
  }
}

/** Listens on the first address that can be had; null where none can, and then this engine serves its own process alone. */
async function listen(addresses: readonly string[], onSocket: (socket: Socket) => void): Promise<Server | null> {
  for (const address of addresses) {
    const isFile = !address.startsWith('\\\\');
    // Left by an engine that was killed: we hold the lock, so nobody listens there.
    if (isFile) rmSync(address, { force: true });
    const server = createServer(onSocket);
    const listening = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(address, () => resolve(true));
    });
    if (!listening) continue;
    if (isFile) chmodSync(address, 0o600);
    return server;
  }
  return null;
}
