// Starts the runner from a host that is plain Node (web, command line, tests). The engine itself never calls this: in the packed app it
// could not, there Electron's main process starts the runner as a utility process.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { fromChildProcess } from '#electron/host/ports/process-ipc.ts';
import type { Port } from '#shared/rpc/port.ts';
import type { Owner } from './sandbox/unprivileged.ts';

export type ForkedRunner = {
  readonly port: Port;
  readonly pid: number | undefined;
  /** Its exit code; null when a signal ended it or it could not be started. */
  readonly exited: Promise<number | null>;
  /** Ends it and what it runs (SIGTERM, the default); SIGKILL leaves its verifiers to the next start. */
  kill(signal?: 'SIGTERM' | 'SIGKILL'): void;
};

/**
 * Forks `entry` (runner.ts or its built twin), as another user when `owner` is given. It ends by itself when this process does. Its stderr
 * is ours, its stdout goes nowhere.
 */
export function forkRunner(entry: URL, owner: Owner | null = null): ForkedRunner {
  const child = fork(fileURLToPath(entry), [], {
    ...owner,
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [],
    // A process group of its own: Ctrl-C would end it while Node still starts it and nothing of ours can ignore the signal yet.
    detached: process.platform !== 'win32',
  });
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => resolve(code));
    child.once('error', () => resolve(null));
  });
  return { port: fromChildProcess(child), pid: child.pid, exited, kill: (signal = 'SIGTERM') => void child.kill(signal) };
}
