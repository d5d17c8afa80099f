// The engine as the main process sees it: a utility process that it starts, connects, watches and ends, and the runner beside it.
import { MessageChannelMain, utilityProcess, type MessagePortMain, type UtilityProcess } from 'electron';
import path from 'node:path';
import { contract, type Contract } from '#shared/contract/contract.ts';
import { contractHash } from '#shared/contract/contract-hash.ts';
import { RpcError } from '#shared/contract/errors.ts';
import { createClient, type Client } from '#shared/rpc/client.ts';
import { fromMessagePortMain } from '#electron/host/ports/message-port-main.ts';
import { FromEngine, type ToEngine } from '#electron/host/utility-messages.ts';

export type EngineProcess = {
  /** A new port to the engine; null while it is dead. */
  connect(): MessagePortMain | null;
  /** Plain bytes of a stored object. */
  blob(sha: string): Promise<Uint8Array | null>;
  /** Starts a new engine where the old one has died; nothing otherwise. */
  restart(): void;
  /** Why there is no engine, null while there is one. */
  stopped(): string | null;
  /** Ends engine and runner in order. */
  close(): Promise<void>;
};

/** An engine that has not ended after so long is killed; the folder's lock and the store bear that. */
const closeMs = 5_000;

/** `entryDir` holds utility.js and runner.js. `onStopped` is told when the engine dies without having been asked to. */
export function startEngineProcess(entryDir: string, dataDir: string, onStopped: (reason: string) => void): EngineProcess {
  let engine: UtilityProcess | null = null;
  let runner: UtilityProcess | null = null;
  let own: Client<Contract> | null = null;
  let stopped: string | null = null;
  let closing = false;

  const startRunner = (forEngine: UtilityProcess) => {
    runner?.kill();
    const started = utilityProcess.fork(path.join(entryDir, 'runner.js'), [], { serviceName: 'Pawl runner', stdio: 'inherit' });
    const { port1, port2 } = new MessageChannelMain();
    started.postMessage(null, [port1]);
    tell(forEngine, { t: 'runner' }, port2);
    started.on('exit', () => {
      if (runner !== started) return;
      runner = null;
      if (engine === forEngine) tell(forEngine, { t: 'runner-exited' });
    });
    runner = started;
  };

  const start = () => {
    stopped = null;
    const started = utilityProcess.fork(path.join(entryDir, 'utility.js'), [dataDir], { serviceName: 'Pawl engine', stdio: 'inherit' });
    engine = started;
    let reason: string | null = null;
    started.on('message', (raw: unknown) => {
      const message = FromEngine.parse(raw);
      if (message.t === 'need-runner') startRunner(started);
      else reason = message.message;
    });
    started.on('exit', (code) => {
      engine = null;
      own = null;
      runner?.kill();
      runner = null;
      stopped = reason ?? `the engine process ended with code ${code}`;
      if (!closing) onStopped(stopped);
    });
  };

  const connect = (): MessagePortMain | null => {
    if (!engine) return null;
    const { port1, port2 } = new MessageChannelMain();
    tell(engine, { t: 'client' }, port1);
    return port2;
  };

  start();
  return {
    connect,
    blob: async (sha) => {
      if (!own) {
        const port = connect();
        if (!port) throw new RpcError('unavailable', stopped ?? 'there is no engine');
        const client = createClient<Contract>(fromMessagePortMain(port), contractHash(contract));
        own = client;
        void client.closed.then(() => {
          if (own === client) own = null;
        });
      }
      return own.blob(sha);
    },
    restart: () => {
      if (!engine && !closing) start();
    },
    stopped: () => stopped,
    close: async () => {
      closing = true;
      const ending = engine;
      if (!ending) return;
      const exited = new Promise<void>((resolve) => ending.once('exit', () => resolve()));
      tell(ending, { t: 'close' });
      const timer = setTimeout(() => ending.kill(), closeMs);
      await exited;
      clearTimeout(timer);
    },
  };
}

function tell(engine: UtilityProcess, message: ToEngine, port?: MessagePortMain): void {
  engine.postMessage(message, port ? [port] : []);
}
