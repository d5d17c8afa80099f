// Entry of Electron's utility process: the engine of one data folder. Every port that main hands over is one client of it.
import type { MessagePortMain } from 'electron';
import { createCore } from '#electron/core/create-core.ts';
import { openLog } from '#electron/core/log.ts';
import type { Port } from '#shared/rpc/port.ts';
import { appVersion } from './app-version.ts';
import { openDataDir } from './data-dir.ts';
import { acquireEngine, type RunnerProcess } from './engine.ts';
import { entries, samplesDir } from './entries.ts';
import { keepEngine, type EngineKeeper } from './keeper.ts';
import { fromMessagePortMain } from './ports/message-port-main.ts';
import { ToEngine, type FromEngine } from './utility-messages.ts';
import { messageOf } from '#shared/lib/message-of.ts';

const { parentPort } = process;
const tell = (message: FromEngine) => parentPort.postMessage(message);
const say = (error: unknown) => void process.stderr.write(`engine: ${messageOf(error)}\n`);

let runnerArrived = (_port: Port) => {};
let runnerGone = () => {};

/** Asks main for a runner. */
function startRunner(): Promise<RunnerProcess> {
  const exited = new Promise<void>((resolve) => {
    runnerGone = resolve;
  });
  return new Promise((resolve) => {
    runnerArrived = (port) => resolve({ port, exited });
    tell({ t: 'need-runner' });
  });
}

async function start(): Promise<EngineKeeper> {
  const dataDir = openDataDir(process.argv[2] ?? '');
  let log: ReturnType<typeof openLog> | undefined;
  const acquire = () =>
    acquireEngine({
      dataDir,
      appVersion,
      createCore,
      startRunner,
      storeWorker: entries.storeWorker,
      samplesDir,
      logInternal: (error, name) => (log ??= openLog(dataDir)).internal(error, name),
    });
  return keepEngine(acquire, say);
}

const engine = start();
engine.catch((error: unknown) => {
  tell({ t: 'failed', message: messageOf(error) });
  // The message goes out first.
  setImmediate(() => process.exit(1));
});

const attach = async (port: MessagePortMain) => {
  try {
    await (await engine).attach(fromMessagePortMain(port));
  } catch (error) {
    say(error);
    port.close();
  }
};

parentPort.on('message', ({ data, ports: [port] }) => {
  const message = ToEngine.parse(data);
  switch (message.t) {
    case 'client':
      if (port) void attach(port);
      break;
    case 'runner':
      if (port) runnerArrived(fromMessagePortMain(port));
      break;
    case 'runner-exited':
      runnerGone();
      break;
    case 'close':
      engine
        .then((keeper) => keeper.close())
        .catch(say)
        .finally(() => process.exit(0));
      break;
  }
});
