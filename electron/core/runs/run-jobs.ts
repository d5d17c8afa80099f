// Runs as jobs of the engine: start, stop, resume. A job belongs to the engine and not to the client that asked for it.
import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { RpcError } from '#shared/contract/errors.ts';
import type { RunStart, ServerAddress } from '#shared/contract/run.ts';
import { headerSha } from '#shared/domain/bundle-id.ts';
import type { RunHeader } from '#shared/domain/header.ts';
import type { RunId, Sha } from '#shared/domain/ids.ts';
import type { Outcome, RunStatus, StopReason } from '#shared/domain/transition.ts';
import { unstableText } from '#shared/domain/revise.ts';
import { ensure } from '#shared/lib/assert.ts';
import { canonicalJson } from '#shared/lib/canonical-json.ts';
import { createHumanProposer, type HumanFile } from '#electron/proposers/human.ts';
import { ProposerLost } from '#electron/proposers/openai.ts';
import type { Proposer } from '#electron/proposers/proposer.ts';
import { createCandidateCheck } from '#electron/governor/candidate-check.ts';
import { genesisRecords } from '#electron/governor/genesis.ts';
import type { Preflight } from '#electron/governor/preflight.ts';
import { NoRoom } from '#electron/governor/no-room.ts';
import { RunnerLost } from '#electron/governor/runner-lost.ts';
import { runGovernor } from '#electron/governor/governor.ts';
import type { GovernorDeps, GovernorStart, OnlyRounds, RunEnd, RunLoop } from '#electron/governor/types.ts';
import type { CommitRound, ResumeState, RunServer, Store } from '#electron/store/api.ts';
import { StoreError } from '#electron/store/errors.ts';
import type { AutoService, VerifierService } from '#electron/verifiers/api.ts';
import type { ProgramService } from '#electron/verifiers/program-api.ts';
import { fileChanges } from '#electron/verifiers/changes.ts';
import type { Log } from '../log.ts';
import { isOfTheMachine } from '../store-code.ts';
import { prepareRun } from './beginning.ts';
import { watchTask } from './watch-task.ts';
import { failed, type LiveRuns, type RunFailure } from './live-runs.ts';
import { baseUrlOf, type ChatServers } from '../servers/chat-servers.ts';
import { liveProposer } from './proposers.ts';
import { noSuchRun } from './run-views.ts';
import { forecastOf, forecastText, measureSeed, runnerLost, sameSandbox, sandboxOrRefuse } from './seed.ts';
import { loadFiles, loadTree, schemaOf } from './stored-files.ts';
import { messageOf } from '#shared/lib/message-of.ts';

export type JobDeps = {
  readonly store: Store;
  readonly verifiers: VerifierService;
  readonly programs: ProgramService & AutoService;
  readonly servers: ChatServers;
  readonly live: LiveRuns;
  readonly log: Log;
  /** Why the disk has no room for another round, in words; null while there is. */
  readonly room: () => Promise<string | null>;
  /** Aborted when the engine closes. */
  readonly closing: AbortSignal;
};

/** A run that stood still, with everything that its loop needs but a proposer. */
type TakenUp = {
  readonly state: ResumeState;
  readonly governed: GovernorStart;
  readonly schema: Uint8Array | null;
  readonly contractChanged: GovernorDeps['contractChanged'];
};

export type RunJobs = {
  /** The header that a start would have, and the text that is hashed. */
  header(input: RunStart): Promise<{ header: RunHeader; json: string; sha: Sha }>;
  /** Measures the seed, stores header and genesis, starts the loop; answers as soon as the run exists. Throws `unstable` and stores nothing where measurements disagree. */
  start(input: RunStart, signal: AbortSignal): Promise<{ run: RunId; status: RunStatus; note: string | null }>;
  /** Answers when the last round is stored. */
  stop(run: RunId): Promise<{ stop: StopReason }>;
  /** `server`: where the model is reached now. */
  resume(run: RunId, server?: ServerAddress): Promise<{ run: RunId }>;
  /** One attempt by a person on the head `base`; answers when it is decided and stored. */
  propose(input: {
    run: RunId;
    base: number;
    files: readonly HumanFile[];
  }): Promise<{ n: number; outcome: Outcome; stop: StopReason | null }>;
};

const now = (): string => new Date().toISOString();
const salt = (): Uint8Array => randomBytes(32);

