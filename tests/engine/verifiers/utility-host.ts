// Started by runner.test.ts: a process that looks to the runner like an Electron utility process. The one MessagePort that it hands over,
// before the runner has loaded its modules, is this process's own IPC channel.
import type { MessagePortMainLike } from '#electron/host/ports/message-port-main.ts';

type Handed = { readonly ports: readonly MessagePortMainLike[] };

const port: MessagePortMainLike = {
  postMessage: (message) => {
    if (process.connected && typeof message === 'object' && message !== null) process.send?.(message);
  },
  on: (event: 'message' | 'close', listener: (event: { data: unknown }) => void) =>
    event === 'message' ? process.on('message', (data) => listener({ data })) : process.on('disconnect', () => listener({ data: null })),
  start: () => {},
  close: () => process.disconnect(),
};

Object.defineProperty(process, 'parentPort', {
  value: { on: (_: 'message', listener: (event: Handed) => void) => queueMicrotask(() => listener({ ports: [port] })) },
});
process.on('disconnect', () => process.exit(0));

const [entry = ''] = process.argv.slice(2);
await import(entry);
