// The double of the `electron` module for the main process. Windows are pages of a real Chromium reached over its debugging protocol.
import { fork, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { chromium, type BrowserContext, type CDPSession, type Page } from 'playwright-core';
import { isolatedWorldSource, mainWorldSource } from './page-runtime.ts';
import { decode, encode, type Wire } from './wire.ts';

/** Between this process and a utility process: a message with ports, or one that belongs to a port. */
export type Relay =
  | { op: 'message'; data: unknown; pids: number[] }
  | { op: 'port'; pid: number; data: unknown }
  | { op: 'portclose'; pid: number };

/** What the test asks for over the ipc channel of this process (see launch-shell.ts); each question is answered under its id. */
export type Control =
  | { ask: 'state' }
  | { ask: 'dialog'; answer: { canceled: boolean; filePaths: string[] } }
  /** The button that the next message box is answered with. */
  | { ask: 'box'; answer: number }
  /** Closes all windows as their close buttons would. */
  | { ask: 'close' }
  | { ask: 'permission'; permission: string }
  | { ask: 'emit'; event: string }
  | { ask: 'kill'; service: string };
export type ShellState = {
  dialogs: unknown[];
  windows: number;
  visible: number;
  permissions: boolean[];
  utilities: string[];
  pids: Record<string, number | undefined>;
  handled: string[];
};

const isolatedWorld = 'electron-isolated';
const env = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`electron double: ${name} is not set; it is started by launchShell()`);
  return value;
};
const browser = await chromium.connectOverCDP(env('ELECTRON_DOUBLE_CDP'));
const context: BrowserContext = browser.contexts()[0] ?? (await browser.newContext());
const scripted = {
  dialogAnswers: [] as { canceled: boolean; filePaths: string[] }[],
  boxAnswers: [] as number[],
  dialogs: [] as unknown[],
};

// ---- app

class Preventable {
  defaultPrevented = false;
  preventDefault(): void {
    this.defaultPrevented = true;
  }
}

class App extends EventEmitter {
  readonly isPackaged = false;
  readonly #paths = new Map<string, string>();
  readonly #ready = new Promise<void>((resolve) => setImmediate(resolve));
  quitting = false;
  whenReady = (): Promise<void> => this.#ready;
  getPath(name: string): string {
    const folder = this.#paths.get(name) ?? path.join(env('ELECTRON_DOUBLE_DATA'), name);
    mkdirSync(folder, { recursive: true });
    return folder;
  }
  setPath(name: string, folder: string): void {
    this.#paths.set(name, folder);
  }
  enableSandbox(): void {}
  requestSingleInstanceLock(): boolean {
    return process.env['ELECTRON_DOUBLE_SECOND'] === undefined;
  }
  /** before-quit, closing of every window, will-quit, quit: each of the first three may be refused. */
  quit(): void {
    const stopped = (event: string) => {
      const prevention = new Preventable();
      this.emit(event, prevention);
      return prevention.defaultPrevented;
    };
    void (async () => {
      if (stopped('before-quit')) return;
      this.quitting = true;
      for (const window of windows.values()) await window.close();
      if (windows.size > 0 || stopped('will-quit')) {
        this.quitting = false;
        return;
      }
      this.emit('quit', {}, 0);
      process.exit(0);
    })();
  }
}
export const app = new App();

// ---- ipc

type Handler = (event: unknown, ...args: unknown[]) => unknown;
class IpcMain extends EventEmitter {
  readonly handlers = new Map<string, Handler>();
  handle(channel: string, handler: Handler): void {
    if (this.handlers.has(channel)) throw new Error(`Attempted to register a second handler for '${channel}'`);
    this.handlers.set(channel, handler);
  }
}
export const ipcMain = new IpcMain();

// ---- ports

let nextPort = 1;
type Forward = (message: Exclude<Relay, { op: 'message' }>) => void;

