// Ports that Node itself makes: a worker, its parent port, either end of a MessageChannel.
import type { Port } from '#shared/rpc/port.ts';

/** What `Worker`, `parentPort` and `MessagePort` of node:worker_threads have in common. */
type WorkerPortLike = {
  postMessage(value: unknown): void;
  on(event: 'message', listener: (value: unknown) => void): unknown;
  on(event: 'close' | 'exit', listener: () => void): unknown;
  close?(): void;
  terminate?(): Promise<number>;
};

/** A port over a worker (closing it terminates the thread) or over one end of a message channel. */
export function fromWorkerPort(port: WorkerPortLike): Port {
  let closed = false;
  return {
    send: (frame) => {
      if (!closed) port.postMessage(frame);
    },
    listen: (onFrame, onClose) => {
      const close = () => {
        if (closed) return;
        closed = true;
        onClose();
      };
      port.on('close', close);
      port.on('exit', close);
      port.on('message', onFrame);
    },
    close: () => {
      if (port.close) port.close();
      else void port.terminate?.();
    },
  };
}
