// A process of its own that reaches the engine of a folder with the fake core, for tests of the lock and of what happens when an owner dies.
// Arguments: data folder, socket address. Tells its role by IPC; `close` ends it politely, SIGKILL is up to the test.
import { acquireEngine } from '#electron/host/engine.ts';
import { createFakeCore, fakeRunner } from './fake-core.ts';

const [dataDir = '', address = ''] = process.argv.slice(2);
const engine = await acquireEngine({
  dataDir,
  addresses: [address],
  appVersion: '0.0.0',
  startRunner: fakeRunner,
  createCore: () => createFakeCore({ dataDir }),
  storeWorker: new URL('file:///none'),
  samplesDir: '/none',
  logInternal: () => 'none',
});
process.send?.({ role: engine.role });
process.on('message', () => {
  void engine.close().then(() => process.disconnect());
});
