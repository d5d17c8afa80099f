// Whole engines and small tasks for the proposers that are no search.
import { afterEach } from 'vitest';
import { RpcError } from '#shared/contract/errors.ts';
import type { DecisionReplayReport } from '#shared/contract/replay.ts';
import type { RunDetail, RunStart, TransitionRow } from '#shared/contract/run.ts';
import { type Engine, startEngine, temporaryFolder } from '../../support/engine/engine-fixture.ts';
import { type SmallTaskOptions, writeSmallTask } from '../../support/engine/small-task.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** An engine on a fresh data folder, closed after the test. */
export async function engineOn(): Promise<Engine> {
  const folder = await temporaryFolder();
  cleanups.push(() => folder.remove());
  const engine = await startEngine(folder.path);
  cleanups.push(() => engine.close());
  return engine;
}

/** A folder beside everything, for what programs leave as a trace. */
export async function scratchFolder(): Promise<string> {
  const folder = await temporaryFolder();
  cleanups.push(() => folder.remove());
  return folder.path;
}

export async function smallTask(options?: SmallTaskOptions): Promise<string> {
  const task = await writeSmallTask(options);
  cleanups.push(() => task.remove());
  return task.path;
}

export type EndedRun = {
  readonly run: string;
  readonly detail: RunDetail;
  readonly rows: readonly TransitionRow[];
  readonly trees: string[];
};

/** What a run is now: its rows, and the trees of its certified chain. */
export async function readEnded({ client }: Engine, run: string): Promise<EndedRun> {
  const detail = await client.call('run.get', { run });
  const rows = await client.call('run.page', { run, after: 0, limit: 200 });
  const { count } = await client.call('run.chain', { run });
  const trees: string[] = [];
  for (let seq = 0; seq < count; seq++) trees.push((await client.call('run.bundle', { run, seq })).bundle.tree);
  return { run, detail, rows, trees };
}

/** Starts a run and waits for its end. */
export async function runToEnd(engine: Engine, start: RunStart): Promise<EndedRun> {
  const { run } = await engine.client.call('run.start', start);
  for await (const _ of engine.client.stream('run.watch', { run }));
  return readEnded(engine, run);
}

/** What a decision replay of a run comes to. */
export async function replayed({ client }: Engine, run: string): Promise<DecisionReplayReport> {
  for await (const item of client.stream('replay.decisions', { run })) if (item.kind === 'report') return item.report;
  throw new Error('no report');
}

export async function refusal(call: Promise<unknown>): Promise<{ code: string; message: string; where: object }> {
  try {
    await call;
  } catch (error) {
    if (error instanceof RpcError) return { code: error.code, message: error.message, where: error.where };
    throw error;
  }
  throw new Error('was not refused');
}
