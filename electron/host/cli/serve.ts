// `pawl serve`: the app in a browser until Ctrl-C.
import { keepEngine } from '../keeper.ts';
import { startWebHost } from '../web.ts';
import { exitCodes, plain, type CliIo, type CommonOptions } from './io.ts';

/** Serves until it is interrupted; then live runs of an engine of ours become `interrupted` and can be resumed. */
export async function serveApp(io: CliIo, options: CommonOptions, port: number | undefined): Promise<number> {
  const interrupted = new Promise<void>((resolve) => {
    const stop = io.onInterrupt(() => {
      stop();
      resolve();
    });
  });
  const trouble = (error: unknown) => io.err(`pawl: ${plain(error instanceof Error ? error.message : String(error))}\n`);
  const engine = await keepEngine(() => io.acquire(options.data), trouble);
  try {
    const web = await startWebHost({ engine, rendererDir: io.rendererDir, port, onError: trouble });
    const { client, role } = await engine.current();
    const { dataDir } = await client.call('app.info', {});
    if (options.json) await io.out(`${JSON.stringify({ url: web.url, port: web.port, dataDir })}\n`);
    else {
      await io.out(`${web.url}\n`);
      io.err(`Data: ${dataDir}${role === 'client' ? ' (the engine runs in another Pawl)' : ''}. Ctrl-C ends.\n`);
    }
    await interrupted;
    await web.close();
  } finally {
    await engine.close();
  }
  return exitCodes.ok;
}