export function createRunJobs(deps: JobDeps): RunJobs {
  const { store, verifiers, programs, live, log, room, closing } = deps;

  type Launch = Omit<TakenUp, 'state'> & { readonly proposer: Proposer; readonly only?: OnlyRounds };
  const launch = (run: RunId, { governed, schema, contractChanged, proposer, only }: Launch): RunLoop => {
    if (closing.aborted) throw new RpcError('closed', 'the engine is closing; the run is interrupted and can be resumed');
    const loop = runGovernor(
      {
        store,
        verifiers,
        autos: programs,
        proposer,
        check: createCandidateCheck(governed.contract, schema),
        changes: fileChanges,
        contractChanged,
        room,
        now,
        monotonicMs: () => performance.now(),
        salt,
        log: (message, fields) => log.warn(message, fields),
      } satisfies GovernorDeps,
      governed,
      only,
    );
    live.launch(run, loop, (end) => failureOf(log, run, end));
    log.info('the loop of a run has begun', { run, from: governed.nextN });
    return loop;
  };

  // What a claimed run that stood still goes on with. Throws conflict for one that cannot.
  const takeUp = async (run: RunId): Promise<TakenUp> => {
    const abandoned = live.failure(run)?.abandoned ?? null;
    if (abandoned !== null) await storeAbandoned(store, abandoned);
    const state = await resumable(store, run);
    const [headFiles, verifierFiles, schema] = await Promise.all([
      loadTree(store, state.head.tree),
      loadFiles(store, state.contract.verifier.files),
      schemaOf(store, state.contract),
    ]);
    sameSandbox(state.header, await sandboxOrRefuse(verifiers, state.contract, state.header.unsandboxed === true));
    // A branch has never depended on the task's folder; see beginning.ts.
    const branch = state.header.parent !== null;
    const contractChanged = branch ? () => Promise.resolve(null) : watchTask(state.task.path, state, null);
    return { state, governed: { ...state, run, headFiles, verifierFiles }, schema, contractChanged };
  };
  const stopOf = (run: RunId, end: RunEnd): StopReason | null => {
    switch (end.kind) {
      case 'stopped':
        return end.reason;
      case 'waiting':
        return null;
      case 'closed':
        throw new RpcError('closed', 'the engine is closing; the run is interrupted and can be resumed');
      case 'failed':
        throw failed(live.failure(run) ?? { code: 'internal', message: `the run failed: ${messageOf(end.error)}` });
      default:
        return end satisfies never;
    }
  };
  // Before anything is measured or stored for a loop that would end at once.
  const roomOrRefuse = async (): Promise<void> => {
    const reason = await room();
    if (reason !== null) throw new RpcError('conflict', `${reason}; make room, or use another folder with --data DIR`);
  };
  const goOn = (run: RunId, { head, nextN }: ResumeState): Promise<void> =>
    store.resumeRun({ run, at: now(), event: { type: 'resume', body: { from: head.id, nextN } } });

  // Where the model of a run is reached: as said now, else as another run (its parent, or itself before) last did. It is kept for the next time.
  const keepServer = async (
    run: RunId,
    { proposer }: RunHeader,
    said: ServerAddress | undefined,
    like: RunId | undefined,
  ): Promise<RunServer | null> => {
    if (proposer.kind !== 'openai') return null;
    const server =
      said === undefined
        ? like === undefined
          ? null
          : await store.getRunServer(like)
        : { baseUrl: baseUrlOf(said.baseUrl), keyVariable: said.keyVariable ?? null };
    if (server !== null) await store.setRunServer({ run, ...server });
    return server;
  };

  // Ends a run between two proposals of a person. Throws conflict for one that is not waiting.
  const stopWaiting = async (run: RunId): Promise<StopReason> => {
    const row = await store.getSummary(run);
    if (row === null) throw noSuchRun(run);
    if (row.status !== 'waiting') {
      throw new RpcError(
        'conflict',
        `the run is not live: ${row.stop === null ? `it is ${row.status}` : `it has stopped (${row.stop})`}; there is nothing to stop`,
      );
    }
    if (!live.claim(run)) throw new RpcError('conflict', 'a proposal is just being taken up; try again');
    try {
      const abandoned = live.failure(run)?.abandoned ?? null;
      if (abandoned !== null) await storeAbandoned(store, abandoned);
      await store.stopRun({ run, at: now(), reason: 'user', note: null, event: { type: 'stop', body: { reason: 'user' } } });
      return 'user';
    } finally {
      live.release(run);
    }
  };

  return {
    header: async (input) => {
      const { header } = await prepareRun(deps, input);
      return { header, json: canonicalJson(header), sha: headerSha(header) };
    },

    start: async (input, signal) => {
      if (verifiers.lost()) throw runnerLost('try again');
      await roomOrRefuse();
      const beginning = await prepareRun(deps, input);
      const { header, contract, seedFiles, verifierFiles, schema } = beginning;
      if (input.headerSha !== undefined && input.headerSha !== headerSha(header)) {
        throw new RpcError(
          'conflict',
          'the run would begin with another header than the one that was shown: the task, the record or the program of the verifier has changed since; look again, then start',
          { field: 'headerSha' },
        );
      }
      const measured = await measureSeed(
        verifiers,
        { contract, seedTree: header.seedTree, seedFiles, verifierFiles, schema },
        {
          program: header.verifierProgram,
          runs: contract.measurement.preflightRuns,
          unsandboxed: header.unsandboxed === true,
        },
        AbortSignal.any([signal, closing]),
      );
      if (closing.aborted) throw new RpcError('closed', 'the engine is closing');
      if (signal.aborted) throw new RpcError('cancelled', 'cancelled while the seed was verified; nothing was stored');
      if (verifiers.lost()) throw runnerLost('nothing was stored; try again');
      refuseUnstable(measured);
      const run: RunId = `run_${uuidv7()}`;
      const created = genesisRecords({
        run,
        at: now(),
        header,
        contract,
        task: beginning.task,
        blobs: beginning.blobs,
        trees: beginning.trees,
        seed: measured.seed,
        salt,
      });
      // Before the run can be seen: nobody else may take it up.
      live.claim(run);
      try {
        await store.createRun({ ...created, from: beginning.from });
        const { genesis, stop, note } = created;
        const forecast = (): string => forecastText(forecastOf(contract, header.budget, header.slots, measured));
        if (genesis !== null && stop === null && header.proposer.kind === 'human') {
          live.release(run);
          return { run, status: 'waiting', note: forecast() };
        }
        if (genesis !== null && stop === null) {
          // Read back as a resumed run is, so that both begin with the same facts.
          const state = ensure(await store.getResumeState(run), `run ${run} right after it was created`);
          const governed = { ...state, run, headFiles: seedFiles, verifierFiles };
          const server = await keepServer(run, header, input.server, input.from?.run);
          const proposer = await liveProposer(deps, header, contract, server);
          launch(run, { governed, schema, contractChanged: beginning.contractChanged(state), proposer });
          return { run, status: 'running', note: forecast() };
        }
        live.release(run);
        return genesis === null ? { run, status: 'not_started', note } : { run, status: 'stopped', note: null };
      } catch (error) {
        live.release(run);
        throw error;
      }
    },

    stop: async (run) => {
      const loop = live.loop(run);
      loop?.stop();
      const stop = loop === undefined ? null : stopOf(run, await loop.done);
      // A proposal that was just decided leaves a run that waits.
      return { stop: stop ?? (await stopWaiting(run)) };
    },

    resume: async (run, address) => {
      if (verifiers.lost()) throw runnerLost('try again');
      await roomOrRefuse();
      if (!live.claim(run)) throw new RpcError('conflict', 'the run is live already; "pawl stop" ends it');
      try {
        const { state, ...taken } = await takeUp(run);
        if (state.header.proposer.kind === 'human') {
          if (state.stop === null) throw new RpcError('conflict', 'the run waits for a proposal already; "pawl propose" makes one');
          await goOn(run, state);
          live.release(run);
          return { run };
        }
        const server = await keepServer(run, state.header, address, run);
        const proposer = await liveProposer(deps, state.header, state.contract, server);
        await goOn(run, state);
        launch(run, { ...taken, proposer });
        return { run };
      } catch (error) {
        live.release(run);
        throw error;
      }
    },

    propose: async ({ run, base, files }) => {
      if (verifiers.lost()) throw runnerLost('try again');
      await roomOrRefuse();
      if (!live.claim(run)) throw new RpcError('conflict', 'the run is live; stop it before proposing by hand');
      let launched: { readonly loop: RunLoop; readonly n: number };
      try {
        const { state, ...taken } = await takeUp(run);
        if (base !== state.head.seq) {
          throw new RpcError('conflict', `bundle ${base} is not the head of the run, which is ${state.head.seq}; branch from it instead`, {
            field: 'base',
          });
        }
        const waits = state.header.proposer.kind === 'human';
        // Nothing had ended where it was the person's turn, so there is nothing to take back.
        if (!waits || state.stop !== null) await goOn(run, state);
        const only: OnlyRounds = { rounds: 1, slots: 1, afterwards: waits ? 'wait' : 'stop' };
        const loop = launch(run, { ...taken, proposer: createHumanProposer(files), only });
        launched = { loop, n: state.nextN };
      } catch (error) {
        live.release(run);
        throw error;
      }
      const { loop, n } = launched;
      const stop = stopOf(run, await loop.done);
      const made = await store.getTransition({ run, n });
      if (made === null)
        throw new RpcError('conflict', `the run stopped${stop === null ? '' : ` (${stop})`} before the attempt could be made`);
      return { n, outcome: made.transition.outcome, stop };
    },
  };
}

