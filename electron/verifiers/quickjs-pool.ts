// The runner's threads for pure-js verifiers. They are started when first needed and kept warm; one that is aborted, overruns or is
// spent is replaced.
import type { Worker } from 'node:worker_threads';
import { maxReportBytes, noExecution, type Execution, type PureJsJob } from './runner-contract.ts';
import type { WorkerAnswer, WorkerJob } from './quickjs-worker.ts';

export type QuickJsPool = {
  /** Never rejects. */
  run(job: PureJsJob, signal: AbortSignal): Promise<Execution>;
  /** Threads that are alive. */
  size(): number;
  close(): Promise<void>;
};

/** QuickJS checks its deadline itself; a thread that has not answered so long after it is ended. */
const graceMs = 1_000;

const megabyte = 1024 * 1024;
/** WebAssembly memory ends at 4 GiB; far below that, so that a verifier meets its limit and not the machine's. */
const maxPureJsMemoryMb = 1_024;

type Task = { readonly job: PureJsJob; readonly signal: AbortSignal; readonly settle: (execution: Execution) => void };
type Thread = {
  readonly worker: Worker;
  ready: boolean;
  onReady: (() => void) | null;
  onAnswer: ((answer: WorkerAnswer) => void) | null;
  onFailure: ((error: Error) => void) | null;
};

/** At most `size` threads, each made by `createWorker` (a worker that runs `serveQuickJs`). */
export function createQuickJsPool(size: number, createWorker: () => Worker): QuickJsPool {
  const idle: Thread[] = [];
  const all = new Set<Thread>();
  const waiting: Task[] = [];
  let nextId = 1;

  const discard = (thread: Thread): Promise<unknown> => {
    all.delete(thread);
    const at = idle.indexOf(thread);
    if (at >= 0) idle.splice(at, 1);
    return thread.worker.terminate();
  };

  const create = (): Thread => {
    const thread: Thread = { worker: createWorker(), ready: false, onReady: null, onAnswer: null, onFailure: null };
    all.add(thread);
    const lost = (error: Error) => {
      all.delete(thread);
      const at = idle.indexOf(thread);
      if (at >= 0) idle.splice(at, 1);
      thread.onFailure?.(error);
    };
    thread.worker.on('message', (message: WorkerAnswer | 'ready') => {
      if (message !== 'ready') {
        thread.onAnswer?.(message);
        return;
      }
      thread.ready = true;
      thread.onReady?.();
    });
    thread.worker.on('error', (error: unknown) => lost(error instanceof Error ? error : new Error(String(error))));
    thread.worker.on('exit', (code) => lost(new Error(`the thread ended with code ${code}`)));
    return thread;
  };

  const pump = (): void => {
    while (waiting.length > 0) {
      const thread = idle.pop() ?? (all.size < size ? create() : undefined);
      const task = thread === undefined ? undefined : waiting.shift();
      if (thread === undefined || task === undefined) return;
      start(thread, task);
    }
  };

  const start = (thread: Thread, { job, signal, settle }: Task): void => {
    const id = nextId++;
    const startedAt = new Date().toISOString();
    const begun = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const finish = (execution: Partial<Execution> & Pick<Execution, 'ending'>, keep: boolean): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      thread.onReady = null;
      thread.onAnswer = null;
      thread.onFailure = null;
      const outcome = { ...noExecution, startedAt, durationMs: performance.now() - begun, ...execution };
      if (keep) {
        idle.push(thread);
        settle(outcome);
        pump();
      } else {
        // The verification is over only when its thread is.
        void discard(thread).then(() => {
          settle(outcome);
          pump();
        });
      }
    };
    const onAbort = () => finish({ ending: 'aborted' }, false);
    signal.addEventListener('abort', onAbort, { once: true });
    thread.onAnswer = ({ id: answered, spent, ...answer }) => {
      if (answered === id) finish(answer, !spent);
    };
    thread.onFailure = (error) => finish({ ending: 'infra', message: `the QuickJS thread failed: ${error.message}` }, false);
    // Loading QuickJS is not the verifier's time.
    const arm = () => {
      timer = setTimeout(() => finish({ ending: 'timeout' }, false), job.runMs + graceMs);
    };
    if (thread.ready) arm();
    else thread.onReady = arm;
    const message: WorkerJob = {
      id,
      file: job.file,
      files: job.files.map(({ path, bytes }) => ({ path, bytes })),
      nonce: job.nonce,
      tree: job.tree,
      contract: job.contract,
      runMs: job.runMs,
      memoryBytes: Math.min(job.memoryMb, maxPureJsMemoryMb) * megabyte,
      reportBytes: job.reportBytes,
      resultBytes: maxReportBytes,
      runsCandidate: job.runsCandidate,
    };
    thread.worker.postMessage(message);
  };

  return {
    run: (job, signal) =>
      new Promise((resolve) => {
        const aborted = () => resolve({ ...noExecution, startedAt: new Date().toISOString(), ending: 'aborted' });
        if (signal.aborted) {
          aborted();
          return;
        }
        const onAbort = () => {
          const at = waiting.indexOf(task);
          // Once started, the thread's own listener answers.
          if (at < 0) return;
          waiting.splice(at, 1);
          aborted();
        };
        const task: Task = {
          job,
          signal,
          settle: (execution) => {
            signal.removeEventListener('abort', onAbort);
            resolve(execution);
          },
        };
        signal.addEventListener('abort', onAbort, { once: true });
        waiting.push(task);
        pump();
      }),
    size: () => all.size,
    close: async () => {
      await Promise.all([...all].map(discard));
    },
  };
}
