// The runner's threads for adapters. Reports are hostile where candidate code ran: parsing one may take long or run out of memory, so it
// happens where it stops nobody and can be ended. What runs inside stands in serve-adapters.ts, so that this process loads no parser.
import type { Worker } from 'node:worker_threads';
import type { AdaptJob } from './adapt.ts';
import { problem } from './adapter.ts';
import { reportOf } from './report-of.ts';
import { messageOf } from '#shared/lib/message-of.ts';

export type AdapterThreads = {
  /** The report of `job`. Never rejects; `parse` when it takes longer than `parseMs`, or when the thread dies of the report. */
  readonly adapt: (job: AdaptJob, parseMs: number, signal: AbortSignal) => Promise<Uint8Array>;
  readonly close: () => Promise<void>;
};

/** The first message of a thread; every later one answers a job. */
export const threadReady = 'ready';

type Thread = {
  readonly worker: Worker;
  ready: boolean;
  onReady: (() => void) | null;
  onAnswer: ((report: Uint8Array) => void) | null;
  onFailure: ((message: string) => void) | null;
};

/** One thread for each job at a time, made when first needed and kept warm, replaced when it had to be ended. */
export function createAdapterThreads(createWorker: () => Worker): AdapterThreads {
  const idle: Thread[] = [];
  const all = new Set<Thread>();

  const forget = (thread: Thread): void => {
    all.delete(thread);
    const at = idle.indexOf(thread);
    if (at >= 0) idle.splice(at, 1);
  };
  const discard = (thread: Thread): Promise<unknown> => {
    forget(thread);
    return thread.worker.terminate();
  };

  const create = (): Thread => {
    const thread: Thread = { worker: createWorker(), ready: false, onReady: null, onAnswer: null, onFailure: null };
    all.add(thread);
    const lost = (message: string): void => {
      forget(thread);
      thread.onFailure?.(message);
    };
    thread.worker.on('message', (message: Uint8Array | typeof threadReady) => {
      if (message !== threadReady) {
        thread.onAnswer?.(message);
        return;
      }
      thread.ready = true;
      thread.onReady?.();
    });
    thread.worker.on('error', (error: unknown) => lost(messageOf(error)));
    thread.worker.on('exit', (code) => lost(`its thread ended with code ${code}`));
    return thread;
  };

  return {
    adapt: (job, parseMs, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) {
          resolve(reportOf(job, problem('aborted', notRead)));
          return;
        }
        const thread = idle.pop() ?? create();
        let timer: NodeJS.Timeout | undefined;
        const end = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', onAbort);
          thread.onReady = null;
          thread.onAnswer = null;
          thread.onFailure = null;
        };
        const fail = (code: 'parse' | 'aborted', message: string): void => {
          end();
          void discard(thread).then(() => resolve(reportOf(job, problem(code, message))));
        };
        const onAbort = (): void => fail('aborted', notRead);
        signal.addEventListener('abort', onAbort, { once: true });
        thread.onAnswer = (report) => {
          end();
          idle.push(thread);
          resolve(report);
        };
        thread.onFailure = (message) => fail('parse', `the tool's report could not be read: ${message}`);
        // Loading the parsers is not the report's time.
        const arm = (): void => {
          timer = setTimeout(() => fail('parse', `reading the tool's report took longer than ${parseMs} ms (timeouts_ms.parse)`), parseMs);
        };
        if (thread.ready) arm();
        else thread.onReady = arm;
        thread.worker.postMessage(job);
      }),
    close: async () => {
      await Promise.all([...all].map(discard));
    },
  };
}

const notRead = "the verification was stopped before its tool's report was read";
