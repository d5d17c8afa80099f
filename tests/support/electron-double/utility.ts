// node --import utility.ts FILE: gives a forked child what a utility process has, `process.parentPort`, and takes what it has not: with
// the RunAsNode fuse off, `fork` and whatever starts `process.execPath` as Node fail in the packed app, so here they throw.
import child_process from 'node:child_process';
import { EventEmitter } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import type { Relay } from './electron.ts';

const refuse = (what: string) => () => {
  throw new Error(`electron double: ${what} does not work in a utility process of the packed app (the RunAsNode fuse is off)`);
};
Object.assign(child_process, { fork: refuse('child_process.fork') });
syncBuiltinESMExports();
Object.defineProperty(process, 'execPath', { get: refuse('process.execPath') });

class UtilityPort extends EventEmitter {
  readonly #pid: number;
  #queue: unknown[] | null = [];
  constructor(pid: number) {
    super();
    this.#pid = pid;
  }
  postMessage(data: unknown): void {
    send({ op: 'port', pid: this.#pid, data });
  }
  start(): void {
    for (const data of this.#queue?.splice(0) ?? []) this.emit('message', { data, ports: [] });
    this.#queue = null;
  }
  receive(data: unknown): void {
    if (this.#queue) this.#queue.push(data);
    else this.emit('message', { data, ports: [] });
  }
  close(): void {
    if (!ports.delete(this.#pid)) return;
    send({ op: 'portclose', pid: this.#pid });
    this.emit('close');
  }
  remoteClosed(): void {
    if (ports.delete(this.#pid)) this.emit('close');
  }
}

const ports = new Map<number, UtilityPort>();
const channel = process.send?.bind(process);
const send = (message: Relay) => channel?.(message);

if (isMainThread) {
  const adopt = (pid: number) => {
    const port = new UtilityPort(pid);
    ports.set(pid, port);
    return port;
  };
  const parentPort = Object.assign(new EventEmitter(), { postMessage: (data: unknown) => send({ op: 'message', data, pids: [] }) });
  Object.assign(process, { parentPort });
  process.on('message', (message: Relay) => {
    if (message.op === 'message') parentPort.emit('message', { data: message.data, ports: message.pids.map(adopt) });
    else if (message.op === 'port') ports.get(message.pid)?.receive(message.data);
    else ports.get(message.pid)?.remoteClosed();
  });
  // A utility process does not outlive the main process.
  process.on('disconnect', () => process.exit(0));
  // Hidden: a program that looks for process.send would take itself for a child of plain Node.
  Object.assign(process, { send: undefined });
}
