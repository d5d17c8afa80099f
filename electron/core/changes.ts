// Tells streams that something they show has changed. A slow reader misses no change and is told of many as of one.
import { RpcError } from '#shared/contract/errors.ts';
import type { RunId } from '#shared/domain/ids.ts';

/** What a stream follows: the id of one run, or 'all'. */
export type Topic = string;

export type Changes = {
  /** Something about the run has changed: its rows, or whether its loop is alive. */
  announce(run: RunId): void;
  /** Counts the changes of a topic; read it before reading the facts. */
  version(topic: Topic): number;
  /**
   * Resolves once the topic's version is above `seen`: true, or false when `signal` aborts. Rejects with `closed` when the engine closes.
   */
  after(topic: Topic, seen: number, signal: AbortSignal): Promise<boolean>;
  /** Ends all waits. */
  close(): void;
};

export function createChanges(): Changes {
  const versions = new Map<Topic, number>();
  const waiting = new Map<Topic, Set<() => void>>();
  let closed = false;
  const version = (topic: Topic): number => versions.get(topic) ?? 0;
  const raise = (topic: Topic): void => {
    versions.set(topic, version(topic) + 1);
    for (const wake of waiting.get(topic) ?? []) wake();
  };
  return {
    announce: (run) => {
      raise(run);
      raise('all');
    },
    version,
    after: async (topic, seen, signal) => {
      for (;;) {
        if (closed) throw new RpcError('closed', 'the engine is closing');
        if (signal.aborted) return false;
        if (version(topic) > seen) return true;
        const set = waiting.get(topic) ?? new Set<() => void>();
        waiting.set(topic, set);
        await new Promise<void>((resolve) => {
          const wake = (): void => {
            set.delete(wake);
            if (set.size === 0 && waiting.get(topic) === set) waiting.delete(topic);
            signal.removeEventListener('abort', wake);
            resolve();
          };
          set.add(wake);
          signal.addEventListener('abort', wake, { once: true });
        });
      }
    },
    close: () => {
      closed = true;
      for (const set of waiting.values()) for (const wake of set) wake();
    },
  };
}
