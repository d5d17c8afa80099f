// The IPC channel between a process and a child that it forked with `serialization: 'advanced'` (typed arrays survive it).
import type { ChildProcess } from 'node:child_process';
import type { Port } from '#shared/rpc/port.ts';

/** The end of the parent. Closing it disconnects; a child that serves nothing else then ends by itself. */
export function fromChildProcess(child: ChildProcess): Port {
  let closed = !child.connected;
  let end = () => {};
  const close = () => {
    if (closed) return;
    closed = true;
    end();
  };
  // From the start: the child may be gone before anybody listens to the port.
  child.on('disconnect', close);
  child.on('exit', close);
  child.on('error', close);
  return {
    send: (frame) => {
      // A child that died a moment ago reports by callback; its 'disconnect' is what closes the port.
      if (!closed && child.connected) child.send(carried(frame), () => {});
    },
    listen: (onFrame, onClose) => {
      end = onClose;
      if (closed) {
        queueMicrotask(onClose);
        return;
      }
      child.on('message', onFrame);
    },
    close: () => {
      if (child.connected) child.disconnect();
    },
  };
}

/** The end of the child: `process` of a forked program. */
export function fromParentProcess(own: NodeJS.Process): Port {
  return {
    send: (frame) => {
      if (own.connected) own.send?.(carried(frame), undefined, {}, () => {});
    },
    listen: (onFrame, onClose) => {
      if (!own.connected) {
        queueMicrotask(onClose);
        return;
      }
      own.on('disconnect', onClose);
      own.on('message', onFrame);
    },
    close: () => {
      if (own.connected) own.disconnect();
    },
  };
}

// Node's own type for a message leaves out typed arrays, which the advanced serialization carries.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every frame is an object
const carried = (frame: unknown) => frame as object;
