// Runs tasks with a limit on how many are under way; results keep the order of the tasks, whichever ends first.

/** Starts tasks in order, at most `limit` at once. Waits for all of them, also after a failure; then rejects with the first by position. */
export async function mapBounded<T, R>(items: readonly T[], limit: number, task: (item: T) => Promise<R>): Promise<R[]> {
  const results: PromiseSettledResult<R>[] = [];
  // One iterator for all workers: each takes the next item that nobody has taken.
  const queue = items.entries();
  const work = async (): Promise<void> => {
    for (const [at, item] of queue) {
      results[at] = await task(item).then(
        (value) => ({ status: 'fulfilled' as const, value }),
        (reason: unknown) => ({ status: 'rejected' as const, reason }),
      );
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(limit, items.length)) }, work));
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}
