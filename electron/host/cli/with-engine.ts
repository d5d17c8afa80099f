// The engine for the time of one command. It may belong to another command that ends at the same moment; then the next one is asked.
import { RpcError, type ErrorCode } from '#shared/contract/errors.ts';
import type { EngineHandle } from '../engine.ts';
import type { CliIo, CommonOptions } from './io.ts';

/** So long an engine may take to make way for the next one. */
const patienceMs = 5_000;
const pollMs = 50;

/**
 * Runs `use` with the engine and leaves it afterwards. `again` = codes after which `use` is safe to repeat with another engine: an
 * engine that is closing refuses with `unavailable` what it has not begun; `closed` alone does not tell whether a command was begun. Once `use`
 * has called `begun`, nothing is repeated.
 */
export async function withEngine<T>(
  io: CliIo,
  options: CommonOptions,
  again: readonly ErrorCode[],
  use: (engine: EngineHandle, begun: () => void) => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + patienceMs;
  let repeatable = true;
  const begun = () => {
    repeatable = false;
  };
  for (;;) {
    const engine = await io.acquire(options.data);
    try {
      return await use(engine, begun);
    } catch (error) {
      if (!repeatable || !(error instanceof RpcError) || !again.includes(error.code) || performance.now() > deadline) throw error;
    } finally {
      await leave(io, engine);
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
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
