// An engine for as long as a host lives: when the process that owned it ends, the next one is found or started.
import type { Port } from '#shared/rpc/port.ts';
import type { EngineHandle } from './engine.ts';

export type EngineKeeper = {
  /** Joins a page to the engine of the moment; the page connects again when its port closes. */
  attach(port: Port): Promise<void>;
  blob(sha: string): Promise<Uint8Array | null>;
  /** The engine of the moment. */
  current(): Promise<EngineHandle>;
  close(): Promise<void>;
};

const retryMs = 500;

/** Resolves with the first engine in place; rejects when that one cannot be had. Later failures are told to `onTrouble` and tried again. */
export async function keepEngine(acquire: () => Promise<EngineHandle>, onTrouble: (error: unknown) => void): Promise<EngineKeeper> {
  const stopping = new AbortController();
  const stopped = stopping.signal;
  let current = Promise.resolve(await acquire());

  const again = async (): Promise<EngineHandle> => {
    // The same trouble over and over is told once.
    let told: string | null = null;
    for (;;) {
      try {
        return await acquire();
      } catch (error) {
        if (stopped.aborted) throw error;
        if (String(error) !== told) onTrouble(error);
        told = String(error);
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  };
  const follow = async () => {
    while (!stopped.aborted) {
      const handle = await current;
      await Promise.race([handle.closed, handle.crippled]);
      // Without its runner or its store an engine can only be replaced; its live runs stop by themselves for want of verdicts or writes.
      while (!stopped.aborted && handle.dependants() > 0) await new Promise((resolve) => setTimeout(resolve, retryMs));
      if (!stopped.aborted) await handle.close();
      if (stopped.aborted) return;
      current = again();
      // Whoever asks for it meanwhile sees the rejection; here it only ends the loop.
      current.catch(() => {});
    }
  };
  follow().catch((error: unknown) => {
    if (!stopped.aborted) onTrouble(error);
  });

  return {
    attach: async (port) => (await current).attach(port),
    blob: async (sha) => (await current).blob(sha),
    current: () => current,
    close: async () => {
      stopping.abort();
      const handle = await current.catch(() => null);
      await handle?.close();
    },
  };
}
