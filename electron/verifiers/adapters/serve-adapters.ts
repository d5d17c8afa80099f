// The code inside a thread for adapters: one answer for each job, in order.
import { parentPort } from 'node:worker_threads';
import { adapt, type AdaptJob } from './adapt.ts';
import { threadReady } from './adapter-thread.ts';

export function serveAdapters(): void {
  const port = parentPort;
  if (port === null) throw new Error('serveAdapters runs in a worker thread');
  port.on('message', (job: AdaptJob) => port.postMessage(adapt(job)));
  port.postMessage(threadReady);
}
