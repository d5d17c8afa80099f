// Moves committed pages from the log into the database between writes, so that no commit pays for it and the log stays small. Not after
// every write: the one after a checkpoint begins the log again, and flushes its new header by itself before the pages. That is two waits for
// the disk instead of one, and the checkpoint has two of its own.
import { setImmediate, setTimeout as setTimer, clearTimeout, clearImmediate } from 'node:timers';
import type { WritableDb } from './db.ts';

/** After the last write, so that a loop's own next write does not wait for a checkpoint. */
const idleMs = 50;
/** Fewer stay in the log: a few rounds are small, and whoever opens the database reads them there. */
const minWrites = 16;
/** Under writes without a pause, a checkpoint comes at the latest after as many. */
const maxWrites = 64;

export type Checkpointer = { wrote(): void; stop(): void };

export function createCheckpointer(db: WritableDb): Checkpointer {
  let writes = 0;
  let timer: ReturnType<typeof setTimer> | null = null;
  let immediate: ReturnType<typeof setImmediate> | null = null;
  const clear = () => {
    if (timer !== null) clearTimeout(timer);
    if (immediate !== null) clearImmediate(immediate);
    timer = null;
    immediate = null;
  };
  const checkpoint = () => {
    clear();
    writes = 0;
    try {
      // Frames that a reader still needs stay; the next checkpoint takes them.
      db.checkpoint();
    } catch {
      // A checkpoint that fails (a full disk) loses nothing: what is committed stands in the log, and the next one tries again.
    }
  };
  return {
    wrote: () => {
      writes++;
      if (writes >= maxWrites) immediate ??= setImmediate(checkpoint);
      else {
        clear();
        if (writes >= minWrites) timer = setTimer(checkpoint, idleMs);
      }
    },
    stop: clear,
  };
}
