// How many requests are under way at once. Servers queue without a limit and without a word (vLLM does), so this side has to count.

export type Limiter = {
  /** Runs `task` when there is room, in the order of asking. Rejects with the signal's reason when it is aborted while waiting. */
  run<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T>;
  readonly running: number;
  readonly waiting: number;
};

/** At most `size` at once; `size` is a positive integer. */
export function createLimiter(size: number): Limiter {
  let running = 0;
  const queue: (() => void)[] = [];
  const enter = (signal: AbortSignal): Promise<void> => {
    if (running < size) {
      running++;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        queue.splice(queue.indexOf(begin), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      queue.push(begin);
    });
  };
  const exit = () => {
    const next = queue.shift();
    // The place is handed over, so that nobody who asks later overtakes.
    if (next === undefined) running--;
    else next();
  };
  return {
    run: async (signal, task) => {
      signal.throwIfAborted();
      await enter(signal);
      try {
        return await task();
      } finally {
        exit();
      }
    },
    get running() {
      return running;
    },
    get waiting() {
      return queue.length;
    },
  };
}
