// `pawl serve`: the app in a browser until Ctrl-C.
import { RpcError } from '#shared/contract/errors.ts';
import type { EngineHandle } from '../engine.ts';
import { keepEngine, type EngineKeeper } from '../keeper.ts';
import { startWebHost } from '../web.ts';
import { exitCodes, plain, type CliIo, type CommonOptions } from './io.ts';
import { messageOf } from '#shared/lib/message-of.ts';

/** Facts about the engine of the moment. One that ends meanwhile, with the command that owned it, is followed by another. */
async function describe(engine: EngineKeeper): Promise<{ role: EngineHandle['role']; dataDir: string }> {
  for (;;) {
    const { client, role, closed } = await engine.current();
    try {
      return { role, dataDir: (await client.call('app.info', {})).dataDir };
    } catch (error) {
      if (!(error instanceof RpcError) || (error.code !== 'closed' && error.code !== 'unavailable')) throw error;
      await closed;
    }
  }
}

/** Serves until it is interrupted; then live runs of an engine of ours become `interrupted` and can be resumed. */
export async function serveApp(io: CliIo, options: CommonOptions, port: number | undefined): Promise<number> {
  const interrupted = new Promise<void>((resolve) => {
    const stop = io.onInterrupt(() => {
      stop();
      resolve();
    });
  });
  const trouble = (error: unknown) => io.err(`pawl: ${plain(messageOf(error))}\n`);
  const engine = await keepEngine(() => io.acquire(options.data), trouble);
  try {
    const web = await startWebHost({ engine, rendererDir: io.rendererDir, port, onError: trouble });
    const { role, dataDir } = await describe(engine);
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
