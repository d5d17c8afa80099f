// The least that a two-way channel must offer. MessagePort, MessagePortMain, worker ports, sockets and an in-memory pair adapt to it.

/**
 * Frames are structured-clone values (objects, strings, finite numbers, typed arrays). `listen` is called once; what arrived before it
 * is delivered then, also the closing. `send` throws on what the transport cannot carry and does nothing once the port is closed.
 */
export type Port = {
  send(frame: unknown): void;
  listen(onFrame: (frame: unknown) => void, onClose: () => void): void;
  close(): void;
};

/** Two ports joined in memory; frames arrive in a later microtask and, as over a wire, as copies. */
export function createPortPair(): [Port, Port] {
  const make = () => ({
    queue: [] as unknown[],
    onFrame: undefined as ((frame: unknown) => void) | undefined,
    onClose: () => {},
    closed: false,
  });
  const ends = [make(), make()] as const;
  const deliver = (to: (typeof ends)[number], frame: unknown) =>
    queueMicrotask(() => {
      if (to.closed) return;
      if (to.onFrame) to.onFrame(frame);
      else to.queue.push(frame);
    });
  const port = (mine: (typeof ends)[number], other: (typeof ends)[number]): Port => ({
    send: (frame) => {
      if (!mine.closed) deliver(other, structuredClone(frame));
    },
    listen: (onFrame, onClose) => {
      mine.onFrame = onFrame;
      mine.onClose = onClose;
      for (const frame of mine.queue.splice(0)) onFrame(frame);
      if (mine.closed) queueMicrotask(onClose);
    },
    close: () => {
      for (const end of [mine, other]) {
        if (end.closed) continue;
        end.closed = true;
        queueMicrotask(() => end.onClose());
      }
    },
  });
  return [port(ends[0], ends[1]), port(ends[1], ends[0])];
}
