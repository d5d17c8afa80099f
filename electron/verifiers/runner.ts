// Entry of the runner, the one process that starts verifiers (architecture.md, Processes), and of its own threads. It imports little and
// stays small, because starting a process takes its parent time in proportion to the parent's memory. Whoever hosts the engine starts it:
// forked by Node (see fork-runner.ts) it serves the IPC channel; as an Electron utility process it serves every MessagePort that it is
// handed through `process.parentPort`.
import { fileURLToPath } from 'node:url';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import type { MessagePortMainLike } from '#electron/host/ports/message-port-main.ts';

/** What tells a thread for adapters from one for QuickJS. */
const adapterRole = 'adapters';

type ParentPort = { on(event: 'message', listener: (event: { ports: readonly MessagePortMainLike[] }) => void): unknown };

const isParentPort = (value: unknown): value is ParentPort =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'on') === 'function';

if (isMainThread) {
  // Ctrl-C goes to every process of a terminal, also to one that is still loading; when to end is the host's decision (see runner-main.ts).
  process.on('SIGINT', () => {});
  process.on('SIGHUP', () => {});
  // Heard at once: a port may be handed over before the rest is loaded.
  const early: MessagePortMainLike[] = [];
  let take = (port: MessagePortMainLike): void => void early.push(port);
  const parentPort: unknown = Reflect.get(process, 'parentPort');
  const utility = isParentPort(parentPort);
  if (utility) parentPort.on('message', ({ ports }) => ports.forEach((port) => take(port)));

  const { createRunner } = await import('./runner-main.ts');
  const runner = createRunner({
    createWorker: () =>
      new Worker(fileURLToPath(import.meta.url), {
        resourceLimits: { stackSizeMb: 16, maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 128 },
      }),
    createAdapterWorker: () =>
      new Worker(fileURLToPath(import.meta.url), {
        workerData: adapterRole,
        resourceLimits: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 256 },
      }),
  });
  if (utility) {
    const { fromMessagePortMain } = await import('#electron/host/ports/message-port-main.ts');
    take = (port) => runner.serve(fromMessagePortMain(port));
    early.forEach(take);
  } else if (process.send !== undefined) {
    const { fromParentProcess } = await import('#electron/host/ports/process-ipc.ts');
    runner.serve(fromParentProcess(process));
    // Without its host nobody asks for anything any more.
    process.once('disconnect', () => void runner.close().then(() => process.exit(0)));
  } else {
    process.stderr.write('the runner is started by Pawl, with an IPC channel or as a utility process\n');
    process.exitCode = 2;
  }
} else if (workerData === adapterRole) {
  const { serveAdapters } = await import('./adapters/serve-adapters.ts');
  serveAdapters();
} else {
  const { serveQuickJs } = await import('./quickjs-worker.ts');
  await serveQuickJs();
}