/** One end of a channel: used here, or sent to a utility process or a page and then only relayed. */
export class MessagePortMain extends EventEmitter {
  readonly pid = nextPort++;
  peer: MessagePortMain | undefined;
  #queue: unknown[] | null = [];
  #forward: Forward | undefined;
  #closed = false;
  postMessage(data: unknown): void {
    // Here as in Electron: what cannot be cloned throws at its sender.
    this.peer?.receive(structuredClone(data));
  }
  receive(data: unknown): void {
    if (this.#forward) this.#forward({ op: 'port', pid: this.pid, data });
    else if (this.#queue) this.#queue.push(data);
    else this.emit('message', { data, ports: [] });
  }
  start(): void {
    for (const data of this.#queue?.splice(0) ?? []) this.emit('message', { data, ports: [] });
    this.#queue = null;
  }
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.emit('close');
    this.peer?.remoteClosed();
  }
  remoteClosed(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#forward?.({ op: 'portclose', pid: this.pid });
    this.emit('close');
  }
  transfer(forward: Forward): void {
    this.#forward = forward;
    for (const data of this.#queue?.splice(0) ?? []) forward({ op: 'port', pid: this.pid, data });
    if (this.#closed) forward({ op: 'portclose', pid: this.pid });
  }
}

export class MessageChannelMain {
  readonly port1 = new MessagePortMain();
  readonly port2 = new MessagePortMain();
  constructor() {
    this.port1.peer = this.port2;
    this.port2.peer = this.port1;
  }
}

/** The ports that live in one utility process or page; all of them close when it goes. */
class RemotePorts {
  readonly #ports = new Map<number, MessagePortMain>();
  add(ports: readonly MessagePortMain[]): number[] {
    for (const port of ports) this.#ports.set(port.pid, port);
    return ports.map((port) => port.pid);
  }
  receive(message: Exclude<Relay, { op: 'message' }>): void {
    const port = this.#ports.get(message.pid);
    if (message.op === 'port') port?.peer?.receive(message.data);
    else {
      this.#ports.delete(message.pid);
      port?.peer?.remoteClosed();
    }
  }
  gone(): void {
    for (const port of this.#ports.values()) port.peer?.remoteClosed();
    this.#ports.clear();
  }
}

// ---- utilityProcess

const utilities = new Set<UtilityProcess>();

class UtilityProcess extends EventEmitter {
  readonly service: string;
  readonly child: ChildProcess;
  readonly #ports = new RemotePorts();
  constructor(file: string, args: readonly string[] = [], options: { serviceName?: string } = {}) {
    super();
    this.service = options.serviceName ?? 'Node Utility Process';
    this.child = fork(file, [...args], {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: ['--import', new URL('./utility.ts', import.meta.url).href],
    });
    utilities.add(this);
    this.child.on('spawn', () => this.emit('spawn'));
    this.child.on('exit', (code) => {
      utilities.delete(this);
      this.#ports.gone();
      this.emit('exit', code ?? 1);
    });
    this.child.on('message', (message: Relay) => {
      if (message.op === 'message') this.emit('message', message.data);
      else this.#ports.receive(message);
    });
  }
  get pid(): number | undefined {
    return this.child.pid;
  }
  postMessage(data: unknown, ports: readonly MessagePortMain[] = []): void {
    this.#send({ op: 'message', data, pids: this.#ports.add(ports) });
    for (const port of ports) port.transfer((message) => this.#send(message));
  }
  kill(): boolean {
    return this.child.kill();
  }
  #send(message: Relay): void {
    if (this.child.connected) this.child.send(message, () => {});
  }
}
export const utilityProcess = {
  fork: (file: string, args?: readonly string[], options?: { serviceName?: string }) => new UtilityProcess(file, args, options),
};

// ---- protocol, session, dialog, menu

const schemes = new Map<string, (request: Request) => Response | Promise<Response>>();
export const protocol = {
  registerSchemesAsPrivileged: (): void => {},
  handle: (scheme: string, handler: (request: Request) => Response | Promise<Response>): void => void schemes.set(scheme, handler),
};

// A plain Chromium knows no app://; app://host/path is served at https://host.app.electron-double.invalid/path.
const toWeb = (text: string): string => {
  const url = new URL(text);
  const scheme = url.protocol.slice(0, -1);
  return schemes.has(scheme) ? `https://${url.host}.${scheme}.electron-double.invalid${url.pathname}${url.search}${url.hash}` : text;
};
const fromWeb = (text: string): string => {
  const found = /^https:\/\/([^/]+)\.([a-z]+)\.electron-double\.invalid(\/.*)?$/.exec(text);
  return found ? `${found[2]}://${found[1]}${found[3] ?? '/'}` : text;
};

type PermissionHandler = (contents: WebContents, permission: string, answer: (granted: boolean) => void) => void;
const permissionAnswers: boolean[] = [];
let askPermission: PermissionHandler | undefined;
export const session = {
  defaultSession: {
    setPermissionRequestHandler: (handler: PermissionHandler): void => {
      askPermission = handler;
    },
    setPermissionCheckHandler: (): void => {},
  },
};

export const dialog = {
  showMessageBoxSync: (...args: unknown[]): number => showMessageBoxSync(...args),
  showOpenDialog: (...args: unknown[]): Promise<{ canceled: boolean; filePaths: string[] }> => {
    scripted.dialogs.push(args.at(-1));
    return Promise.resolve(scripted.dialogAnswers.shift() ?? { canceled: true, filePaths: [] });
  },
};
/** As Electron's: the process waits for the answer; unanswered, it is the button that Escape stands for. */
const showMessageBoxSync = (...args: unknown[]): number => {
  const options = args.at(-1);
  scripted.dialogs.push(options);
  const cancel: unknown = typeof options === 'object' && options !== null ? Reflect.get(options, 'cancelId') : undefined;
  return scripted.boxAnswers.shift() ?? (typeof cancel === 'number' ? cancel : 0);
};
export const Menu = { setApplicationMenu: (): void => {}, buildFromTemplate: (template: unknown): unknown => template };

// ---- windows

type WindowOptions = {
  show?: boolean;
  webPreferences?: { preload?: string; nodeIntegration?: boolean; contextIsolation?: boolean; sandbox?: boolean };
};
type FromPage =
  | { op: 'send'; channel: string; args: Wire[] }
  | { op: 'invoke'; id: number; channel: string; args: Wire[] }
  | { op: 'port'; pid: number; data: Wire }
  | { op: 'portclose'; pid: number };

class WebContents extends EventEmitter {
  readonly #window: BrowserWindow;
  readonly #ports = new RemotePorts();
  readonly mainFrame: { url: string; postMessage: (channel: string, message: unknown, ports?: readonly MessagePortMain[]) => void };
  #openHandler: (details: { url: string }) => { action: 'allow' | 'deny' } = () => ({ action: 'allow' });
  #page: Page | undefined;
  #cdp: CDPSession | undefined;
  #world: number | undefined;
  #loading: string | undefined;
  #outgoing: string[] = [];

  constructor(window: BrowserWindow) {
    super();
    this.#window = window;
    this.mainFrame = { url: '', postMessage: (channel, message, ports) => this.postMessage(channel, message, ports) };
  }

  async attach(preload: string | undefined): Promise<void> {
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    this.#page = page;
    this.#cdp = cdp;
    await cdp.send('Page.enable');
    await cdp.send('Runtime.enable');
    const mainFrame = (await cdp.send('Page.getFrameTree')).frameTree.frame.id;
    cdp.on('Runtime.executionContextCreated', ({ context: world }) => {
      if (world.name !== isolatedWorld || Reflect.get(world.auxData ?? {}, 'frameId') !== mainFrame) return;
      // A new document: what the old one held is gone.
      this.#ports.gone();
      this.#world = world.id;
    });
    cdp.on('Runtime.bindingCalled', ({ name, payload }) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by page-runtime.ts
      if (name === '__electronDouble') void this.#fromPage(JSON.parse(payload) as FromPage);
    });
    await cdp.send('Runtime.addBinding', { name: '__electronDouble', executionContextName: isolatedWorld });
    if (preload !== undefined) {
      const nonce = randomBytes(12).toString('hex');
      const versions = { node: process.versions.node, electron: '45.0.0-double', chrome: browser.version() };
      await cdp.send('Page.addScriptToEvaluateOnNewDocument', { source: mainWorldSource(nonce) });
      await cdp.send('Page.addScriptToEvaluateOnNewDocument', {
        worldName: isolatedWorld,
        source: isolatedWorldSource(nonce, readFileSync(preload, 'utf8'), versions),
      });
    }
    await page.route(/^https:\/\/[^/]+\.electron-double\.invalid\//, async (route) => {
      const request = route.request();
      const url = fromWeb(request.url());
      const handler = schemes.get(new URL(url).protocol.slice(0, -1));
      try {
        if (!handler) throw new Error(`no handler for ${url}`);
        const body = request.postDataBuffer();
        const response = await handler(
          new Request(url, {
            method: request.method(),
            headers: await request.allHeaders(),
            ...(body ? { body: new Uint8Array(body) } : {}),
          }),
        );
        await route.fulfill({
          status: response.status,
          headers: Object.fromEntries(response.headers),
          body: Buffer.from(await response.arrayBuffer()),
        });
      } catch (error) {
        process.stderr.write(`electron double: ${url}: ${String(error)}\n`);
        await route.abort('failed').catch(() => {});
      }
    });
    // Registered last, so asked first: a navigation that the page began.
    await page.route('**/*', async (route) => {
      const request = route.request();
      if (
        request.isNavigationRequest() &&
        request.frame() === page.mainFrame() &&
        this.#loading !== request.url() &&
        request.url() !== page.url()
      ) {
        const prevention = new Preventable();
        this.emit('will-navigate', prevention, fromWeb(request.url()));
        if (prevention.defaultPrevented) return route.abort('aborted');
      }
      return route.fallback();
    });
    // Electron asks before a window exists; Chromium names the address on the opener and then makes a page, which is closed again.
    cdp.on('Page.windowOpen', ({ url }) => {
      if (this.#openHandler({ url: fromWeb(url) }).action === 'allow')
        throw new Error('electron double: windows that a page opens are not supported');
    });
    page.on('popup', (popup) => void popup.close());
    page.on('load', () => this.#window.emit('ready-to-show'));
    page.on('close', () => {
      this.#ports.gone();
      this.#window.wasClosed();
    });
  }

  async load(url: string): Promise<void> {
    this.#loading = toWeb(url);
    try {
      await this.#page?.goto(this.#loading, { waitUntil: 'load' });
    } finally {
      this.#loading = undefined;
    }
  }
  async closePage(): Promise<void> {
    // Two debuggers hold the page, and only one could answer the browser's own question: so the page is asked directly.
    const refuses = await this.#page?.evaluate(() => {
      const event = new Event('beforeunload', { cancelable: true });
      window.dispatchEvent(event);
      return event.defaultPrevented;
    });
    const prevention = new Preventable();
    if (refuses === true) this.emit('will-prevent-unload', prevention);
    if (refuses === true && !prevention.defaultPrevented) return;
    await this.#page?.close();
  }
  getURL(): string {
    return fromWeb(this.#page?.url() ?? '');
  }
  setWindowOpenHandler(handler: (details: { url: string }) => { action: 'allow' | 'deny' }): void {
    this.#openHandler = handler;
  }
  send(channel: string, ...args: unknown[]): void {
    this.#deliver({ op: 'send', channel, args: args.map(encode) });
  }
  postMessage(channel: string, message: unknown, ports: readonly MessagePortMain[] = []): void {
    this.#deliver({ op: 'send', channel, args: [encode(message)], pids: this.#ports.add(ports) });
    for (const port of ports) port.transfer((relay) => this.#deliver(relay.op === 'port' ? { ...relay, data: encode(relay.data) } : relay));
  }

  /** Messages of one turn travel together; order is kept. */
  #deliver(message: object): void {
    if (this.#outgoing.push(JSON.stringify(message)) > 1) return;
    setImmediate(() => {
      const expression = this.#outgoing
        .splice(0)
        .map((text) => `__deliver(${JSON.stringify(text)})`)
        .join(';');
      // The page may be gone by now; then nobody misses them.
      if (this.#world !== undefined) this.#cdp?.send('Runtime.evaluate', { contextId: this.#world, expression }).catch(() => {});
    });
  }

  async #fromPage(message: FromPage): Promise<void> {
    this.mainFrame.url = this.getURL();
    const event = { sender: this, senderFrame: this.mainFrame, ports: [] };
    switch (message.op) {
      case 'send':
        ipcMain.emit(message.channel, event, ...message.args.map(decode));
        return;
      case 'invoke': {
        let reply: object;
        try {
          const handler = ipcMain.handlers.get(message.channel);
          if (!handler) throw new Error(`No handler registered for '${message.channel}'`);
          reply = { ok: true, v: encode(await handler(event, ...message.args.map(decode))) };
        } catch (error) {
          reply = { ok: false, v: encode(new Error(`Error invoking remote method '${message.channel}': ${String(error)}`)) };
        }
        this.#deliver({ op: 'reply', id: message.id, ...reply });
        return;
      }
      case 'port':
        this.#ports.receive({ ...message, data: decode(message.data) });
        return;
      case 'portclose':
        this.#ports.receive(message);
        return;
      default:
        throw new Error('electron double: unknown message of a page');
    }
  }
}

let nextWindow = 1;
const windows = new Map<number, BrowserWindow>();

export class BrowserWindow extends EventEmitter {
  static getAllWindows(): BrowserWindow[] {
    return [...windows.values()];
  }
  static fromWebContents(contents: WebContents): BrowserWindow | null {
    return BrowserWindow.getAllWindows().find((window) => window.webContents === contents) ?? null;
  }
  readonly id = nextWindow++;
  readonly webContents: WebContents;
  readonly #attached: Promise<void>;
  visible: boolean;
  constructor(options: WindowOptions = {}) {
    super();
    const { preload, nodeIntegration, contextIsolation, sandbox } = options.webPreferences ?? {};
    if (nodeIntegration === true || contextIsolation === false || sandbox === false)
      throw new Error('electron double: only sandboxed, isolated windows without Node');
    this.visible = options.show !== false;
    windows.set(this.id, this);
    this.webContents = new WebContents(this);
    this.#attached = this.webContents.attach(preload);
    app.emit('web-contents-created', {}, this.webContents);
  }
  async loadURL(url: string): Promise<void> {
    await this.#attached;
    await this.webContents.load(url);
  }
  show(): void {
    this.visible = true;
  }
  focus(): void {}
  restore(): void {}
  isMinimized(): boolean {
    return false;
  }
  async close(): Promise<void> {
    const prevention = new Preventable();
    this.emit('close', prevention);
    if (!prevention.defaultPrevented) await this.webContents.closePage();
  }
  wasClosed(): void {
    if (!windows.delete(this.id)) return;
    this.emit('closed');
    if (windows.size === 0 && !app.quitting) app.emit('window-all-closed');
  }
}

// ---- control by the test

async function control(question: Control): Promise<unknown> {
  switch (question.ask) {
    case 'state':
      return {
        dialogs: scripted.dialogs,
        windows: windows.size,
        visible: [...windows.values()].filter((window) => window.visible).length,
        permissions: permissionAnswers,
        utilities: [...utilities].map((utility) => utility.service),
        pids: Object.fromEntries([...utilities].map((utility) => [utility.service, utility.pid])),
        handled: [...ipcMain.handlers.keys()],
      } satisfies ShellState;
    case 'dialog':
      scripted.dialogAnswers.push(question.answer);
      return null;
    case 'box':
      scripted.boxAnswers.push(question.answer);
      return null;
    case 'close':
      for (const window of windows.values()) await window.close();
      return null;
    case 'permission': {
      const [window] = windows.values();
      return new Promise((resolve) => {
        if (window && askPermission) askPermission(window.webContents, question.permission, resolve);
        else resolve(true);
      });
    }
    case 'emit':
      app.emit(question.event);
      return null;
    case 'kill':
      for (const utility of utilities) if (utility.service === question.service) utility.child.kill('SIGKILL');
      return null;
    default:
      throw new Error('electron double: unknown question');
  }
}

process.on('message', (question: Control & { id: number }) => {
  void control(question).then((value) => process.send?.({ id: question.id, value }));
});
// Utility processes never outlive the main process.
process.on('exit', () => {
  for (const utility of utilities) utility.child.kill('SIGKILL');
});
