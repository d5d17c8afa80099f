// The only build script. `npm run build` builds, `--dev` builds at every change and serves; the other commands call `ensureBuilt`.
// out/renderer: the page; out/node: every Node entry, flat, so that a file finds the others beside itself; out/preload: one CommonJS file.
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { InlineConfig, Rolldown } from 'vite';
import { appRoot } from './host/entries.ts';
import { takeLock, type Lock } from './host/lock.ts';

/** Name in out/node and source; `host/entries.ts` finds the threads and processes by these names. */
const nodeEntries = {
  main: 'electron/main/index.ts',
  utility: 'electron/host/utility.ts',
  cli: 'electron/host/cli.ts',
  runner: 'electron/verifiers/runner.ts',
  'store-worker': 'electron/store/worker.ts',
} as const;

/** Left to node_modules: native code, WebAssembly beside its loader, and Electron itself. Everything else is bundled. */
const external = ['electron', 'better-sqlite3', 'ws', 'quickjs-emscripten'];

const say = (text: string) => void process.stderr.write(`${text}\n`);

/** Vite takes a third of a second to load: only for a build. */
const vite = async () => (await import('vite')).build;

type Configs = { readonly renderer: InlineConfig; readonly node: InlineConfig; readonly preload: InlineConfig };

/** `outDir` receives renderer/, node/ and preload/. */
async function configs(outDir: string): Promise<Configs> {
  const { default: react } = await import('@vitejs/plugin-react');
  const common = { configFile: false, root: appRoot, logLevel: 'warn', clearScreen: false } as const;
  const ssr = { noExternal: true, external } as const;
  return {
    renderer: {
      ...common,
      root: path.join(appRoot, 'renderer'),
      // Relative, because the page has another origin in each host.
      base: './',
      plugins: [react()],
      worker: { format: 'es' },
      build: {
        outDir: path.join(outDir, 'renderer'),
        emptyOutDir: true,
        manifest: true,
        modulePreload: { polyfill: false },
        target: 'chrome140',
        // Files as data: URLs would need a wider CSP.
        assetsInlineLimit: 0,
        // Monaco alone is larger than Vite's limit; it is loaded when it is needed.
        chunkSizeWarningLimit: 8_000,
      },
    },
    node: {
      ...common,
      ssr,
      build: {
        ssr: true,
        target: 'node24',
        outDir: path.join(outDir, 'node'),
        emptyOutDir: true,
        minify: false,
        rolldownOptions: { input: nodeEntries, output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' } },
      },
    },
    preload: {
      ...common,
      ssr,
      build: {
        ssr: true,
        target: 'chrome140',
        outDir: path.join(outDir, 'preload'),
        emptyOutDir: true,
        minify: false,
        rolldownOptions: { input: { index: 'electron/preload/index.ts' }, output: { format: 'cjs', entryFileNames: '[name].cjs' } },
      },
    },
  };
}

/** Builds everything into `outDir`. Rejects with what Vite says is wrong. */
async function buildInto(outDir: string): Promise<void> {
  const { renderer, node, preload } = await configs(outDir);
  const build = await vite();
  // One after the other: side by side they would only share the same cores, and peak memory would add up.
  for (const config of [node, preload, renderer]) await build(config);
}

const stampFile = (outDir: string) => path.join(outDir, '.stamp');

/** Hash over name, size and time of every source file: a change that a build would see changes it. */
function sourceStamp(): string {
  const hash = createHash('sha256');
  const add = (file: string) => {
    const { size, mtimeMs } = statSync(path.join(appRoot, file));
    hash.update(`${file}\0${size}\0${mtimeMs}\n`);
  };
  for (const folder of ['shared', 'electron', 'renderer']) {
    const files = readdirSync(path.join(appRoot, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.md'))
      .map((entry) => path.relative(appRoot, path.join(entry.parentPath, entry.name)))
      .sort();
    for (const file of files) add(file);
  }
  for (const file of ['package.json', 'package-lock.json']) add(file);
  return hash.digest('hex');
}

const isFresh = (outDir: string): boolean => existsSync(stampFile(outDir)) && readFileSync(stampFile(outDir), 'utf8') === sourceStamp();

/**
 * Builds `out/` if a source has changed since the last build. Two commands never build at once: the second waits and then finds the
 * work done. A build goes to a folder of its own and takes the place of the old one when it is whole.
 */
export async function ensureBuilt({ force = false } = {}): Promise<void> {
  const outDir = path.join(appRoot, 'out');
  if (!force && isFresh(outDir)) return;
  const lock = await buildLock();
  try {
    if (!force && isFresh(outDir)) return;
    say('building (about 10 s)');
    const stamp = sourceStamp();
    const fresh = path.join(appRoot, `out-new-${process.pid}`);
    const old = path.join(appRoot, `out-old-${process.pid}`);
    try {
      await buildInto(fresh);
      writeFileSync(stampFile(fresh), stamp);
      if (existsSync(outDir)) renameSync(outDir, old);
      renameSync(fresh, outDir);
    } finally {
      rmSync(fresh, { recursive: true, force: true });
      rmSync(old, { recursive: true, force: true });
    }
  } finally {
    lock.release();
  }
}

/** The system releases it if we die; so a build that was killed never blocks the next. */
async function buildLock(): Promise<Lock> {
  const folder = path.join(appRoot, 'out-lock');
  mkdirSync(folder, { recursive: true });
  let told = false;
  for (;;) {
    const lock = takeLock(folder);
    if (lock) return lock;
    if (!told) say('waiting for a build that another command has begun');
    told = true;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Rebuilds at every change and serves the app; the server starts again when a Node file has changed, the page when it is reloaded. */
async function develop(args: readonly string[]): Promise<void> {
  const outDir = path.join(appRoot, 'out');
  let server: ChildProcess | undefined;
  const restart = () => {
    server?.kill('SIGTERM');
    server = spawn(process.execPath, [path.join(appRoot, 'electron/host/launch.mjs'), 'electron/host/serve-built.ts', ...args], {
      stdio: 'inherit',
    });
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      server?.kill(signal);
      process.exit(0);
    });
  }
  const { renderer, node, preload } = await configs(outDir);
  const build = await vite();
  const watch = async (config: InlineConfig, onBuilt: () => void): Promise<void> => {
    const watcher = await build({ ...config, build: { ...config.build, watch: {} } });
    if (!isWatcher(watcher)) throw new Error('Vite gave no watcher');
    await new Promise<void>((resolve) => {
      watcher.on('event', (event) => {
        if (event.code === 'ERROR') say(String(event.error));
        if (event.code !== 'END') return;
        // So that other commands take this build and do not make their own.
        writeFileSync(stampFile(outDir), sourceStamp());
        onBuilt();
        resolve();
      });
    });
  };
  await watch(preload, () => {});
  await watch(renderer, () => say('page built: reload it'));
  await watch(node, restart);
}

const isWatcher = (result: unknown): result is Rolldown.RolldownWatcher => typeof result === 'object' && result !== null && 'on' in result;

// Started through launch.mjs, which puts the started file into argv.
if (process.argv[1] === import.meta.filename) {
  const args = process.argv.slice(2);
  if (args[0] === '--dev') await develop(args.slice(1));
  else await ensureBuilt({ force: true });
}
