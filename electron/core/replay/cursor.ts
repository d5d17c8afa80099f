// Rows of a run in their order, read a page ahead: at most two pages are in memory.

export type Cursor<T> = {
  /** The next `count` rows without taking them; fewer at the end. */
  peek(count: number): Promise<readonly T[]>;
  take(count: number): Promise<readonly T[]>;
};

/** `read` gives rows with a number above `after`, in order, fewer than it could only at the end or where they are large; [] = the end. */
export function createCursor<T>(numberOf: (row: T) => number, before: number, read: (after: number) => Promise<readonly T[]>): Cursor<T> {
  let rows: T[] = [];
  let at = 0;
  let last = before;
  let ended = false;
  let ahead: Promise<readonly T[]> | null = null;
  const readAhead = (): Promise<readonly T[]> => {
    const page = read(last);
    // Whoever waits for it is told; nobody has to be waiting yet.
    page.catch(() => {});
    return page;
  };
  const fill = async (count: number): Promise<void> => {
    while (!ended && rows.length - at < count) {
      const page = await (ahead ?? readAhead());
      const final = page.at(-1);
      if (final === undefined) {
        ended = true;
        return;
      }
      last = numberOf(final);
      ahead = readAhead();
      rows = at === rows.length ? [...page] : [...rows.slice(at), ...page];
      at = 0;
    }
  };
  return {
    peek: async (count) => {
      await fill(count);
      return rows.slice(at, at + count);
    },
    take: async (count) => {
      await fill(count);
      const taken = rows.slice(at, at + count);
      at += taken.length;
      return taken;
    },
  };
}
