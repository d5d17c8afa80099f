// `npm start`: the app in a window where that is possible, else the same app in a browser. It says which, and why.
import { spawn } from 'node:child_process';
import { ensureBuilt } from '#electron/build.ts';
import { buildAndRunCli } from './built-cli.ts';
import { chooseHost, type Machine } from './choose-host.ts';
import { electronBinary, electronInstaller } from './electron-binary.ts';
import { appRoot } from './entries.ts';

const say = (text: string) => void process.stderr.write(`${text}\n`);
const downloadMs = 60_000;
/** A window that fails sooner was never seen: libraries are missing, or the display refuses. */
const tooSoonMs = 10_000;

const args = process.argv.slice(2);
const machine = (): Machine => ({
  platform: process.platform,
  env: process.env,
  uid: process.getuid?.() ?? null,
  binary: electronBinary(),
});

async function serve(why: string): Promise<never> {
  say(`Serving the app to a browser, because ${why}. Open the address below.`);
  return buildAndRunCli(['serve', ...args]);
}

/** Runs Electron's own installer, once and not for long. Says how it went; the caller looks whether a binary is there. */
async function download(): Promise<void> {
  say(`Downloading Electron (about 120 MB, at most ${downloadMs / 1000} s; PAWL_NO_DOWNLOAD=1 skips this) …`);
  const begun = performance.now();
  const child = spawn(process.execPath, [electronInstaller], { stdio: ['ignore', 'inherit', 'inherit'], timeout: downloadMs });
  const tick = setInterval(() => say(`  … ${Math.round((performance.now() - begun) / 1000)} s`), 5_000);
  const outcome = await new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`it could not be started: ${error.message}`));
    child.once('exit', (code, signal) =>
      resolve(code === 0 ? 'done' : signal === null ? `it failed with code ${code}` : `it took longer than ${downloadMs / 1000} s`),
    );
  });
  clearInterval(tick);
  say(`  ${outcome}`);
}

/** Resolves with the exit code once the window has been closed, and whether it ended too soon to have been seen. */
async function openWindow(binary: string): Promise<{ code: number; failed: boolean }> {
  await ensureBuilt();
  const { ELECTRON_RUN_AS_NODE: _plainNode, ...env } = process.env;
  const begun = performance.now();
  const child = spawn(binary, [appRoot, ...args], { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void child.kill(signal));
  return new Promise((resolve) => {
    child.once('error', () => resolve({ code: 1, failed: true }));
    child.once('exit', (code, signal) =>
      resolve({ code: code ?? 1, failed: signal === null && code !== 0 && performance.now() - begun < tooSoonMs }),
    );
  });
}

let choice = chooseHost(machine());
if (choice.kind === 'download') {
  await download();
  choice = chooseHost({ ...machine(), env: { ...process.env, PAWL_NO_DOWNLOAD: '1' } });
  if (choice.kind === 'serve') choice = { kind: 'serve', why: 'Electron could not be downloaded' };
}
if (choice.kind === 'window') {
  say(`Opening a window, because ${choice.why}.`);
  const { code, failed } = await openWindow(choice.binary);
  if (failed) await serve(`Electron ended with code ${code} at once`);
  process.exit(code);
} else if (choice.kind === 'serve') await serve(choice.why);
