// Electron's MessagePortMain, and `process.parentPort` of a utility process. Named by shape: this file must not import electron.
import type { Port } from '#shared/rpc/port.ts';

export type MessagePortMainLike = {
  postMessage(message: unknown): void;
  on(event: 'message', listener: (event: { data: unknown }) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
  start(): void;
  close(): void;
};

/** A port over one end of a `MessageChannelMain`. Never hands over ArrayBuffers: transferred through MessagePortMain they arrive empty. */
export function fromMessagePortMain(port: MessagePortMainLike): Port {
  let closed = false;
  let end = () => {};
  port.on('close', () => {
    if (closed) return;
    closed = true;
    end();
  });
  return {
    send: (frame) => {
      if (!closed) port.postMessage(frame);
    },
    listen: (onFrame, onClose) => {
      end = onClose;
      if (closed) {
        queueMicrotask(onClose);
        return;
      }
      port.on('message', (event) => onFrame(event.data));
      port.start();
    },
    close: () => port.close(),
  };
}
