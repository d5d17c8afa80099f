// Governed runs over the real store, rules and judge, with scripted proposers and verifiers: what replays and branches are tested on.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createCandidateCheck } from '#electron/governor/candidate-check.ts';
import { genesisRecords } from '#electron/governor/genesis.ts';
import { runGovernor } from '#electron/governor/governor.ts';
import { preflight } from '#electron/governor/preflight.ts';
import type { GovernorDeps, OnlyRounds, RunEnd, RunLoop } from '#electron/governor/types.ts';
import type { ProposeContext, Proposer } from '#electron/proposers/proposer.ts';
import { type OpenStore, openStore } from '#electron/store/store.ts';
import { fileChanges } from '#electron/verifiers/changes.ts';
import type { AutoService } from '#electron/verifiers/api.ts';
import { loadTree } from '#electron/core/runs/stored-files.ts';
import type { RunId } from '#shared/domain/ids.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { ensure } from '#shared/lib/assert.ts';
import { sha256Hex, sha256Text } from '#shared/lib/hash.ts';
import { bytesOf, type ContractOptions, contractOf, headerOf, type HeaderOptions, manifestOf, runIdOf, verifierFiles } from './builders.ts';
import { createReportingVerifier, type ReportingOptions, type ReportingVerifier } from './reporting-verifier.ts';
import { createScriptedProposer, type Scripted } from './scripted-proposer.ts';
import { seedFiles } from './scripted-run.ts';
import type { State } from './scripted-verifier.ts';

const worker = new URL('../../../electron/store/worker.ts', import.meta.url);
const at = '2026-01-01T00:00:00.000Z';

export type StoredStore = { readonly store: OpenStore; readonly dataDir: string; close(): Promise<void>; reopen(): Promise<OpenStore> };

/** A store in a folder of its own; `close` removes it. */
export async function temporaryStore(): Promise<StoredStore> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'pawl-replay-'));
  let store = await openStore({ dataDir, worker });
  return {
    get store() {
      return store;
    },
    dataDir,
    reopen: async () => {
      await store.close();
      store = await openStore({ dataDir, worker });
      return store;
    },
    close: async () => {
      await store.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export type StoredRunOptions = {
  /** Tells runs of one store apart. */
  readonly i?: number;
  readonly contract: ContractOptions;
  readonly header?: HeaderOptions;
  readonly seed: State;
  /** The seed's files, in place of those that `seed` makes. */
  readonly files?: readonly TreeFile[];
  readonly from?: { readonly run: RunId; readonly seq: number; readonly transitions: number };
  readonly script: (context: ProposeContext) => Scripted;
  /** In place of the scripted one. */
  readonly proposer?: Proposer;
  readonly verifier?: ReportingOptions;
  readonly autos?: AutoService;
  /** Called before each write of the loop. */
  readonly beforeWrite?: (loop: RunLoop, writes: number) => void;
  /** Clocks, which stand still unless given. */
  readonly now?: () => string;
  readonly monotonicMs?: () => number;
};

export type StoredRun = {
  readonly run: RunId;
  readonly verifier: ReportingVerifier;
  readonly proposer: Proposer;
  /** Measures the seed and stores the run; nothing is attempted yet. */
  create(store: OpenStore): Promise<void>;
  /** Goes on with the run where the store stands, to the end of the loop. */
  go(store: OpenStore, only?: OnlyRounds): Promise<RunEnd>;
};

let salts = 0;
const salt = (): Uint8Array => Uint8Array.from(Buffer.from(sha256Text(`salt ${salts++}`), 'hex'));

/** A run that may be in a store already. */
export function storedRun(options: StoredRunOptions): StoredRun {
  const { i = 0, seed, from, script, beforeWrite, now = () => at, monotonicMs = () => 0 } = options;
  const run = runIdOf(i);
  const contract = contractOf({ protectedPaths: ['protected.txt'], ...options.contract });
  const files = options.files ?? seedFiles(seed);
  const header = headerOf(contract, files, options.header);
  const verifier = createReportingVerifier({ name: `r${i}`, ...options.verifier });
  const proposer = options.proposer ?? createScriptedProposer(script);
  let writes = 0;
  return {
    run,
    verifier,
    proposer,
    create: async (store) => {
      const measured = await preflight(
        { verifiers: verifier, monotonicMs },
        { contract, tree: header.seedTree, files, verifierFiles, program: null },
        contract.measurement.preflightRuns,
        new AbortController().signal,
      );
      const created = genesisRecords({
        run,
        at: now(),
        header,
        contract,
        task: { id: 'scripted', title: 'Scripted', path: '/nowhere' },
        blobs: [...files, ...verifierFiles, { bytes: bytesOf('instruction') }].map(({ bytes }) => ({ sha: sha256Hex(bytes), bytes })),
        trees: [{ tree: header.seedTree, manifest: manifestOf(files) }],
        seed: measured.seed,
        salt,
      });
      await store.createRun({ ...created, ...(from === undefined ? {} : { from }) });
    },
    go: async (open, only) => {
      const state = ensure(await open.getResumeState(run), 'resume state');
      const loops: RunLoop[] = [];
      const before = () => {
        const [loop] = loops;
        if (loop !== undefined) beforeWrite?.(loop, ++writes);
      };
      const writing =
        <A extends unknown[]>(write: (...input: A) => Promise<void>) =>
        (...input: A): Promise<void> => {
          before();
          return write(...input);
        };
      const deps: GovernorDeps = {
        store: {
          openRound: writing((input) => open.openRound(input)),
          storeProposals: writing((input) => open.storeProposals(input)),
          commitRound: writing((input) => open.commitRound(input)),
          stopRun: writing((input) => open.stopRun(input)),
          retrieveMemory: (input) => open.retrieveMemory(input),
        },
        verifiers: verifier,
        ...(options.autos === undefined ? {} : { autos: options.autos }),
        proposer,
        check: createCandidateCheck(contract, null),
        changes: fileChanges,
        contractChanged: () => Promise.resolve(null),
        now,
        monotonicMs,
        salt,
        log: () => {},
      };
      const loop = runGovernor(deps, { ...state, run, headFiles: await loadTree(open, state.head.tree), verifierFiles }, only);
      loops.push(loop);
      return loop.done;
    },
  };
}

/** The same, stored in `store`. */
export async function createStoredRun(store: OpenStore, options: StoredRunOptions): Promise<StoredRun> {
  const made = storedRun(options);
  await made.create(store);
  return made;
}
