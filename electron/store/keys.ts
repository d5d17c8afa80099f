// Rows that belong to a run have one integer key: the run's number and the row's own number in it. So they lie together in one tree,
// in order, without a second index: a page of a run is one range, and a commit touches one page per table.

const span = 2 ** 32;

/** Largest number inside a run (transitions, bundles, events, salts). */
export const maxInRun = span - 1;

/** `run` is run.no (1 to 2^20), `n` the number in it (0 to 2^32 - 1). In SQL: `run << 32 | n`. */
export function rowKey(run: number, n: number): number {
  return run * span + n;
}

/** The number inside the run. In SQL: `key & 4294967295`. */
export function numberOf(key: number): number {
  return key % span;
}
