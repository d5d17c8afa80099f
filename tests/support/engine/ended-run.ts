// Runs of a whole engine to their end, and what is looked at then.
import type { DecisionReplayReport } from '#shared/contract/replay.ts';
import type { RunDetail, RunStart, TransitionRow } from '#shared/contract/run.ts';
import type { Engine } from './engine-fixture.ts';

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
  let report: DecisionReplayReport | null = null;
  // To the end of the stream: what was found is remembered after the report.
  for await (const item of client.stream('replay.decisions', { run })) if (item.kind === 'report') ({ report } = item);
  if (report === null) throw new Error('no report');
  return report;
}
