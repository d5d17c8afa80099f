// Recomputing the decisions of a run (V1) from this page: what the engine remembers of it, and the work while it goes on.
import { useCallback } from 'react';
import type { DecisionReplayReport, ReplayStatus } from '#shared/contract/replay.ts';
import { useConnection, useQuery } from '#renderer/client/use-query.ts';
import { type StreamedReport, useStreamedReport } from './use-streamed-report.ts';

/** `unknown`: the engine has not answered yet. */
export type Standing = 'unknown' | ReplayStatus['state'];

/** What may be said of a run that has `transitions` now: what is newer than the replay was not replayed, whatever the last answer said. */
function standingOf(status: ReplayStatus | undefined, transitions: number): Standing {
  if (!status) return 'unknown';
  return status.state === 'matches' && status.transitions !== transitions ? 'grown' : status.state;
}

export type DecisionReplay = StreamedReport<DecisionReplayReport> & {
  readonly status: ReplayStatus | undefined;
  readonly standing: Standing;
};

/** `transitions`: how many the page knows of. Leaving the run cancels. */
export function useDecisionReplay(run: string, transitions: number): DecisionReplay {
  const { engine, cache } = useConnection();
  const status = useQuery('replay.status', { run }).data;
  const open = useCallback((signal: AbortSignal) => engine.stream('replay.decisions', { run }, { signal }), [engine, run]);
  const ended = useCallback(() => cache.refresh('replay.status'), [cache]);
  const streamed = useStreamedReport<DecisionReplayReport>(open, ended);
  return { status, standing: standingOf(status, transitions), ...streamed };
}
