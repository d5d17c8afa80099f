// Electron's renderer side in plain Chromium. The functions of this file run in the page: they are sent as source, so each uses only its
// arguments, the functions sent with it and globals. The preload runs in a real isolated world; the two worlds of a page share its DOM,
// so the context bridge crosses by synchronous DOM events under a name that the page cannot guess.
import { wireSource, type decode as Decode, type encode as Encode } from './wire.ts';

/* oxlint-disable typescript/no-explicit-any, typescript/no-unsafe-type-assertion -- values of any shape cross here, as in Electron */

type Sent = { k: 'fn' | 'p' | 'a' | 'o' | 'v'; id?: number; v?: any };
type Message = { op: string; id?: number; ok?: boolean; v?: Sent; args?: Sent[]; name?: string; api?: Sent };

/** One side of the bridge. Functions become proxies, promises are followed, plain data is copied and frozen. */
function makeEndpoint(outEvent: string, inEvent: string) {
  const functions = new Map<number, (...args: unknown[]) => unknown>();
  const ids = new WeakMap<object, number>();
  const waiting = new Map<number, { resolve: (v: unknown) => void; reject: (v: unknown) => void }>();
  const handlers: Record<string, (message: Message) => void> = {};
  let next = 1;
  const fire = (message: Message) => window.dispatchEvent(new CustomEvent(outEvent, { detail: message }));
  const isPlain = (value: object) => Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null;
  function send(value: any, depth = 0): Sent {
    if (depth > 1000) throw new TypeError('contextBridge: nested too deeply');
    if (typeof value === 'symbol') throw new Error('contextBridge: symbols cannot be bridged');
    if (typeof value === 'function') {
      const id = ids.get(value) ?? next++;
      ids.set(value, id);
      functions.set(id, value);
      return { k: 'fn', id };
    }
    if (value !== null && typeof value === 'object') {
      if (typeof value.then === 'function') {
        const id = next++;
        value.then(
          (result: unknown) => fire({ op: 'settle', id, ok: true, v: send(result) }),
          (error: unknown) => fire({ op: 'settle', id, ok: false, v: send(error) }),
        );
        return { k: 'p', id };
      }
      if (Array.isArray(value)) return { k: 'a', v: value.map((item) => send(item, depth + 1)) };
      if (isPlain(value)) return { k: 'o', v: Object.keys(value).map((name) => [name, send(value[name], depth + 1)]) };
    }
    return { k: 'v', v: structuredClone(value) };
  }
  function receive(sent: Sent): unknown {
    switch (sent.k) {
      case 'v':
        return sent.v;
      case 'a':
        return Object.freeze(sent.v.map(receive));
      case 'o':
        return Object.freeze(Object.fromEntries(sent.v.map(([name, value]: [string, Sent]) => [name, receive(value)])));
      case 'p':
        return new Promise((resolve, reject) => waiting.set(sent.id ?? 0, { resolve, reject }));
      case 'fn':
        return (...args: unknown[]) => call(sent.id ?? 0, args);
      default:
        throw new TypeError('contextBridge: unknown kind');
    }
  }
  let answer: Message | undefined;
  function call(id: number, args: unknown[]): unknown {
    answer = undefined;
    fire({ op: 'call', id, args: args.map((arg) => send(arg)) });
    const { ok, v } = (answer ?? { ok: false, v: { k: 'v', v: new Error('contextBridge: no answer') } }) as Message;
    const value = receive(v as Sent);
    if (!ok) throw value as Error;
    return value;
  }
  window.addEventListener(
    inEvent,
    (event) => {
      const message = (event as CustomEvent<Message>).detail;
      if (message.op === 'call') {
        let result: Message;
        try {
          result = { op: 'return', ok: true, v: send(functions.get(message.id ?? 0)?.(...(message.args ?? []).map(receive))) };
        } catch (error) {
          result = { op: 'return', ok: false, v: send(error) };
        }
        fire(result);
      } else if (message.op === 'return') answer = message;
      else if (message.op === 'settle') {
        const waiter = waiting.get(message.id ?? 0);
        waiting.delete(message.id ?? 0);
        if (waiter) (message.ok ? waiter.resolve : waiter.reject)(receive(message.v as Sent));
      } else handlers[message.op]?.(message);
    },
    true,
  );
  return { fire, send, receive, handlers };
}

