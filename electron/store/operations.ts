// Every operation that crosses to a thread, by name: the same table types the client's calls and serves them in the worker.
import { getBlob, getManifest } from './read/blobs.ts';
import { getRelatives, resolveBundle } from './read/branches.ts';
import { getBundle, getChain } from './read/bundles.ts';
import { getColumns } from './read/columns.ts';
import { getJournal, lastJournal } from './read/journal.ts';
import { retrieveMemory } from './read/memory.ts';
import {
  getContractBody,
  getReplayHead,
  getStoredVerdict,
  pageReplayEvents,
  pageReplaySalts,
  pageReplayTransitions,
} from './read/replay.ts';
import { getDecisionReplay, getReverifications } from './read/replays.ts';
import { getResponses } from './read/responses.ts';
import { getAncestorVerdicts, getResumeState } from './read/resume.ts';
import { getRun, getSummary, listRuns, resolveRun } from './read/runs.ts';
import { getRunServer } from './read/run-servers.ts';
import { getSelections } from './read/selections.ts';
import { getSettings } from './read/settings.ts';
import { getTransition, pageTransitions } from './read/transitions.ts';
import { commitRound } from './write/commit-round.ts';
import { createRun } from './write/create-run.ts';
import { openRound, storeProposals } from './write/open-round.ts';
import { recover } from './write/recover.ts';
import { addReverification, setDecisionReplay } from './write/replays.ts';
import { setRunServer } from './write/run-servers.ts';
import { addSelection } from './write/selections.ts';
import { setSettings } from './write/settings.ts';
import { resumeRun, stopRun } from './write/stop-run.ts';

/** Served by any reader. */
export const reads = {
  listRuns,
  getRun,
  getSummary,
  resolveRun,
  pageTransitions,
  getTransition,
  getColumns,
  getChain,
  getBundle,
  getManifest,
  getBlob,
  getResumeState,
  getRelatives,
  resolveBundle,
  getReplayHead,
  pageReplayEvents,
  pageReplaySalts,
  pageReplayTransitions,
  getStoredVerdict,
  getContractBody,
  getAncestorVerdicts,
  getDecisionReplay,
  getReverifications,
  getSelections,
  getRunServer,
  retrieveMemory,
  getResponses,
  getJournal,
  lastJournal,
  getSettings,
} as const;

/** Served by the writer; each returns the items that it appended to the journal. */
const journaled = {
  createRun,
  openRound,
  storeProposals,
  commitRound,
  stopRun,
  resumeRun,
  recover,
  setDecisionReplay,
  addReverification,
  addSelection,
} as const;

/** Everything that the writer serves. */
export const writes = { ...journaled, setSettings, setRunServer } as const;

export type Reads = typeof reads;
export type Journaled = typeof journaled;
