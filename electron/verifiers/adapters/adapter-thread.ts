// The runner's threads for adapters. Reports are hostile where candidate code ran: parsing one may take long or run out of memory, so it
// happens where it stops nobody and can be ended. What runs inside stands in serve-adapters.ts, so that this process loads no parser.
import type { Worker } from 'node:worker_threads';
import type { AdaptJob } from './adapt.ts';
import { problem } from './adapter.ts';
import { reportOf } from './report-of.ts';

export type AdapterThreads = {
  /** The report of `job`. Never rejects; `parse` when it takes longer than `parseMs`, or when the thread dies of the report. */
  adapt(job: AdaptJob, parseMs: number, signal: AbortSignal): Promise<Uint8Array>;
  close(): Promise<void>;
};

/** One thread for each job at a time, made when first needed and kept warm, replaced when it had to be ended. */
export function createAdapterThreads(createWorker: () => Worker): AdapterThreads {
  const idle: Worker[] = [];
  const all = new Set<Worker>();

  const discard = (worker: Worker): Promise<unknown> => {
    all.delete(worker);
    const at = idle.indexOf(worker);
    if (at >= 0) idle.splice(at, 1);
    worker.removeAllListeners();
    worker.on('error', () => {});
    return worker.terminate();
  };

  const take = (): Worker => {
    const warm = idle.pop();
    if (warm !== undefined) return warm;
    const worker = createWorker();
    all.add(worker);
    return worker;
  };

  return {
    adapt: (job, parseMs, signal) =>
      new Promise((resolve) => {
        const worker = take();
        const end = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', onAbort);
          worker.removeAllListeners();
        };
        const fail = (code: 'parse' | 'aborted', message: string): void => {
          end();
          void discard(worker).then(() => resolve(reportOf(job, problem(code, message))));
        };
        const onAbort = (): void => fail('aborted', 'the verification was stopped before its report was read');
        const timer = setTimeout(
          () => fail('parse', `reading the tool's report took longer than ${parseMs} ms (timeouts_ms.parse)`),
          parseMs,
        );
        worker.once('message', (report: Uint8Array) => {
          end();
          // A thread that dies while nobody waits is not used again.
          worker.on('error', () => void discard(worker));
          worker.on('exit', () => void discard(worker));
          idle.push(worker);
          resolve(report);
        });
        worker.once('error', (error: unknown) =>
          fail('parse', `the tool's report could not be read: ${error instanceof Error ? error.message : String(error)}`),
        );
        worker.once('exit', (code) => fail('parse', `the thread that read the tool's report ended with code ${code}`));
        signal.addEventListener('abort', onAbort, { once: true });
        if (signal.aborted) onAbort();
        else worker.postMessage(job);
      }),
    close: async () => {
      await Promise.all([...all].map(discard));
    },
  };
}
