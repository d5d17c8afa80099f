// Why it exists: a person who holds a key down asks for fifty things and wants the last. Starting all of them makes the last one late;
// a debounce makes even the first one late. This starts at once when idle and otherwise remembers only the newest wish.

export type LatestWins = {
  /** Runs `work` now if nothing runs, else after what runs, unless something newer is submitted before. */
  submit(work: () => Promise<void>): void;
};

export function createLatestWins(): LatestWins {
  let running = false;
  let next: (() => Promise<void>) | undefined;
  const start = async (work: () => Promise<void>) => {
    running = true;
    let current: (() => Promise<void>) | undefined = work;
    try {
      while (current) {
        next = undefined;
        await current();
        current = next;
      }
    } finally {
      running = false;
    }
  };
  return {
    submit(work) {
      if (running) next = work;
      else void start(work);
    },
  };
}