function failureOf(log: Log, run: RunId, end: RunEnd): RunFailure | null {
  if (end.kind !== 'failed') {
    log.info('the loop of a run has ended', { run, ...end });
    return null;
  }
  if (end.error instanceof RunnerLost) {
    log.warn('the loop of a run has ended with the process that runs verifiers', { run });
    return {
      code: 'unavailable',
      message: `the run was interrupted because ${end.error.message}; its open round is aborted, and "pawl resume ${run}" goes on`,
      abandoned: end.abandoned,
    };
  }
  if (end.error instanceof ProposerLost) {
    log.warn('the loop of a run has ended because its model server is gone', { run, error: end.error.message });
    return {
      code: 'unavailable',
      message: `the run was interrupted: ${end.error.message}. Its open round is aborted; once the server is back, "pawl resume ${run}" goes on`,
      abandoned: end.abandoned,
    };
  }
  if (end.error instanceof NoRoom) {
    log.warn('the loop of a run has ended because the disk is full', { run });
    return {
      code: 'unavailable',
      message: `the run was interrupted: ${end.error.message}; once there is room, "pawl resume ${run}" goes on`,
      abandoned: end.abandoned,
    };
  }
  if (end.error instanceof StoreError && isOfTheMachine(end.error)) {
    log.warn('the loop of a run has ended because its store failed', { run, error: end.error.message });
    return {
      code: 'unavailable',
      message: `the run was interrupted: ${end.error.message}. When that is put right, "pawl resume ${run}" goes on`,
      abandoned: end.abandoned,
    };
  }
  const id = log.internal(end.error, `run ${run}`);
  return {
    code: 'internal',
    message: `the run was interrupted because the engine failed: ${messageOf(end.error)} (log ${id}); resume it once the cause is gone`,
    abandoned: end.abandoned,
  };
}

