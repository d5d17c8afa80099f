// A stream of the engine followed from the command line: how far it is, on a terminal, and Ctrl-C as its end.
import type { CliIo } from './io.ts';

/** Writes one line over the last, on a terminal; nothing elsewhere. */
export function showStep(io: Pick<CliIo, 'err' | 'errColumns'>, text: string): void {
  if (io.errColumns !== null) io.err(`\r\x1b[K${text.slice(0, io.errColumns - 1)}`);
}

/** Takes the line away again. */
export function clearStep(io: Pick<CliIo, 'err' | 'errColumns'>): void {
  if (io.errColumns !== null) io.err('\r\x1b[K');
}

/** Runs `use` with a signal that Ctrl-C aborts. */
export async function interruptible<T>(io: Pick<CliIo, 'onInterrupt'>, use: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const abort = new AbortController();
  const stop = io.onInterrupt(() => abort.abort());
  try {
    return await use(abort.signal);
  } finally {
    stop();
  }
}
