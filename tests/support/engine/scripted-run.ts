// One governed run over the model store, with scripted parts: what most governor tests start from.
import { runGovernor } from '#electron/governor/governor.ts';
import { genesisRecords } from '#electron/governor/genesis.ts';
import type { CandidateCheck, GovernorDeps, RunEnd, RunLoop } from '#electron/governor/types.ts';
import type { Proposer } from '#electron/proposers/proposer.ts';
import type { CreateRun, ResumeState } from '#electron/store/api.ts';
import type { AutoService, Verification } from '#electron/verifiers/api.ts';
import type { Contract } from '#shared/domain/contract.ts';
import type { FileChange } from '#shared/domain/memory.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { ensure } from '#shared/lib/assert.ts';
import { sha256Hex } from '#shared/lib/hash.ts';
import {
  type ContractOptions,
  contractOf,
  filesOf,
  headerOf,
  type HeaderOptions,
  manifestOf,
  runIdOf,
  treeOf,
  verifierFiles,
} from './builders.ts';
import { createModelStore, type ModelStore, type ModelStoreOptions } from './model-store.ts';
import { createScriptedProposer, type Scripted, type ScriptedProposerOptions } from './scripted-proposer.ts';
import { createScriptedVerifier, type ScriptedVerifier, type ScriptedVerifierOptions, type State } from './scripted-verifier.ts';
import type { ProposeContext } from '#electron/proposers/proposer.ts';

export type ScriptedRunOptions = {
  readonly contract: ContractOptions;
  readonly header?: HeaderOptions;
  readonly seed: State;
  readonly script: (context: ProposeContext) => Scripted;
  readonly proposer?: ScriptedProposerOptions;
  readonly verifier?: ScriptedVerifierOptions;
  readonly store?: ModelStoreOptions;
  /** What measuring the seed came to; absent: once, what the seed says. */
  readonly measured?: Verification;
  /** The contract itself, in place of `contract`'s. */
  readonly under?: Contract;
  readonly contractChanged?: () => string | null;
  readonly monotonicMs?: () => number;
  readonly room?: () => string | null;
  readonly autos?: AutoService;
};

export type ScriptedRun = {
  readonly store: ModelStore;
  readonly verifier: ScriptedVerifier;
  readonly logged: string[];
  /** Every loop that was started. */
  readonly loops: RunLoop[];
  /** Starts the loop where the store stands; `change` forges what it is told. */
  go(change?: (state: ResumeState) => ResumeState): RunLoop;
  /** `go`, and its end. */
  end(): Promise<RunEnd>;
};

/** As the engine's own, reduced to what the scripted trees need: a file `protected.txt` must not change, `..` is no path. */
export function checkScripted(base: readonly TreeFile[], files: readonly TreeFile[]): CandidateCheck {
  if (files.some(({ path }) => path.includes('..')))
    return { kind: 'invalid', code: 'bad_path', message: 'a path leaves the artifact', stored: null };
  const named = { tree: treeOf(files), manifest: manifestOf(files), files };
  const text = (list: readonly TreeFile[]) => list.find(({ path }) => path === 'protected.txt')?.bytes.toString();
  if (text(base) !== text(files)) return { kind: 'invalid', code: 'protected_path', message: 'protected.txt was changed', stored: named };
  return { kind: 'valid', ...named };
}

/** Whole files, one line each. */
export function changesScripted(before: readonly TreeFile[], after: readonly TreeFile[]): { changes: FileChange[]; hunks: string[] } {
  const old = new Map(before.map(({ path, bytes }) => [path, sha256Hex(bytes)]));
  const changes = after.flatMap(({ path, bytes }): FileChange[] => {
    const sha = sha256Hex(bytes);
    const was = old.get(path) ?? null;
    return was === sha
      ? []
      : [
          {
            path,
            status: was === null ? 'added' : 'modified',
            binary: false,
            added: 1,
            removed: was === null ? 0 : 1,
            before: was,
            after: sha,
          },
        ];
  });
  return { changes, hunks: changes.flatMap(({ after: sha }) => (sha === null ? [] : [sha])) };
}

/** The seed of a scripted run: its state, and a protected file beside it. */
export function seedFiles(seed: State): TreeFile[] {
  return filesOf({ 'protected.txt': 'canonical', 'state.json': JSON.stringify(seed) });
}

let saltCounter = 0;
/** Differs from call to call. */
export const freshSalt = (): Uint8Array => Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? saltCounter++ & 255 : i));

export function createdRun(options: Pick<ScriptedRunOptions, 'contract' | 'header' | 'seed' | 'measured' | 'under'>): CreateRun {
  const contract = options.under ?? contractOf(options.contract);
  const files = seedFiles(options.seed);
  const header = headerOf(contract, files, options.header);
  const refs = [{ id: 'vr-seed', durationMs: 1, output: null }];
  return genesisRecords({
    run: runIdOf(),
    at: '2026-01-01T00:00:00.000Z',
    header,
    contract,
    task: { id: 'scripted', title: 'Scripted', path: '/nowhere' },
    blobs: [...files, ...verifierFiles].map(({ bytes }) => ({ sha: sha256Hex(bytes), bytes })),
    trees: [{ tree: header.seedTree, manifest: manifestOf(files) }],
    seed: options.measured ?? {
      verdict:
        'rank' in options.seed
          ? { kind: 'ranked', rank: options.seed.rank, runs: refs, stable: true, advisory: {}, details: {} }
          : { kind: 'no_verdict', code: options.seed.noVerdict, message: 'scripted', runs: refs },
      runs: [],
      blobs: [],
    },
    salt: freshSalt,
  });
}

export function scriptedRun(options: ScriptedRunOptions): ScriptedRun {
  const created = createdRun(options);
  const store = createModelStore(created, options.store);
  const verifier = createScriptedVerifier(options.verifier);
  const logged: string[] = [];
  const loops: RunLoop[] = [];
  const proposer: Proposer = createScriptedProposer(options.script, options.proposer);
  const deps: GovernorDeps = {
    store,
    verifiers: verifier,
    ...(options.autos === undefined ? {} : { autos: options.autos }),
    proposer,
    check: checkScripted,
    changes: changesScripted,
    contractChanged: () => Promise.resolve(options.contractChanged?.() ?? null),
    room: () => Promise.resolve(options.room?.() ?? null),
    now: () => '2026-01-01T00:00:00.000Z',
    monotonicMs: options.monotonicMs ?? (() => 0),
    salt: freshSalt,
    log: (message) => {
      logged.push(message);
    },
  };
  const filesOfTree = (tree: string): TreeFile[] =>
    ensure(store.trees.get(tree), `tree ${tree}`).map(({ path, mode, sha }) => ({
      path,
      mode,
      bytes: ensure(store.blobs.get(sha), `bytes of ${path}`),
    }));
  const go: ScriptedRun['go'] = (change = (state) => state) => {
    const { task: _task, stop: _stop, ...state } = change(store.state());
    const loop = runGovernor(deps, { ...state, run: created.run, headFiles: filesOfTree(state.head.tree), verifierFiles });
    loops.push(loop);
    return loop;
  };
  return { store, verifier, logged, loops, go, end: () => go().done };
}
