// The built main process, preload, engine and runner together, as a person starts them.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@playwright/test';
import { takeLock } from '#electron/host/lock.ts';
import { launchShell, type Shell } from '../support/launch-shell.ts';

const root = path.resolve(import.meta.dirname, '../..');
const task = path.join(root, 'resources/tasks/exam-timetable');

test.describe.configure({ mode: 'serial' });

let shell: Shell;
test.beforeAll(async () => {
  shell = await launchShell();
});
test.afterAll(async () => {
  await shell.close();
});

/** Opens a port of its own to the engine, in the page, as `window.rawPort`: `ask` sends a call and resolves with the frames of its id. */
async function openRawPort(): Promise<void> {
  await shell.page.evaluate(async () => {
    const { desktop } = window as unknown as { desktop: { connectEngine(): void } };
    const port = await new Promise<MessagePort>((resolve, reject) => {
      window.addEventListener(
        'message',
        (event) => {
          if (event.data === 'pawl:port' && event.ports[0]) resolve(event.ports[0]);
          else reject(new Error('not a port'));
        },
        { once: true },
      );
      desktop.connectEngine();
    });
    const frames: { t: string; id?: number; value?: unknown; values?: unknown[]; code?: string }[] = [];
    const waiting = new Set<() => void>();
    port.addEventListener('message', (event: MessageEvent<(typeof frames)[number]>) => {
      frames.push(event.data);
      for (const look of waiting) look();
    });
    port.start();
    const until = <T>(find: () => T | undefined): Promise<T> =>
      new Promise((resolve) => {
        const look = () => {
          const found = find();
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      });
    Object.assign(window, { rawPort: { port, frames, until } });
  });
}
type Raw = {
  rawPort: {
    port: MessagePort;
    frames: { t: string; id?: number; value?: unknown; values?: unknown[]; code?: string }[];
    until<T>(find: () => T | undefined): Promise<T>;
  };
};

/** Calls a procedure over the raw port and returns its last frame. */
const call = (id: number, name: string, input: object) =>
  shell.page.evaluate(
    ([id, name, input]) => {
      const { port, frames, until } = (window as unknown as Raw).rawPort;
      port.postMessage({ t: 'call', id, name, input });
      return until(() => frames.find((frame) => frame.id === id && frame.t !== 'items'));
    },
    [id, name, input] as const,
  );

test('the page shows what came through preload, port, engine and store', async () => {
  await expect(shell.page).toHaveTitle('Pawl');
  await expect(shell.page.getByText('Engine running')).toBeVisible();
  await expect(shell.page.getByRole('heading', { name: 'Nothing has run yet' })).toBeVisible();
  if (shell.double) expect(await shell.double.state()).toMatchObject({ windows: 1, visible: 1, utilities: ['Pawl engine', 'Pawl runner'] });
});

test('the page has DesktopApi and nothing else of Node or Electron', async () => {
  const seen = await shell.page.evaluate(() => {
    const page = window as unknown as Record<string, unknown>;
    const desktop = page['desktop'] as Record<string, unknown>;
    let assigned = false;
    try {
      page['desktop'] = 1;
      assigned = page['desktop'] === 1;
    } catch {
      assigned = false;
    }
    return {
      globals: ['require', 'process', 'module', 'Buffer', '__electronDouble', '__deliver'].filter((name) => page[name] !== undefined),
      keys: Object.keys(desktop).sort(),
      frozen: Object.isFrozen(desktop),
      assigned,
    };
  });
  expect(seen).toEqual({
    globals: [],
    keys: ['connectEngine', 'kind', 'onEngineStopped', 'pickFolder', 'platform', 'restartEngine'],
    frozen: true,
    assigned: false,
  });
});

test('dialogs: the folder that was picked, null when dismissed, an error for a title that is none', async () => {
  test.skip(shell.double === null, 'a real dialog cannot be scripted');
  const pick = (title: unknown) =>
    shell.page.evaluate(
      (title) =>
        (window as unknown as { desktop: { pickFolder(t: unknown): Promise<unknown> } }).desktop
          .pickFolder(title)
          .catch((error: Error) => error.message),
      title,
    );
  await shell.double?.answerDialog({ canceled: false, filePaths: ['/tmp/task'] });
  expect(await pick('Task folder')).toBe('/tmp/task');
  expect(await pick('Task folder')).toBeNull();
  expect(await pick(5)).toBe("Error invoking remote method 'dialog:pickFolder': TypeError: the title of a dialog is a string");
  expect((await shell.double?.state())?.dialogs[0]).toEqual({ title: 'Task folder', properties: ['openDirectory'] });
});

test('calls: hello first, bad input and unknown names are refused with their code', async () => {
  await openRawPort();
  expect(
    await shell.page.evaluate(() => (window as unknown as Raw).rawPort.until(() => (window as unknown as Raw).rawPort.frames[0]?.t)),
  ).toBe('hello');
  expect(await call(1, 'run.list', { limit: 9999 })).toMatchObject({ t: 'err', code: 'bad_input' });
  expect(await call(2, 'unheard', {})).toMatchObject({ t: 'err', code: 'not_found' });
  expect(await call(3, 'app.info', {})).toMatchObject({ t: 'ok', value: { dataDir: shell.dataDir } });
});

test('a stream keeps to its credit on the way through the shell, and ends when it is cancelled', async () => {
  const started = await call(10, 'run.start', { task, proposer: 'search', slots: 4, seed: 1, attempts: 12 });
  const { run } = started.value as { run: string };
  const got = await shell.page.evaluate(async (run) => {
    const { port, frames, until } = (window as unknown as Raw).rawPort;
    const count = () => frames.filter((frame) => frame.id === 11 && frame.t === 'items').flatMap((frame) => frame.values ?? []).length;
    port.postMessage({ t: 'call', id: 11, name: 'run.transitions', input: { run, after: 0, follow: true }, credit: 3 });
    await until(() => (count() === 3 ? true : undefined));
    // Another call that goes the whole way: whatever the stream had sent without credit would have arrived before its answer.
    port.postMessage({ t: 'call', id: 12, name: 'app.info', input: {} });
    await until(() => frames.find((frame) => frame.id === 12));
    const held = count();
    port.postMessage({ t: 'credit', id: 11, n: 2 });
    await until(() => (count() === 5 ? true : undefined));
    port.postMessage({ t: 'cancel', id: 11 });
    port.postMessage({ t: 'call', id: 13, name: 'app.info', input: {} });
    await until(() => frames.find((frame) => frame.id === 13));
    return { held, ended: frames.some((frame) => frame.id === 11 && (frame.t === 'end' || frame.t === 'err')) };
  }, run);
  expect(got).toEqual({ held: 3, ended: false });
});

test('app:// serves the page under its CSP, refuses traversal, gives stored bytes as bytes', async () => {
  const { value } = await call(20, 'run.list', { limit: 1 });
  const [run] = (value as { runs: { id: string }[] }).runs;
  await expect
    .poll(async () => ((await call(21 + Math.floor(performance.now()), 'run.get', { run: run?.id })).value as { stop: string | null }).stop)
    .toBe('budget');
  const files = await call(30, 'run.bundle', { run: run?.id, seq: 0 });
  const sha = (files.value as { files: { path: string; sha: string }[] }).files.find((file) => file.path.endsWith('.json'))?.sha ?? '';
  const seen = await shell.page.evaluate(async (sha) => {
    const status = async (url: string, init?: RequestInit) => (await fetch(url, init)).status;
    const page = await fetch('/');
    const blob = await fetch(`/blob/${sha}`);
    let foreign = 'loaded';
    try {
      await fetch('https://example.com/');
    } catch {
      foreign = 'blocked';
    }
    const script = document.createElement('script');
    script.textContent = 'window.inlineRan = true';
    document.head.append(script);
    return {
      page: page.status,
      csp: page.headers.get('content-security-policy'),
      traversal: [
        await status('/%2e%2e%2fnode/main.js'),
        await status('/..%5cnode/main.js'),
        await status('/assets/%2e%2e/%2e%2e/node/main.js'),
      ],
      missing: await status('/nope.js'),
      method: await status('/', { method: 'POST' }),
      blob: [
        blob.status,
        blob.headers.get('content-type'),
        blob.headers.get('content-security-policy'),
        blob.headers.get('x-content-type-options'),
      ],
      json: typeof JSON.parse(await blob.text()),
      noBlob: await status(`/blob/${'0'.repeat(64)}`),
      foreign,
      inline: 'inlineRan' in window,
    };
  }, sha);
  expect(seen).toMatchObject({
    page: 200,
    traversal: [403, 403, 404],
    missing: 404,
    method: 405,
    blob: [200, 'application/octet-stream', 'sandbox', 'nosniff'],
    json: 'object',
    noBlob: 404,
    foreign: 'blocked',
    inline: false,
  });
  expect(seen.csp).toContain("default-src 'none'; script-src 'self'; worker-src 'self'");
});

test('the page cannot navigate away, open windows, or get a permission beside copying', async () => {
  const before = shell.page.url();
  await shell.page.evaluate(() => {
    window.open('https://example.com/');
    location.href = 'https://example.com/';
  });
  // The answer of the engine comes after both were refused.
  expect(await call(40, 'app.info', {})).toMatchObject({ t: 'ok' });
  expect(shell.page.url()).toBe(before);
  if (!shell.double) return;
  expect((await shell.double.state()).windows).toBe(1);
  for (const permission of ['media', 'geolocation', 'notifications', 'clipboard-read', 'openExternal', 'fileSystem'])
    expect(await shell.double.permission(permission), permission).toBe(false);
  expect(await shell.double.permission('clipboard-sanitized-write')).toBe(true);
});

test('a run of the command line is a job of this engine, seen in the window', async () => {
  const cli = promisify(execFile)(
    process.execPath,
    [
      'electron/host/launch.mjs',
      'electron/host/pawl.ts',
      'run',
      task,
      '--attempts',
      '8',
      '--seed',
      '77',
      '--json',
      '--data',
      shell.dataDir,
    ],
    { cwd: root, env: { ...process.env, INIT_CWD: root } },
  ).catch((error: { code: number; stdout: string; stderr: string }) => error);
  const done = await cli;
  expect('code' in done ? done.code : 0, done.stderr).toBe(3);
  const { id } = JSON.parse(done.stdout) as { id: string };
  expect((await call(50, 'run.get', { run: id })).value).toMatchObject({ id, seed: 77, stop: 'budget' });
});

test('an engine without its runner is replaced, and the page only connects again', async () => {
  test.skip(shell.double === null, 'needs the double to kill one process');
  const before = (await shell.double?.state())?.pids ?? {};
  await shell.double?.kill('Pawl runner');
  // The same engine process has asked for another runner.
  await expect
    .poll(async () => (await shell.double?.state())?.pids['Pawl runner'] ?? before['Pawl runner'])
    .not.toBe(before['Pawl runner']);
  expect((await shell.double?.state())?.pids['Pawl engine']).toBe(before['Pawl engine']);
  await expect(shell.page.getByText('Engine running')).toBeVisible();
  await openRawPort();
  const started = await call(60, 'run.start', { task, proposer: 'search', slots: 4, seed: 3, attempts: 4 });
  expect(started).toMatchObject({ t: 'ok', value: { status: 'running' } });
});

test('a dead engine is said, and can be started again', async () => {
  test.skip(shell.double === null, 'needs the double to kill one process');
  await shell.double?.kill('Pawl engine');
  const again = shell.page.getByRole('button', { name: /restart/i });
  await expect(again).toBeVisible();
  expect((await shell.double?.state())?.utilities).toEqual([]);
  await again.click();
  await expect(shell.page.getByText('Engine running')).toBeVisible();
  expect((await shell.double?.state())?.utilities).toEqual(['Pawl engine', 'Pawl runner']);
  await openRawPort();
  expect((await call(70, 'run.list', { limit: 10 })).value).toMatchObject({ runs: [{ seed: 3 }, { seed: 77 }, { seed: 1 }] });
});

test('closing the last window ends everything with code 0 and frees the folder', async () => {
  test.skip(shell.double === null || process.platform === 'darwin', 'the app stays open on macOS');
  await shell.page.close();
  expect(await shell.exited).toBe(0);
  const lock = takeLock(shell.dataDir);
  expect(lock).not.toBeNull();
  lock?.release();
  expect(shell.output()).toBe('');
});
