// The built main process, preload, engine and runner together, as a person starts them.
import path from 'node:path';
import { expect, test } from '@playwright/test';
import { z } from 'zod';
import { takeLock } from '#electron/host/lock.ts';
import type { DesktopApi } from '#shared/contract/desktop.ts';
import { pawl } from '../support/pawl.ts';
import { launchShell, type Shell } from '../support/launch-shell.ts';

const root = path.resolve(import.meta.dirname, '../..');
const task = path.join(root, 'resources/tasks/exam-timetable');

/** For every test but the first start and the last window: each makes the runs that it looks at, and leaves an engine that answers. */
let shell: Shell;
test.beforeAll(async () => {
  shell = await launchShell();
});
test.afterAll(async () => {
  await shell.close();
});

const Frame = z.looseObject({
  t: z.string(),
  id: z.int().optional(),
  value: z.unknown().optional(),
  values: z.array(z.unknown()).optional(),
  code: z.string().optional(),
});
type Frame = z.infer<typeof Frame>;

declare global {
  interface Window {
    readonly desktop?: DesktopApi;
    /** A port of the test's own: frames as they came, `until` waits for something to be found in them. */
    rawPort?: { readonly port: MessagePort; readonly frames: Frame[]; readonly until: <T>(find: () => T | undefined) => Promise<T> };
    inlineRan?: boolean;
  }
}

