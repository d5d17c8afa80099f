// The two ways in which a page reaches the engine, as the one Port that the RPC speaks.
import { decodeFrame, encodeFrame } from '#shared/rpc/codec.ts';
import type { Port } from '#shared/rpc/port.ts';

/** A MessagePort that somebody handed over. The browser does not always say that the other end is gone: an engine that stops is told apart by the shell. */
export function fromMessagePort(port: MessagePort): Port {
  let onClose = () => {};
  let closed = false;
  const close = () => {
    if (closed) return;
    closed = true;
    port.close();
    onClose();
  };
  return {
    send: (frame) => {
      if (!closed) port.postMessage(frame);
    },
    listen: (onFrame, whenClosed) => {
      onClose = whenClosed;
      port.addEventListener('message', (event: MessageEvent<unknown>) => onFrame(event.data));
      port.addEventListener('close', close);
      port.start();
    },
    close,
  };
}

/** An open or opening WebSocket; what is sent before it is open waits. */
export function fromWebSocket(socket: WebSocket): Port {
  socket.binaryType = 'arraybuffer';
  const waiting: Uint8Array<ArrayBuffer>[] = [];
  socket.addEventListener('open', () => {
    for (const bytes of waiting.splice(0)) socket.send(bytes);
  });
  return {
    send: (frame) => {
      const bytes = encodeFrame(frame);
      if (socket.readyState === WebSocket.OPEN) socket.send(bytes);
      else if (socket.readyState === WebSocket.CONNECTING) waiting.push(bytes);
    },
    listen: (onFrame, onClose) => {
      socket.addEventListener('message', (event: MessageEvent<unknown>) => {
        if (!(event.data instanceof ArrayBuffer)) return;
        let frame: unknown;
        try {
          frame = decodeFrame(new Uint8Array(event.data));
        } catch {
          // A frame that cannot be read leaves calls without an answer; a new connection asks again.
          socket.close();
          return;
        }
        onFrame(frame);
      });
      socket.addEventListener('close', onClose);
    },
    close: () => socket.close(),
  };
}
