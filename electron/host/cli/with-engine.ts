// The engine for the time of one command. It may belong to another command that ends at the same moment; then the next one is asked.
import { RpcError, type ErrorCode } from '#shared/contract/errors.ts';
import type { EngineHandle } from '../engine.ts';
import type { CliIo, CommonOptions } from './io.ts';

const tries = 5;
const pollMs = 50;

/**
 * Runs `use` with the engine and leaves it afterwards. `again` = codes after which `use` is safe to repeat with another engine: an
 * engine that is closing refuses with `unavailable` what it has not begun; `closed` alone does not tell whether a command was begun.
 */
export async function withEngine<T>(
  io: CliIo,
  options: CommonOptions,
  again: readonly ErrorCode[],
  use: (engine: EngineHandle) => Promise<T>,
): Promise<T> {
  for (let left = tries; ; left--) {
    const engine = await io.acquire(options.data);
    try {
      return await use(engine);
    } catch (error) {
      if (left > 1 && error instanceof RpcError && again.includes(error.code)) continue;
      throw error;
    } finally {
      await leave(io, engine);
    }
  }
}

/** Ends our engine, or goes on hosting it while other windows and commands have runs in it. */
async function leave(io: CliIo, engine: EngineHandle): Promise<void> {
  let told = false;
  const enough = new AbortController();
  const stop = io.onInterrupt(() => {
    enough.abort();
  });
  try {
    while (!enough.signal.aborted && engine.dependants() > 0) {
      if (!told) io.err('This process hosts the engine, and others have runs in it: it goes on until they end (Ctrl-C interrupts them).\n');
      told = true;
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  } finally {
    stop();
    await engine.close();
  }
}
