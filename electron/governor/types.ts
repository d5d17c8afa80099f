// What the loop is given and what it gives back. Everything impure comes in through `GovernorDeps`, so that tests script it.
import type { RunId, Sha } from '#shared/domain/ids.ts';
import type { FileChange } from '#shared/domain/memory.ts';
import type { StopReason } from '#shared/domain/transition.ts';
import type { Manifest, TreeFile } from '#shared/domain/tree.ts';
import type { InvalidCode } from '#shared/domain/verdict.ts';
import type { Proposer } from '#electron/proposers/proposer.ts';
import type { CommitRound, ResumeState, Store } from '#electron/store/api.ts';
import type { AutoService, VerifierService } from '#electron/verifiers/api.ts';

/** A candidate tree that may be verified, or why it may not. `tree` is null where its files have no name that could be stored. */
export type CandidateCheck =
  | { readonly kind: 'valid'; readonly tree: Sha; readonly manifest: Manifest; readonly files: readonly TreeFile[] }
  | {
      readonly kind: 'invalid';
      readonly code: InvalidCode;
      readonly message: string;
      readonly stored: { readonly tree: Sha; readonly manifest: Manifest; readonly files: readonly TreeFile[] } | null;
    };

export type GovernorDeps = {
  readonly store: Pick<Store, 'openRound' | 'storeProposals' | 'commitRound' | 'stopRun' | 'retrieveMemory'>;
  readonly verifiers: Pick<VerifierService, 'verify' | 'concurrency'> & Partial<Pick<VerifierService, 'lost'>>;
  /** Needed for a contract with automatic commands. */
  readonly autos?: AutoService;
  readonly proposer: Proposer;
  /** Pure: the rules of the contract applied to what a proposer made of `base`. */
  readonly check: (base: readonly TreeFile[], candidate: readonly TreeFile[]) => CandidateCheck;
  /** Pure: the files in which `after` differs from `before`, with the hashes of the changed hunks. */
  readonly changes: (
    before: readonly TreeFile[],
    after: readonly TreeFile[],
  ) => { readonly changes: readonly FileChange[]; readonly hunks: readonly Sha[] };
  /** Hashes the task folder again: null while it is what the contract says, else what changed, in words. */
  readonly contractChanged: () => Promise<string | null>;
  /** Why the disk has no room for another round, in words; null while there is. Absent where nobody looks. */
  readonly room?: () => Promise<string | null>;
  /** Wall time, ISO 8601 UTC with milliseconds: for people, in no id. */
  readonly now: () => string;
  /** Monotonic milliseconds, for durations and the wall budget. */
  readonly monotonicMs: () => number;
  /** 32 fresh random bytes. */
  readonly salt: () => Uint8Array;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
};

/** Where the loop begins: a new run right after its genesis, or an interrupted one. */
export type GovernorStart = Omit<ResumeState, 'task' | 'stop'> & {
  readonly run: RunId;
  readonly headFiles: readonly TreeFile[];
  /** The canonical verifier files, from the store's copies. */
  readonly verifierFiles: readonly TreeFile[];
};

/** Bounds a loop beyond what its header says: how many rounds, how many slots in each, and how the run stands after them. */
export type OnlyRounds = { readonly rounds: number; readonly slots: number; readonly afterwards: 'stop' | 'wait' };

export type RunEnd =
  | { readonly kind: 'stopped'; readonly reason: StopReason; readonly note: string | null }
  /** The rounds that were asked for are done and nothing ended the run: it stays without a stop reason until more is asked for. */
  | { readonly kind: 'waiting' }
  /** The engine closes: the open round, if any, stays open in the store and is aborted at the next start. */
  | { readonly kind: 'closed' }
  /** Something of ours failed (a full disk, the runner's process, a bug). `abandoned` aborts the open round and has to be stored before the run can go on. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly abandoned: CommitRound | null };

export type RunLoop = {
  /** The user's stop: aborts what is under way, decides the round only if all its verifications had ended. */
  stop(): void;
  /** The engine's end: aborts what is under way and leaves the round as it is. */
  close(): void;
  /** Never rejects. */
  readonly done: Promise<RunEnd>;
};
