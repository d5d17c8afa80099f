// The thread's side of the messages: requests in their order, each answered once.
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { ensure } from '#shared/lib/assert.ts';
import { compact, transferables } from './bytes.ts';
import type { DbOptions } from './db.ts';
import { toStoreError } from './errors.ts';
import type { Answer, Request, WireError } from './messages.ts';
import { openServing } from './serve.ts';

const Options = z.object({ role: z.enum(['writer', 'reader']), file: z.string(), blobsDir: z.string() });

/** Serves the thread that created this one until it is told to close; `workerData` says what this one is. */
export function serveThread(dbOptions: DbOptions = {}): void {
  const port = ensure(parentPort, 'port to the store: this runs in a worker thread');
  const options = Options.parse(workerData);

  const answer = (message: Answer, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);

  const wire = (error: unknown): WireError => {
    const { kind, message, stack } = toStoreError(error, options.file);
    return { kind, message, stack };
  };

  try {
    const { serve, sqliteVersion } = openServing(options, dbOptions);
    port.on('message', ({ seq, op, input }: Request) => {
      try {
        const result = serve(op, input);
        const value = result instanceof Uint8Array ? compact(result) : result;
        answer({ type: 'value', seq, value }, transferables(value));
      } catch (error) {
        answer({ type: 'error', seq, error: wire(error) });
      }
      if (op === 'close') port.close();
    });
    answer({ type: 'ready', sqliteVersion });
  } catch (error) {
    answer({ type: 'failed', error: wire(error) });
    port.close();
  }
}
