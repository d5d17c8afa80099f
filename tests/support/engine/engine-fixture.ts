// A whole engine on a temporary data folder: real store, real runner process, real contract over an in-memory port.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Core } from '#electron/core/core.ts';
import { createCore } from '#electron/core/create-core.ts';
import { type ForkedRunner, forkRunner } from '#electron/verifiers/fork-runner.ts';
import { contract, type Contract } from '#shared/contract/contract.ts';
import { type Client, createClient } from '#shared/rpc/client.ts';
import { createPortPair } from '#shared/rpc/port.ts';
import { serve } from '#shared/rpc/server.ts';

const root = new URL('../../../', import.meta.url);

export type Engine = {
  readonly core: Core;
  readonly client: Client<Contract>;
  readonly dataDir: string;
  readonly runner: ForkedRunner;
  /** As a host does it: client first, then the core, then the runner. Keeps the folder; a second call waits for the first. */
  close(): Promise<void>;
};

/** A fresh folder under the system's, removed by `remove`. */
export async function temporaryFolder(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pawl-engine-'));
  return { path: folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Starts an engine on `dataDir` with a runner of its own, and joins a client to it. `storeWorker` is the store's own unless a test gives another. */
export async function startEngine(dataDir: string, storeWorker = new URL('electron/store/worker.ts', root)): Promise<Engine> {
  const runner = forkRunner(new URL('electron/verifiers/runner.ts', root));
  const core = await createCore({
    dataDir,
    runner: runner.port,
    storeWorker,
    samplesDir: path.join(root.pathname, 'resources/tasks'),
    appVersion: '0.0.0-test',
  });
  const [here, there] = createPortPair();
  serve(contract, core.handlers, there, {
    hello: { contract: 'test', version: '0.0.0-test', journal: await core.journal() },
    blob: (sha) => core.blob(sha),
  });
  const client = createClient<Contract>(here, 'test');
  await client.hello;
  const shutDown = async () => {
    client.close();
    await core.close();
    runner.kill();
    await runner.exited;
  };
  let closed: Promise<void> | null = null;
  return { core, client, dataDir, runner, close: () => (closed ??= shutDown()) };
}