function runMainWorld(make: typeof makeEndpoint, nonce: string): void {
  const bridge = make(`m2i${nonce}`, `i2m${nonce}`);
  bridge.handlers['expose'] = ({ name = '', api }) => {
    if (Object.hasOwn(window, name)) throw new Error('Cannot bind an API on top of an existing property on the window object');
    Object.defineProperty(window, name, { value: bridge.receive(api as Sent), enumerable: true, configurable: false, writable: false });
  };
}

function runIsolatedWorld(
  make: typeof makeEndpoint,
  encode: typeof Encode,
  decode: typeof Decode,
  nonce: string,
  processInfo: object,
  preload: (require: (id: string) => unknown, module: { exports: object }, exports: object, process: object) => void,
): void {
  const world = globalThis as any;
  const binding = world.__electronDouble as (text: string) => void;
  delete world.__electronDouble;
  const post = (message: object) => binding(JSON.stringify(message));
  const bridge = make(`i2m${nonce}`, `m2i${nonce}`);
  const listeners = new Map<string, any[]>();
  const waiting = new Map<number, { resolve: (v: unknown) => void; reject: (v: unknown) => void }>();
  const ports = new Map<number, MessagePort>();
  let next = 1;
  const adopt = (pid: number) => {
    const channel = new MessageChannel();
    ports.set(pid, channel.port1);
    channel.port1.addEventListener('message', (event) => post({ op: 'port', pid, data: encode(event.data) }));
    channel.port1.addEventListener('close', () => {
      if (ports.delete(pid)) post({ op: 'portclose', pid });
    });
    channel.port1.start();
    return channel.port2;
  };
  Object.defineProperty(globalThis, '__deliver', {
    value: (text: string) => {
      const message = JSON.parse(text);
      if (message.op === 'reply') {
        const waiter = waiting.get(message.id);
        waiting.delete(message.id);
        if (waiter) (message.ok ? waiter.resolve : waiter.reject)(decode(message.v));
      } else if (message.op === 'send') {
        const event = { sender: ipcRenderer, ports: (message.pids ?? []).map(adopt) };
        for (const listener of listeners.get(message.channel) ?? []) listener(event, ...message.args.map(decode));
      } else if (message.op === 'port') ports.get(message.pid)?.postMessage(decode(message.data));
      else if (message.op === 'portclose') {
        ports.get(message.pid)?.close();
        ports.delete(message.pid);
      }
    },
  });
  const ipcRenderer = {
    on: (channel: string, listener: unknown) => {
      listeners.set(channel, [...(listeners.get(channel) ?? []), listener]);
      return ipcRenderer;
    },
    off: (channel: string, listener: unknown) => {
      listeners.set(
        channel,
        (listeners.get(channel) ?? []).filter((other) => other !== listener),
      );
      return ipcRenderer;
    },
    send: (channel: string, ...args: unknown[]) => post({ op: 'send', channel, args: args.map(encode) }),
    invoke: (channel: string, ...args: unknown[]) =>
      new Promise((resolve, reject) => {
        const id = next++;
        const encoded = args.map(encode);
        waiting.set(id, { resolve, reject });
        post({ op: 'invoke', id, channel, args: encoded });
      }),
  };
  const contextBridge = { exposeInMainWorld: (name: string, api: unknown) => bridge.fire({ op: 'expose', name, api: bridge.send(api) }) };
  const require = (id: string) => {
    if (id === 'electron' || id === 'electron/renderer') return { contextBridge, ipcRenderer };
    throw new Error(`module not found: ${id} (the preload is sandboxed)`);
  };
  const module = { exports: {} };
  preload(require, module, module.exports, processInfo);
}

/** Script for the page's own world. */
export const mainWorldSource = (nonce: string): string => `(${String(runMainWorld)})(${String(makeEndpoint)}, ${JSON.stringify(nonce)})`;

/** Script for the isolated world, with the preload in it. */
export const isolatedWorldSource = (nonce: string, preload: string, versions: Record<string, string>): string => {
  const processInfo = { platform: process.platform, versions, type: 'renderer', contextIsolated: true, sandboxed: true };
  return `(() => {
${wireSource}
(${String(runIsolatedWorld)})(${String(makeEndpoint)}, encode, decode, ${JSON.stringify(nonce)}, ${JSON.stringify(processInfo)}, (require, module, exports, process) => {
${preload}
});
})()`;
};
