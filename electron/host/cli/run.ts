// `pawl run` and `pawl resume`: a run as a job of the engine, followed to its end.
import type { RunStart, RunSummary, ServerAddress } from '#shared/contract/run.ts';
import { RpcError } from '#shared/contract/errors.ts';
import type { EngineHandle } from '../engine.ts';
import { errorDocument, exitCodes, plain, type CliIo, type CommonOptions } from './io.ts';
import { createProgress } from './progress.ts';
import { readRun, summaryText, writeRunJson, type RunFacts } from './run-document.ts';
import { withEngine } from './with-engine.ts';

/** npm passes Ctrl-C on to a program that the terminal has told already: what comes that soon is the same key press. */
const sameKeyMs = 400;

/** Starts a run and follows it. Exit code 0 at zero rank, 3 stopped before, 1 could not run. */
export function startRun(io: CliIo, options: CommonOptions, start: RunStart): Promise<number> {
  return withInterrupts(io, (interrupts) =>
    withEngine(io, options, ['unavailable'], async (engine, begun) => {
      const result = await runToEnd(io, options, engine, start, interrupts, begun);
      return result.kind === 'not_started' ? result.code : show(io, options, result.facts);
    }),
  );
}

/** A run that was followed to its end, or that could not be started, which has been said. */
export type RunResult = { readonly kind: 'ended'; readonly facts: RunFacts } | { readonly kind: 'not_started'; readonly code: number };

/** Starts a run and follows it to its end, with its progress on stderr. `begun` is called once the run is there. */
export async function runToEnd(
  io: CliIo,
  options: CommonOptions,
  engine: EngineHandle,
  start: RunStart,
  interrupts: Interrupts,
  begun: () => void,
): Promise<RunResult> {
  // Not cancelled: whether the run has been created by then could not be known. It is stopped as soon as it exists.
  const stop = interrupts.onFirst(() => io.err('\nStopping as soon as the seed is measured; Ctrl-C again quits at once.\n'));
  const started = await engine.client.call('run.start', start);
  stop();
  begun();
  if (started.status === 'not_started') {
    const message = `the run could not start: ${plain(started.note ?? 'its seed has no verdict')} (pawl show ${started.run})`;
    if (options.json)
      await io.out(`${JSON.stringify({ run: started.run, ...errorDocument('unavailable', message, start.task ?? null) })}\n`);
    else io.err(`pawl: ${message}\n`);
    return { kind: 'not_started', code: exitCodes.failed };
  }
  io.err(`${started.run}${started.note === null ? '' : `: ${plain(started.note)}`}\n`);
  return { kind: 'ended', facts: await follow(io, options, engine, started.run, interrupts) };
}

/** Goes on with a run and follows it, as `startRun` does. */
export function resumeRun(io: CliIo, options: CommonOptions, prefix: string, server: ServerAddress | null): Promise<number> {
  return withInterrupts(io, (interrupts) =>
    withEngine(io, options, ['unavailable'], async (engine, begun) => {
      const { run } = await engine.client.call('run.resolve', { prefix });
      await engine.client.call('run.resume', { run, ...(server === null ? {} : { server }) });
      begun();
      return show(io, options, await follow(io, options, engine, run, interrupts));
    }),
  );
}

async function follow(io: CliIo, options: CommonOptions, engine: EngineHandle, run: string, interrupts: Interrupts): Promise<RunFacts> {
  const progress = createProgress(io);
  let last: RunSummary | undefined;
  const unlisten = interrupts.onFirst(() => {
    io.err('\nStopping after the round that is under way; Ctrl-C again quits at once.\n');
    // A run that ends by itself at this moment is no longer live, and its end is what we wait for anyway.
    engine.client.call('run.stop', { run }).catch(() => {});
  });
  try {
    for await (const summary of engine.client.stream('run.watch', { run }, { window: 2 })) {
      last = summary;
      progress.update(summary);
    }
  } catch (error) {
    // Said in the middle of the stream, `unavailable` is about the run: it has lost what it needs, and can be resumed.
    if (!isGone(error) || (last !== undefined && error.code === 'unavailable')) throw error;
  } finally {
    progress.end();
    unlisten();
  }
  const facts = await readStored(io, options, engine, run);
  if (facts.detail.stop === null && last?.stop === null)
    io.err('The engine that carried the run has ended; what is stored of it follows.\n');
  return facts;
}

async function show(io: CliIo, options: CommonOptions, facts: RunFacts): Promise<number> {
  if (options.json) await writeRunJson(io, facts);
  else await io.out(summaryText(facts.detail));
  return facts.detail.stop === 'zero_rank' ? exitCodes.ok : exitCodes.stopped;
}

/** The engine behind a connection has ended, or is about to. */
export const isGone = (error: unknown): error is RpcError =>
  error instanceof RpcError && (error.code === 'closed' || error.code === 'unavailable');

/** The run as it is stored. The engine that carried it may be another command's, and end with the run: then the next one is asked. */
async function readStored(io: CliIo, options: CommonOptions, engine: EngineHandle, run: string): Promise<RunFacts> {
  try {
    return await readRun(engine.client, run);
  } catch (error) {
    if (!isGone(error)) throw error;
    return withEngine(io, options, ['closed', 'unavailable'], (next) => readRun(next.client, run));
  }
}

export type Interrupts = { onFirst(callback: () => void): () => void };

/** The first Ctrl-C is answered by whoever listens, the second ends the process at once. */
export async function withInterrupts<T>(io: CliIo, use: (interrupts: Interrupts) => Promise<T>): Promise<T> {
  const listeners = new Set<() => void>();
  let first: number | undefined;
  const stop = io.onInterrupt(() => {
    if (first === undefined) {
      first = performance.now();
      for (const listener of listeners) listener();
    } else if (performance.now() - first > sameKeyMs) io.quit(exitCodes.stopped);
  });
  try {
    return await use({
      onFirst: (callback) => {
        listeners.add(callback);
        // It may have come between two listeners.
        if (first !== undefined) callback();
        return () => listeners.delete(callback);
      },
    });
  } finally {
    stop();
  }
}
