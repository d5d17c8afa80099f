// Which loops are alive in this engine. The store cannot know: a run without a stop reason is `running` here or interrupted.
import { RpcError } from '#shared/contract/errors.ts';
import type { RunId } from '#shared/domain/ids.ts';
import type { RunEnd, RunLoop } from '#electron/governor/types.ts';
import type { CommitRound } from '#electron/store/api.ts';

/** How a loop of this engine failed, until the run goes on. */
export type RunFailure = {
  /** `internal` where Pawl is to blame, `unavailable` where the machine took something away from it. */
  readonly code: 'internal' | 'unavailable';
  /** For people: what failed, and the id in the log. */
  readonly message: string;
  /** Aborts the round that stayed open; to be stored before anything else is. */
  readonly abandoned: CommitRound | null;
};

/** The failure as the error of a call. */
export const failed = ({ code, message }: Pick<RunFailure, 'code' | 'message'>): RpcError => new RpcError(code, message);

export type LiveRuns = {
  /** Takes a run for starting or resuming; false when it is taken or alive. */
  claim(run: RunId): boolean;
  /** Gives up a claim that did not lead to a loop. */
  release(run: RunId): void;
  /** Puts a claimed run's loop in charge; told about its end with `onEnd` before the run is free again. */
  launch(run: RunId, loop: RunLoop, onEnd: (end: RunEnd) => RunFailure | null): void;
  isLive(run: RunId): boolean;
  loop(run: RunId): RunLoop | undefined;
  failure(run: RunId): RunFailure | undefined;
  count(): number;
  /** Closes all loops and waits for their ends. */
  close(): Promise<void>;
};

/** `onChange` is told when a run has become alive or has ended. */
export function createLiveRuns(onChange: (run: RunId) => void): LiveRuns {
  const claimed = new Set<RunId>();
  const loops = new Map<RunId, { readonly loop: RunLoop; readonly over: Promise<void> }>();
  const failures = new Map<RunId, RunFailure>();
  return {
    claim: (run) => {
      if (claimed.has(run)) return false;
      claimed.add(run);
      return true;
    },
    release: (run) => {
      claimed.delete(run);
    },
    launch: (run, loop, onEnd) => {
      failures.delete(run);
      const over = loop.done.then((end) => {
        const failure = onEnd(end);
        if (failure !== null) failures.set(run, failure);
        loops.delete(run);
        claimed.delete(run);
        onChange(run);
      });
      loops.set(run, { loop, over });
      onChange(run);
    },
    isLive: (run) => loops.has(run),
    loop: (run) => loops.get(run)?.loop,
    failure: (run) => failures.get(run),
    count: () => loops.size,
    close: async () => {
      const open = [...loops.values()];
      for (const { loop } of open) loop.close();
      await Promise.all(open.map(({ over }) => over));
    },
  };
}
