// Electron's main process: windows, the app:// protocol, dialogs, and the hand-over of ports. It reads no data and decides nothing.
import {
  app,
  BrowserWindow,
  dialog,
  ipcMain,
  protocol,
  session,
  type IpcMainEvent,
  type IpcMainInvokeEvent,
  type WebContents,
} from 'electron';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { z } from 'zod';
import type { CloseWarning } from '#shared/contract/desktop.ts';
import { dataDirPath } from '#electron/host/data-dir.ts';
import { startEngineProcess } from './engine-process.ts';
import { setMenu } from './menu.ts';
import { answerPage, isPageUrl, pageOrigin } from './page.ts';

const entryDir = import.meta.dirname;
const outDir = path.join(entryDir, '..');
const rendererDir = path.join(outDir, 'renderer');

const dataAt = process.argv.indexOf('--data');
const defaultDir = dataDirPath({ env: { ...process.env, PAWL_DATA: '' } });
const dataDir = dataDirPath({ option: dataAt < 0 ? undefined : process.argv[dataAt + 1] });
// One instance per data folder: Chromium keeps its lock, and nothing else of ours, in userData.
if (dataDir !== defaultDir) {
  app.setPath('userData', path.join(app.getPath('appData'), `pawl-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`));
}

app.enableSandbox();
protocol.registerSchemesAsPrivileged([
  { scheme: 'app', privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
]);

/** What a person is asked who closes a window whose page refuses to go, in the page's words. */
const warnings = new WeakMap<WebContents, CloseWarning>();
const Words = z.string().min(1).max(500);
const Warning = z.strictObject({ message: Words, stay: Words, leave: Words });

/** Without an answer of ours Electron would keep such a window open without a word. */
function mayLeave(contents: WebContents): boolean {
  const warning = warnings.get(contents);
  if (warning === undefined) return true;
  const options = {
    type: 'question',
    message: warning.message,
    buttons: [warning.stay, warning.leave],
    defaultId: 0,
    cancelId: 0,
  } satisfies Electron.MessageBoxSyncOptions;
  const window = BrowserWindow.fromWebContents(contents);
  return (window ? dialog.showMessageBoxSync(window, options) : dialog.showMessageBoxSync(options)) === 1;
}

if (app.requestSingleInstanceLock()) void app.whenReady().then(run);
else app.quit();

function run(): void {
  const engine = startEngineProcess(entryDir, dataDir, (reason) => {
    for (const window of BrowserWindow.getAllWindows()) window.webContents.send('engine:stopped', reason);
  });

  protocol.handle('app', (request) => answerPage(request, rendererDir, engine));
  // Copying is all that the page ever asks for.
  const allowed = (permission: string) => permission === 'clipboard-sanitized-write';
  session.defaultSession.setPermissionRequestHandler((contents, permission, answer) =>
    answer(isPageUrl(contents.getURL()) && allowed(permission)),
  );
  session.defaultSession.setPermissionCheckHandler(
    (contents, permission) => contents !== null && isPageUrl(contents.getURL()) && allowed(permission),
  );

  app.on('web-contents-created', (_event, contents) => {
    contents.setWindowOpenHandler(() => ({ action: 'deny' }));
    contents.on('will-navigate', (event) => event.preventDefault());
    contents.on('will-attach-webview', (event) => event.preventDefault());
    contents.on('will-prevent-unload', (event) => {
      if (mayLeave(contents)) event.preventDefault();
    });
  });

  ipcMain.on('engine:connect', (event) => {
    if (!isOwnPage(event)) return;
    const port = engine.connect();
    if (port) event.senderFrame?.postMessage('engine:port', null, [port]);
    else event.sender.send('engine:stopped', engine.stopped() ?? 'the engine is not running');
  });
  ipcMain.handle('engine:restart', (event) => {
    refuseStrangers(event);
    engine.restart();
  });
  ipcMain.on('window:warn', (event, warning: unknown) => {
    if (!isOwnPage(event)) return;
    const parsed = Warning.safeParse(warning);
    if (parsed.success) warnings.set(event.sender, parsed.data);
    else warnings.delete(event.sender);
  });
  ipcMain.handle('dialog:pickFolder', async (event, title: unknown) => {
    refuseStrangers(event);
    if (typeof title !== 'string') throw new TypeError('the title of a dialog is a string');
    const window = BrowserWindow.fromWebContents(event.sender);
    const options = { title: title.slice(0, 200), properties: ['openDirectory'] } satisfies Electron.OpenDialogOptions;
    const answer = await (window ? dialog.showOpenDialog(window, options) : dialog.showOpenDialog(options));
    return answer.canceled ? null : (answer.filePaths[0] ?? null);
  });

  setMenu(openWindow);
  openWindow();
  app.on('activate', () => {
    if (BrowserWindow.getAllWindows().length === 0) openWindow();
  });
  app.on('second-instance', () => {
    const [window] = BrowserWindow.getAllWindows();
    if (!window) openWindow();
    else {
      if (window.isMinimized()) window.restore();
      window.focus();
    }
  });
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit();
  });
  let ended = false;
  app.on('will-quit', (event) => {
    if (ended) return;
    // The engine gets the time to leave its live runs in order.
    event.preventDefault();
    void engine.close().finally(() => {
      ended = true;
      app.quit();
    });
  });
}

function openWindow(): void {
  const window = new BrowserWindow({
    width: 1440,
    height: 900,
    minWidth: 720,
    minHeight: 480,
    show: false,
    title: 'Pawl',
    webPreferences: {
      preload: path.join(outDir, 'preload/index.cjs'),
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      webviewTag: false,
      spellcheck: false,
    },
  });
  window.once('ready-to-show', () => window.show());
  void window.loadURL(`${pageOrigin}/`);
}

/** Messages of other frames than the page's own main frame are ignored: none is ever opened, so they would be an intruder's. */
function isOwnPage({ sender, senderFrame }: IpcMainEvent | IpcMainInvokeEvent): boolean {
  return senderFrame !== null && senderFrame === sender.mainFrame && isPageUrl(senderFrame.url);
}

function refuseStrangers(event: IpcMainInvokeEvent): void {
  if (!isOwnPage(event)) throw new Error('refused: not the page of this app');
}
