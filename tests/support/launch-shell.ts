// launchShell(): the built Electron app, on a real binary where there is one, else under the double of the electron module.
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { _electron, chromium, type Page } from 'playwright-core';
import { electronBinary } from '#electron/host/electron-binary.ts';
import { chromiumArgs, chromiumPath } from './chromium.ts';
import type { Control, ShellState } from './electron-double/electron.ts';

const root = path.resolve(import.meta.dirname, '../..');

export type Shell = {
  readonly kind: 'electron' | 'double';
  /** The page of the first window. */
  readonly page: Page;
  /** Data folder of this launch. */
  readonly dataDir: string;
  /** Exit code of the main process. */
  readonly exited: Promise<number | null>;
  /** What main, engine and runner have written so far. */
  output(): string;
  /** Questions to the double; a real binary answers none of them. */
  readonly double: {
    state(): Promise<ShellState>;
    answerDialog(answer: { canceled: boolean; filePaths: string[] }): Promise<void>;
    answerBox(button: number): Promise<void>;
    /** Presses the close buttons of all windows. */
    closeWindows(): Promise<void>;
    permission(name: string): Promise<boolean>;
    emit(event: string): Promise<void>;
    kill(service: string): Promise<void>;
  } | null;
  close(): Promise<void>;
};

export { electronBinary };

export type LaunchOptions = {
  /** Folder with node/, preload/ and renderer/; the extracted package gives its own. */
  readonly outDir?: string;
  /** An existing data folder; a fresh one is made and removed without it. */
  readonly dataDir?: string;
  readonly env?: NodeJS.ProcessEnv;
};

export async function launchShell({ outDir = path.join(root, 'out'), dataDir, env = {} }: LaunchOptions = {}): Promise<Shell> {
  const temp = mkdtempSync(path.join(tmpdir(), 'pawl-shell-'));
  const data = dataDir ?? path.join(temp, 'data');
  const main = path.join(outDir, 'node/main.js');
  const fullEnv = { ...process.env, ...env, PAWL_DATA: data };
  const executable = electronBinary();
  const shell = executable === null ? await launchDouble(main, temp, fullEnv) : await launchElectron(executable, main, temp, fullEnv);
  return {
    ...shell,
    dataDir: data,
    close: async () => {
      await shell.close();
      rmSync(temp, { recursive: true, force: true });
    },
  };
}

type Launched = Omit<Shell, 'dataDir'>;
const asEnv = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));

async function launchElectron(executablePath: string, main: string, temp: string, env: NodeJS.ProcessEnv): Promise<Launched> {
  const app = await _electron.launch({ executablePath, args: [main, `--user-data-dir=${path.join(temp, 'chromium')}`], env: asEnv(env) });
  let output = '';
  const child = app.process();
  child.stdout?.on('data', (chunk) => (output += String(chunk)));
  child.stderr?.on('data', (chunk) => (output += String(chunk)));
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { kind: 'electron', page: await app.firstWindow(), exited, output: () => output, double: null, close: () => app.close() };
}

async function launchDouble(main: string, temp: string, env: NodeJS.ProcessEnv): Promise<Launched> {
  const executablePath = chromiumPath();
  if (executablePath === null) throw new Error('the Electron double needs a Chromium (PAWL_CHROMIUM or /usr/bin/chromium)');
  const port = await freePort();
  const context = await chromium.launchPersistentContext(path.join(temp, 'chromium'), {
    executablePath,
    args: [...chromiumArgs, `--remote-debugging-port=${port}`],
    viewport: null,
  });
  const child = fork(main, [], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: ['--import', new URL('./electron-double/register.ts', import.meta.url).href],
    env: { ...env, ELECTRON_DOUBLE_CDP: `http://127.0.0.1:${port}`, ELECTRON_DOUBLE_DATA: temp },
  });
  let output = '';
  child.stdout?.on('data', (chunk) => (output += String(chunk)));
  child.stderr?.on('data', (chunk) => (output += String(chunk)));
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const died = exited.then((code) => {
    throw new Error(`the main process ended with code ${code}\n${output}`);
  });
  died.catch(() => {});

  let nextId = 1;
  const ask = (question: Control): Promise<unknown> =>
    new Promise((resolve) => {
      const id = nextId++;
      const listen = (answer: { id: number; value: unknown }) => {
        if (answer.id !== id) return;
        child.off('message', listen);
        resolve(answer.value);
      };
      child.on('message', listen);
      child.send({ ...question, id });
    });
  const close = async () => {
    await context.close();
    if (child.exitCode === null) child.kill();
    await exited;
  };
  try {
    const page = await Promise.race([context.waitForEvent('page'), died]);
    await Promise.race([page.waitForURL(/electron-double\.invalid/), died]);
    await page.waitForLoadState('load');
    return {
      kind: 'double',
      page,
      exited,
      output: () => output,
      double: {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- answered by control() of the double, which is typed by it
        state: async () => (await ask({ ask: 'state' })) as ShellState,
        answerDialog: async (answer) => void (await ask({ ask: 'dialog', answer })),
        answerBox: async (answer) => void (await ask({ ask: 'box', answer })),
        closeWindows: async () => void (await ask({ ask: 'close' })),
        permission: async (permission) => (await ask({ ask: 'permission', permission })) === true,
        emit: async (event) => void (await ask({ ask: 'emit', event })),
        kill: async (service) => void (await ask({ ask: 'kill', service })),
      },
      close,
    };
  } catch (error) {
    await close();
    throw new Error(`the shell did not start: ${String(error)}\n${output}`, { cause: error });
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => (address !== null && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port'))));
    });
  });
}
