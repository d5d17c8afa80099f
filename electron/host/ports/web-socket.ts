// A server-side WebSocket of the `ws` package as a port.
import type { WebSocket } from 'ws';
import { decodeFrame, encodeFrame } from '#shared/rpc/codec.ts';
import type { Port } from '#shared/rpc/port.ts';

/** Above this many unsent bytes we stop reading from the page: it gets no new answers before it has taken the old ones. */
const highWater = 8 << 20;
const lowWater = 1 << 20;
/** A page that still takes nothing is cut off here. Streams are bounded by their credit long before. */
const limit = 256 << 20;

/**
 * Malformed frames close the connection (1007); text frames are malformed. Listens to the socket from the start: what comes with the
 * handshake, good or bad, may be there before anybody listens to the port.
 */
export function fromWebSocket(socket: WebSocket): Port {
  const early: unknown[] = [];
  let onFrame = (frame: unknown): void => void early.push(frame);
  let onClose = () => {};
  let closed = socket.readyState === socket.CLOSED;
  const drained = () => {
    if (socket.isPaused && socket.bufferedAmount <= lowWater) socket.resume();
  };
  socket.binaryType = 'nodebuffer';
  socket.on('close', () => {
    closed = true;
    onClose();
  });
  // Always followed by 'close'; without a listener it would end the process.
  socket.on('error', () => {});
  socket.on('message', (data, isBinary) => {
    let frame: unknown;
    try {
      if (!isBinary || !Buffer.isBuffer(data)) throw new TypeError('a text frame');
      frame = decodeFrame(data);
    } catch {
      socket.close(1007);
      return;
    }
    onFrame(frame);
  });
  return {
    send: (frame) => {
      if (socket.readyState !== socket.OPEN) return;
      socket.send(encodeFrame(frame), drained);
      if (socket.bufferedAmount > limit) socket.terminate();
      else if (socket.bufferedAmount > highWater) socket.pause();
    },
    listen: (frameListener, closeListener) => {
      onFrame = frameListener;
      onClose = closeListener;
      for (const frame of early.splice(0)) onFrame(frame);
      if (closed) queueMicrotask(onClose);
    },
    close: () => socket.close(),
  };
}
