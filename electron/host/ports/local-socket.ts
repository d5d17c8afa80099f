// A local socket (Unix domain socket or named pipe) as a port: frames of `encodeFrame`, each after its length as u32 big-endian.
import type { Socket } from 'node:net';
import { decodeFrame, encodeFrame } from '#shared/rpc/codec.ts';
import type { Port } from '#shared/rpc/port.ts';

/** Largest frame either way: a stored object travels as one. */
export const maxSocketFrame = 512 << 20;

/** A malformed or oversized frame destroys the connection. Sending a larger one throws a RangeError. */
export function fromSocket(socket: Socket): Port {
  let closed = false;
  let end = () => {};
  socket.on('error', () => {});
  socket.on('close', () => {
    closed = true;
    end();
  });
  // Answers that the other side does not take stop us from reading its next calls.
  socket.on('drain', () => socket.resume());
  return {
    send: (frame) => {
      if (closed || !socket.writable) return;
      const body = encodeFrame(frame);
      if (body.length > maxSocketFrame)
        throw new RangeError(`a frame of ${body.length} bytes is more than the ${maxSocketFrame} that a local connection carries`);
      const head = Buffer.alloc(4);
      head.writeUInt32BE(body.length);
      socket.cork();
      socket.write(head);
      const roomy = socket.write(body);
      socket.uncork();
      if (!roomy && socket.writableNeedDrain) socket.pause();
    },
    listen: (onFrame, onClose) => {
      end = onClose;
      if (closed) {
        queueMicrotask(onClose);
        return;
      }
      const read = createFrameReader((bytes) => onFrame(decodeFrame(bytes)));
      socket.on('data', (chunk: Buffer) => {
        try {
          read(chunk);
        } catch {
          socket.destroy();
        }
      });
    },
    close: () => socket.destroySoon(),
  };
}

/** Cuts a byte stream into its length-prefixed frames; chunks may end anywhere. Throws a RangeError on an oversized length. */
export function createFrameReader(onFrame: (bytes: Uint8Array) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let have = 0;
  let want: number | undefined;
  const take = (count: number): Buffer => {
    const all = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
    chunks = all.length > count ? [all.subarray(count)] : [];
    have = all.length - count;
    return all.subarray(0, count);
  };
  return (chunk) => {
    chunks.push(chunk);
    have += chunk.length;
    for (;;) {
      if (want === undefined) {
        if (have < 4) return;
        want = take(4).readUInt32BE();
        if (want > maxSocketFrame) throw new RangeError(`frame of ${want} bytes`);
      }
      if (have < want) return;
      const size = want;
      want = undefined;
      onFrame(take(size));
    }
  };
}