// The write that failed may have been stored all the same, when only its answer was lost; then the store refuses it and has moved on.
async function storeAbandoned(store: Store, abandoned: CommitRound): Promise<void> {
  try {
    await store.commitRound(abandoned);
  } catch (error) {
    const state = await store.getResumeState(abandoned.run);
    if (state === null || state.nextRound <= abandoned.round) throw error;
  }
}

async function resumable(store: Store, run: RunId): Promise<ResumeState> {
  const row = await store.getSummary(run);
  if (row === null) throw noSuchRun(run);
  if (row.status === 'not_started') {
    throw new RpcError('conflict', `the run was never started: ${row.note ?? 'its seed got no verdict'}; start a new one`);
  }
  if (row.stop !== null && row.stop !== 'user') {
    throw new RpcError('conflict', `the run has stopped (${row.stop}), which is final; more attempts are a new run`);
  }
  return ensure(await store.getResumeState(run), `what is needed to resume ${run}`);
}

// An obligation that changes by itself would be committed as progress sooner or later; which of the ways out is right only a person knows.
function refuseUnstable({ unstable, measurements }: Preflight): void {
  const [first] = unstable;
  if (first === undefined) return;
  throw new RpcError(
    'unstable',
    `the run was not started: ${measurements.length} measurements of the same seed disagree. Make the verifier repeatable, or choose for each:\n${unstableText(unstable)}`,
    { field: first.key },
  );
}
