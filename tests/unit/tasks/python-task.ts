// The verifier of a Python repair task, called many times through one interpreter (python-driver.py).
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ensure } from '#shared/lib/assert.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import type { LoadedTask } from '#electron/core/tasks/load-task.ts';
import { TaskReport } from './task-report.ts';

const driver = fileURLToPath(new URL('./python-driver.py', import.meta.url));
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const startDriver = (folder: string) => {
  const child = spawn('python3', ['-I', '-B', driver, path.join(folder, 'verifier')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], PAWL_NONCE: 'n1', PAWL_TREE: 't1', PAWL_CONTRACT: 'c1' },
  });
  const waiting: { readonly resolve: (line: string) => void; readonly reject: (error: Error) => void }[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => waiting.shift()?.resolve(line));
  child.once('exit', (code) => waiting.splice(0).forEach(({ reject }) => reject(new Error(`the driver ended with ${code}`))));
  return {
    ask: (request: unknown): Promise<string> =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        child.stdin.write(`${JSON.stringify(request)}\n`);
      }),
    close: () => void child.kill(),
  };
};

/** Verifications go to `processes` interpreters in turn; `close` ends them. */
export function pythonVerifier(task: Pick<LoadedTask, 'contract'>, folder: string, processes = 4) {
  const drivers = Array.from({ length: processes }, () => startDriver(folder));
  let next = 0;
  const reportOf = async (files: readonly TreeFile[]): Promise<TaskReport> => {
    const ask = ensure(drivers[next++ % processes], 'a driver').ask;
    return TaskReport.parse(JSON.parse(await ask({ files: Object.fromEntries(files.map(({ path, bytes }) => [path, decode(bytes)])) })));
  };
  return {
    reportOf,
    rankOf: async (files: readonly TreeFile[]): Promise<number[]> => {
      const { values } = await reportOf(files);
      return task.contract.obligations.map(({ key }) => ensure(values[key], `a value for ${key}`));
    },
    close: () => drivers.forEach(({ close }) => close()),
  };
}