/** Opens `window.rawPort` in the page, through the shell and beside the app's own connection. */
async function openRawPort(): Promise<void> {
  await shell.page.evaluate(async () => {
    const port = await new Promise<MessagePort>((resolve) => {
      window.addEventListener('message', (event) => event.data === 'pawl:port' && event.ports[0] && resolve(event.ports[0]), {
        once: true,
      });
      window.desktop?.connectEngine();
    });
    const frames: Frame[] = [];
    const waiting = new Set<() => void>();
    port.addEventListener('message', (event: MessageEvent<Frame>) => {
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
    window.rawPort = { port, frames, until };
  });
}

let nextId = 1;
/** Calls a procedure over the raw port, which is opened where there is none, and returns its answer, `ok` or `err`. */
async function call(name: string, input: object): Promise<Frame> {
  if (await shell.page.evaluate(() => window.rawPort === undefined)) await openRawPort();
  const id = nextId++;
  const frame = await shell.page.evaluate(
    ([id, name, input]) => {
      const raw = window.rawPort;
      raw?.port.postMessage({ t: 'call', id, name, input });
      return raw?.until(() => raw.frames.find((frame) => frame.id === id));
    },
    [id, name, input] as const,
  );
  return Frame.parse(frame);
}
const Started = z.looseObject({ run: z.string() });
/** Starts a run of the sample and returns its id. */
const startRun = async (options: { readonly seed: number; readonly attempts: number }): Promise<string> =>
  Started.parse((await call('run.start', { task, proposer: 'search', slots: 4, ...options })).value).run;

test('the page shows what came through preload, port, engine and store', async () => {
  const fresh = await launchShell();
  try {
    await expect(fresh.page).toHaveTitle('Pawl');
    await expect(fresh.page.getByText('Engine running')).toBeVisible();
    await expect(fresh.page.getByRole('heading', { name: 'Nothing has run yet' })).toBeVisible();
    if (fresh.double)
      expect(await fresh.double.state()).toMatchObject({ windows: 1, visible: 1, utilities: ['Pawl engine', 'Pawl runner'] });
  } finally {
    await fresh.close();
  }
});

test('the page has DesktopApi and nothing else of Node or Electron', async () => {
  const seen = await shell.page.evaluate(() => {
    const { desktop } = window;
    return {
      globals: ['require', 'process', 'module', 'Buffer', '__electronDouble', '__deliver'].filter((name) => name in window),
      keys: Object.keys(desktop ?? {}).sort(),
      frozen: Object.isFrozen(desktop),
      replaced: Reflect.set(window, 'desktop', 1) || Reflect.defineProperty(window, 'desktop', { value: 1 }),
    };
  });
  const keys = ['connectEngine', 'kind', 'onEngineStopped', 'pickFolder', 'platform', 'restartEngine', 'warnBeforeClose'];
  expect(seen).toEqual({ globals: [], keys, frozen: true, replaced: false });
});

test('dialogs: the folder that was picked, null when dismissed, an error for a title that is none', async () => {
  test.skip(shell.double === null, 'a real dialog cannot be scripted');
  const pick = (title: unknown) =>
    shell.page.evaluate((title): Promise<unknown> => {
      const picked: unknown = Reflect.apply(Reflect.get(window.desktop ?? {}, 'pickFolder'), window.desktop, [title]);
      return Promise.resolve(picked).catch((error: Error) => error.message);
    }, title);
  await shell.double?.answerDialog({ canceled: false, filePaths: ['/tmp/task'] });
  expect(await pick('Task folder')).toBe('/tmp/task');
  expect(await pick('Task folder')).toBeNull();
  expect(await pick(5)).toBe("Error invoking remote method 'dialog:pickFolder': TypeError: the title of a dialog is a string");
  expect((await shell.double?.state())?.dialogs[0]).toEqual({ title: 'Task folder', properties: ['openDirectory'] });
});

test('calls: hello first, bad input and unknown names are refused with their code', async () => {
  await openRawPort();
  expect(await shell.page.evaluate(() => window.rawPort?.until(() => window.rawPort?.frames[0]?.t))).toBe('hello');
  expect(await call('run.list', { limit: 9999 })).toMatchObject({ t: 'err', code: 'bad_input' });
  expect(await call('unheard', {})).toMatchObject({ t: 'err', code: 'not_found' });
  expect(await call('app.info', {})).toMatchObject({ t: 'ok', value: { dataDir: shell.dataDir } });
});

test('a stream keeps to its credit on the way through the shell, and ends when it is cancelled', async () => {
  const run = await startRun({ seed: 1, attempts: 12 });
  const got = await shell.page.evaluate(async (run) => {
    const raw = window.rawPort;
    if (!raw) throw new Error('no raw port');
    const [stream, after, last] = [1_000_001, 1_000_002, 1_000_003];
    const count = () =>
      raw.frames.filter((frame) => frame.id === stream && frame.t === 'items').flatMap((frame) => frame.values ?? []).length;
    // A call that goes the whole way: what the stream had sent before, without credit, would arrive before its answer.
    const turn = async (id: number) => {
      raw.port.postMessage({ t: 'call', id, name: 'app.info', input: {} });
      await raw.until(() => raw.frames.find((frame) => frame.id === id));
    };
    raw.port.postMessage({ t: 'call', id: stream, name: 'run.transitions', input: { run, after: 0, follow: true }, credit: 3 });
    await raw.until(() => (count() === 3 ? true : undefined));
    await turn(after);
    const held = count();
    raw.port.postMessage({ t: 'credit', id: stream, n: 2 });
    await raw.until(() => (count() === 5 ? true : undefined));
    raw.port.postMessage({ t: 'cancel', id: stream });
    await turn(last);
    return { held, ended: raw.frames.some((frame) => frame.id === stream && frame.t !== 'items') };
  }, run);
  expect(got).toEqual({ held: 3, ended: false });
});

test('app:// serves the page under its CSP, refuses traversal, gives stored bytes as bytes', async () => {
  const run = await startRun({ seed: 2, attempts: 4 });
  await expect.poll(async () => (await call('run.get', { run })).value).toMatchObject({ stop: 'budget' });
  const Bundle = z.looseObject({ files: z.array(z.looseObject({ path: z.string(), sha: z.string() })) });
  const sha = Bundle.parse((await call('run.bundle', { run, seq: 0 })).value).files.find((file) => file.path.endsWith('.json'))?.sha ?? '';
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
      inline: window.inlineRan === true,
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
  expect(await call('app.info', {})).toMatchObject({ t: 'ok' });
  expect(shell.page.url()).toBe(before);
  if (!shell.double) return;
  expect((await shell.double.state()).windows).toBe(1);
  for (const permission of ['media', 'geolocation', 'notifications', 'clipboard-read', 'openExternal', 'fileSystem'])
    expect(await shell.double.permission(permission), permission).toBe(false);
  expect(await shell.double.permission('clipboard-sanitized-write')).toBe(true);
});

test('a window with a written proposal asks before it closes, in the words of the page', async () => {
  const { double } = shell;
  test.skip(double === null, 'a real message box cannot be scripted');
  if (double === null) return;
  const { run } = Started.parse((await call('run.start', { task, proposer: 'human', slots: 1, seed: 1 })).value);
  const { page } = shell;
  await page.evaluate((id) => {
    location.hash = `#/v1/run/${id}`;
  }, run);
  await page
    .getByTestId('candidate-editor')
    .locator('.editor.modified .view-lines[role=presentation]')
    .click({ position: { x: 4, y: 4 } });
  await page.keyboard.press('ControlOrMeta+Home');
  await page.keyboard.type('x');
  await expect(page.getByText('1 file changed, not proposed yet')).toBeVisible();
  await double.closeWindows();
  expect((await double.state()).windows).toBe(1);
  expect((await double.state()).dialogs.at(-1)).toMatchObject({
    message: 'You have written a proposal and not submitted it. Leaving throws it away.',
    buttons: ['Stay', 'Leave and discard'],
  });
  await expect(page.getByText('1 file changed, not proposed yet')).toBeVisible();
  await page.getByRole('button', { name: 'Discard all' }).click();
  await page.getByRole('button', { name: 'Discard', exact: true }).click();
  await expect(page.getByText('Change a file to propose it.')).toBeVisible();
  await call('run.stop', { run });
});

test('a run of the command line is a job of this engine, seen in the window', async () => {
  const args = ['run', task, '--attempts', '8', '--seed', '77', '--json', '--data', shell.dataDir];
  const { code, stdout } = await pawl(args);
  expect(code).toBe(3);
  const { id } = z.looseObject({ id: z.string() }).parse(JSON.parse(stdout));
  expect((await call('run.get', { run: id })).value).toMatchObject({ id, seed: 77, stop: 'budget' });
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
  const started = await call('run.start', { task, proposer: 'search', slots: 4, seed: 3, attempts: 4 });
  expect(started).toMatchObject({ t: 'ok', value: { status: 'running' } });
});

test('a dead engine is said, and can be started again', async () => {
  test.skip(shell.double === null, 'needs the double to kill one process');
  const run = await startRun({ seed: 4, attempts: 4 });
  await expect.poll(async () => (await call('run.get', { run })).value).toMatchObject({ stop: 'budget' });
  await shell.double?.kill('Pawl engine');
  const again = shell.page.getByRole('button', { name: /restart/i });
  await expect(again).toBeVisible();
  await expect.poll(async () => (await shell.double?.state())?.utilities).toEqual([]);
  await again.click();
  await expect(shell.page.getByText('Engine running')).toBeVisible();
  await expect.poll(async () => (await shell.double?.state())?.utilities).toEqual(['Pawl engine', 'Pawl runner']);
  await openRawPort();
  expect((await call('run.list', { limit: 1 })).value).toMatchObject({ runs: [{ id: run, seed: 4, stop: 'budget' }] });
});

test('closing the last window ends everything with code 0 and frees the folder', async () => {
  test.skip(shell.double === null || process.platform === 'darwin', 'the app stays open on macOS');
  const own = await launchShell();
  try {
    await expect(own.page.getByText('Engine running')).toBeVisible();
    await own.page.close();
    expect(await own.exited).toBe(0);
    const lock = takeLock(own.dataDir);
    expect(lock).not.toBeNull();
    lock?.release();
    expect(own.output()).toBe('');
  } finally {
    await own.close();
  }
});
