// What every proposer implements. A proposer only suggests: it sees a base tree and answers with bytes; what the bytes are worth is for
// the verifier to say. `propose` may be slow and impure, `materialise` is pure, so that a replay rebuilds every tree from stored bytes.
import type { Json } from '#shared/lib/canonical-json.ts';
import type { Result } from '#shared/lib/result.ts';
import type { AutoOutput } from '#shared/domain/auto-evidence.ts';
import type { AutoCommand, AutoRequest, Registered } from '#shared/domain/auto-registry.ts';
import type { ProposerKind } from '#shared/domain/header.ts';
import type { Sha } from '#shared/domain/ids.ts';
import type { MemoryLimits, MemoryView } from '#shared/domain/retrieve.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import type { InvalidCode, Rank } from '#shared/domain/verdict.ts';

export type ProposeContext = {
  /** Number of the transition, dense from 1 in its run. */
  readonly n: number;
  /** Number of the draw: what a random proposer is seeded with beside `seed`. */
  readonly draw: number;
  /** Slot in the round, from 0. */
  readonly slot: number;
  /** Seed of the run, from its header. */
  readonly seed: number;
  /** Hash of the manifest of `base`. */
  readonly baseTree: Sha;
  /** The head's whole tree. */
  readonly base: readonly TreeFile[];
  /** The head's rank, in the order of the obligations. What of it a proposer may tell anybody is said by their visibility. */
  readonly rank: Rank;
  /** Globs (relative to the artifact) of what a candidate may change. */
  readonly writable: readonly string[];
  /** What of the exploration memory this round shows, the same for all its slots; empty for a proposer that reads none. */
  readonly memory: readonly MemoryView[];
  readonly autos: AutoDesk;
};

/** What the automatic commands said about one tree of a proposal. `outputs` is empty where `problem` says why nothing was run. */
export type Observation = {
  /** The very tree that they ran on; null where its files have no name that could be stored. */
  readonly tree: Sha | null;
  readonly problem: string | null;
  readonly outputs: readonly Pick<AutoOutput, 'name' | 'ending' | 'output'>[];
};

/** The automatic commands, as one attempt may use them while it proposes. They run in their own place and tell; they change nothing. */
export type AutoDesk = {
  /** Everything that runs on a candidate now: declared by the task, registered before this round, and what `register` has accepted here. */
  readonly commands: () => readonly AutoCommand[];
  /** argv patterns of the task's allow list; empty where nothing may be registered. */
  readonly allowed: readonly (readonly string[])[];
  /**
   * Says whether a request would hold, and has it run by `observe` from now on. It becomes a part of the run only through the response:
   * `Proposer.registrations` has to find it there, so that a replay does. Another slot of the same round may have taken the name by then.
   */
  register(request: AutoRequest): Registered;
  /**
   * To be called after every edit: runs all commands on the whole tree `files`, one after the other. A tree that could be no candidate is
   * not run. What is told is filtered by visibility; the whole goes into the record of the attempt. Rejects only when `signal` aborts.
   */
  observe(files: readonly TreeFile[], signal: AbortSignal): Promise<Observation>;
};

/** The most that one attempt may take: requests, the first and its repetitions, and their tokens together. */
export type ProposalReservation = { readonly requests: number; readonly promptTokens: number; readonly completionTokens: number };

/** What one attempt used, as the server reported it; a count that was not reported is absent, never 0. */
export type ProposalUsage = { readonly promptTokens?: number; readonly completionTokens?: number; readonly requests: number };

export type ProposalResult = {
  /** Everything that determined the proposal, as sent (or, for a proposer without a server, as canonical JSON). */
  readonly request: Uint8Array;
  /** The raw answer; null when none came. Stored before anything parses it. */
  readonly response: Uint8Array | null;
  readonly usage: ProposalUsage | 'missing';
  readonly error?: { readonly code: string; readonly message: string };
};

/** Why a stored response gives no candidate tree. */
export type MaterialiseError = { readonly code: InvalidCode; readonly message: string };

/** What is made of stored responses, now and in every replay. */
export type ResponseReader = Pick<Proposer, 'materialise' | 'registrations'>;

export interface Proposer {
  readonly kind: ProposerKind;
  /** Raised whenever equal inputs could give other proposals or another tree; stands in the run's header. */
  readonly version: number;
  /** Everything else that determines proposals; stands in the run's header. */
  readonly options: Readonly<Record<string, Json>>;
  /** A proposer that reads the exploration memory says how much of it; absent, it is shown nothing. */
  readonly memory?: MemoryLimits;
  /** The longest that one attempt takes, in milliseconds, where it may be long: set aside of a budget of wall time. */
  readonly longestMs?: number;
  /** What one attempt takes at most; set aside before it is asked for. Absent for a proposer that makes one request and takes no tokens. */
  readonly reserved?: ProposalReservation;
  /** One attempt. Rejects only when `signal` aborts; what a server did wrong is `error`. */
  propose(context: ProposeContext, signal: AbortSignal): Promise<ProposalResult>;
  /** Pure: a stored response over the base it was proposed on gives the candidate's whole tree, or says why not. */
  materialise(response: Uint8Array, base: readonly TreeFile[]): Result<readonly TreeFile[], MaterialiseError>;
  /** Pure: the automatic commands that a stored response asks to have registered, in order. Absent: a proposer that asks for none. */
  readonly registrations?: (response: Uint8Array) => readonly AutoRequest[];
}
