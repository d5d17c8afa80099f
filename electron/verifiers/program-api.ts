// Starting the program of a `command` proposer, as the engine sees it; the engine itself spawns nothing.
import type { ProgramJob, ProgramRun } from './program-contract.ts';

export type ProgramRequest = Pick<
  ProgramJob,
  'command' | 'instruction' | 'memory' | 'autos' | 'env' | 'timeoutMs' | 'maxFiles' | 'maxBytes'
> & {
  readonly files: readonly ProgramJob['files'][number][];
};

export type ProgramService = {
  /** One start in a fresh copy of `files`. Never rejects: what goes wrong is an ending. */
  runProgram(request: ProgramRequest, signal: AbortSignal): Promise<ProgramRun>;
};
