// What the rest of the engine may ask of the store. Everything runs in worker threads: one writer, some readers.
// The governor decides; the store re-checks every commit with triggers and refuses what breaks an invariant (semantics.md, section 10).
import type { AutoCommand, RegisterRefusal } from '#shared/domain/auto-registry.ts';
import type { Amounts } from '#shared/domain/budget.ts';
import type { CertifiedBundle } from '#shared/domain/bundle.ts';
import type { Contract } from '#shared/domain/contract.ts';
import type { EventBody } from '#shared/domain/event-chain.ts';
import type { RunHeader } from '#shared/domain/header.ts';
import type { RunId, Sha } from '#shared/domain/ids.ts';
import type { MemoryEntry } from '#shared/domain/memory.ts';
import type { MemoryLimits } from '#shared/domain/retrieve.ts';
import type { NamedSelection } from '#shared/domain/selection.ts';
import type { StopReason, Transition } from '#shared/domain/transition.ts';
import type { Manifest } from '#shared/domain/tree.ts';
import type { Verdict } from '#shared/domain/verdict.ts';
import type { JournalItem } from '#shared/contract/app.ts';
import type { ChainColumns, RunColumns, RunDetail, RunSummary, TransitionDetail, TransitionRow } from '#shared/contract/run.ts';

/** Plain bytes and their SHA-256 (computed by the caller; the writer checks it). Storing the same sha again is a no-op. */
export type BlobInput = { readonly sha: Sha; readonly bytes: Uint8Array };

/** A tree by its id; its files' bytes come as blobs in the same call or are stored already. */
export type TreeInput = { readonly tree: Sha; readonly manifest: Manifest };

/** The salt behind one commitment of the event chain, and the object that it commits to. */
export type SaltInput = { readonly commitment: Sha; readonly salt: Uint8Array; readonly object: Sha };

/** One execution of a verifier, as recorded. `output` names a blob, null when nothing was written. */
export type VerifierRunInput = {
  readonly id: string;
  readonly nonce: string;
  readonly tree: Sha;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The report exactly as it was read from the result channel. */
  readonly report: Sha | null;
  readonly output: Sha | null;
  readonly result: string;
};

/** `sha` is the SHA-256 of the canonical JSON of {tree, contract, verdict}. */
export type VerdictInput = {
  readonly sha: Sha;
  readonly tree: Sha | null;
  readonly contract: Sha;
  readonly verdict: Verdict;
  readonly runs: readonly VerifierRunInput[];
};

export type CreateRun = {
  readonly run: RunId;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly header: RunHeader;
  readonly headerSha: Sha;
  readonly contract: Contract;
  readonly task: { readonly id: string; readonly title: string; readonly path: string };
  readonly blobs: readonly BlobInput[];
  readonly trees: readonly TreeInput[];
  readonly salts: readonly SaltInput[];
  readonly events: readonly EventBody[];
  readonly verdict: VerdictInput;
  /** For a branch: the bundle that its header names as the parent, and how many transitions of that run it may know the verdicts of. */
  readonly from?: { readonly run: RunId; readonly seq: number; readonly transitions: number } | undefined;
  /** null: the seed has no verdict, the run is `not_started` and nothing is certified. */
  readonly genesis: CertifiedBundle | null;
  readonly stop: { readonly reason: StopReason; readonly note: string | null } | null;
  /** Why it was not started. */
  readonly note: string | null;
};

/** Appends the event `round`: from here on a crash consumes the numbers and the reservations. */
export type OpenRound = {
  readonly run: RunId;
  readonly at: string;
  readonly round: number;
  readonly base: Sha;
  readonly slots: readonly { readonly n: number; readonly slot: number; readonly draw: number; readonly reserved: Amounts }[];
  readonly event: EventBody;
};

/** Request and response bytes of a round, stored before anything is parsed. */
export type StoreProposals = {
  readonly run: RunId;
  readonly at: string;
  readonly items: readonly { readonly n: number; readonly request: BlobInput; readonly response: BlobInput | null }[];
  readonly salts: readonly SaltInput[];
  readonly events: readonly EventBody[];
};

/** What automatic commands left behind; a record is a blob, `position` its place among those of its attempt. */
export type AutoRows = {
  readonly registrations: readonly {
    readonly n: number;
    readonly position: number;
    readonly record: Sha;
    readonly refusal: RegisterRefusal | null;
  }[];
  readonly outputs: readonly { readonly n: number; readonly position: number; readonly tree: Sha; readonly record: Sha }[];
};

/** The one transaction that ends a round: verdicts, transitions, memory, the winner's bundle, head, budget, event chain. */
export type CommitRound = {
  readonly run: RunId;
  readonly at: string;
  readonly round: number;
  readonly blobs: readonly BlobInput[];
  readonly trees: readonly TreeInput[];
  readonly salts: readonly SaltInput[];
  readonly verdicts: readonly VerdictInput[];
  /** In order of n; all slots of the round. */
  readonly transitions: readonly Transition[];
  /** One entry for each transition that did not commit. */
  readonly memory: readonly MemoryEntry[];
  readonly bundle: CertifiedBundle | null;
  /** Compare-and-swap: the head that the round was decided against. */
  readonly expectedHead: Sha;
  /** Sums over the round; the writer replaces the round's reservations by them. */
  readonly charged: Amounts;
  readonly overshoot: Amounts;
  readonly events: readonly EventBody[];
  /** Absent: there was nothing. */
  readonly autos?: AutoRows;
  readonly stop: { readonly reason: StopReason; readonly note: string | null } | null;
};

export type StopRun = {
  readonly run: RunId;
  readonly at: string;
  readonly reason: StopReason;
  readonly note: string | null;
  readonly event: EventBody;
};
export type ResumeRun = { readonly run: RunId; readonly at: string; readonly event: EventBody };

/** A final verdict; `n` is null for that of a run's seed. */
export type CachedRow = { readonly tree: Sha; readonly verdictSha: Sha; readonly verdict: Verdict; readonly n: number | null };

/** What is needed to go on with a run. `nextDraw` = 1 + number of attempts so far that were not `aborted`. */
export type ResumeState = {
  readonly header: RunHeader;
  readonly headerSha: Sha;
  readonly contract: Contract;
  readonly task: { readonly id: string; readonly title: string; readonly path: string };
  readonly head: CertifiedBundle;
  readonly nextN: number;
  readonly nextRound: number;
  readonly nextDraw: number;
  readonly used: Amounts;
  readonly stop: StopReason | null;
  /** Final verdicts of this chain (this run and the ancestors it branched from): ranked and invalid ones, by tree. */
  readonly cached: readonly CachedRow[];
  /** No-verdicts in a row at the end of the run. */
  readonly noVerdictStreak: number;
  /** Automatic commands that proposers have registered in this run, in order. */
  readonly registered: readonly AutoCommand[];
};

/** A certified bundle by its place. */
export type BundlePlace = { readonly run: RunId; readonly seq: number; readonly id: Sha };
/** A run that branched from bundle `seq` (with the id `id`) of the run that was asked about. */
export type BranchRow = { readonly run: RunId; readonly seq: number; readonly id: Sha };

type StoredValue = number | string | Uint8Array | null;

/** The row of a bundle as it is stored; `key` and `era_start` are run.no << 32 | seq. */
export type StoredBundle = {
  readonly key: number;
  readonly id: Sha;
  readonly edge: string;
  readonly transition: number | null;
  readonly potential: number;
  readonly era: number;
  readonly era_start: number;
  readonly parent: Sha | null;
  readonly contract: Sha;
  readonly tree: Sha;
  readonly verdict: Sha;
  readonly summary: Sha;
  readonly latent: string | null;
  readonly rank: string;
  readonly summary_text: string;
};

/** A run as a decision replay finds it: its row by column, header and contract as text, and how many rows it has. */
export type ReplayHead = {
  readonly no: number;
  readonly row: Readonly<Record<string, StoredValue>>;
  readonly header: string | null;
  readonly contract: { readonly m: number; readonly caps: string; readonly body: string } | null;
  readonly events: number;
  readonly salts: number;
  readonly transitions: number;
  readonly bundles: number;
  readonly memories: number;
  /** A round is under way, or was when an engine died. */
  readonly open: boolean;
  readonly genesis: StoredBundle | null;
  readonly branch: (BundlePlace & { readonly no: number; readonly transitions: number }) | null;
};

export type ReplayEvent = { readonly seq: number; readonly type: string; readonly sha: Sha; readonly line: string };

/** `reportBytes` null: there is no report, or `damage` says why it cannot be read. */
export type StoredVerifierRun = {
  readonly id: string;
  readonly nonce: string;
  readonly tree: Sha;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly report: Sha | null;
  readonly output: Sha | null;
  readonly result: string;
  readonly reportBytes: Uint8Array | null;
  readonly damage: string | null;
};

/** A verdict's row; `ranks.rank` is null where the sparse form cannot be resolved. */
export type StoredVerdict = {
  readonly sha: Sha;
  readonly tree: Sha | null;
  readonly contract: Sha;
  readonly kind: string;
  readonly code: string | null;
  readonly era: number | null;
  readonly potential: number | null;
  readonly body: string;
  readonly ranks: { readonly sparse: string; readonly rank: number[] | null } | null;
  readonly runs: readonly StoredVerifierRun[];
};

/** A salt with the object behind its commitment: a verdict, or the bytes of a blob. */
export type ReplaySalt = {
  readonly position: number;
  readonly commitment: Sha;
  readonly salt: Uint8Array;
  readonly object: Sha;
  readonly verdict: StoredVerdict | null;
  readonly bytes: Uint8Array | null;
  readonly damage: string | null;
};

export type ReplayTransition = {
  readonly key: number;
  readonly n: number;
  readonly outcome: number;
  readonly round: number;
  readonly slot: number;
  readonly base: number;
  readonly bundle: number | null;
  readonly duplicate_of: number | null;
  readonly source: string;
  readonly kind: string | null;
  readonly code: string | null;
  readonly potential: number | null;
  readonly rank: string | null;
  readonly cost: string;
  readonly event_from: number;
  readonly event_to: number;
  readonly tree: Sha | null;
  readonly verdict: Sha | null;
  readonly request: Sha | null;
  readonly response: Sha | null;
  readonly features_shown: Sha | null;
  readonly memory: { readonly id: Sha; readonly body: string } | null;
  readonly uses: readonly Sha[];
  readonly outputs: readonly { readonly tree: Sha; readonly record: Sha }[];
  readonly registrations: readonly { readonly record: Sha; readonly refusal: string | null }[];
  readonly certified: StoredBundle | null;
  readonly damage: readonly { readonly where: string; readonly what: string }[];
};

/** Rows of the run with this number, after < number <= to. */
export type ReplayPage = { readonly no: number; readonly after: number; readonly to: number; readonly limit: number };

/** What the last decision replay of a run on this machine found, and where the run ended then. */
export type DecisionReplayRow = {
  readonly at: string;
  readonly events: number;
  readonly lastEvent: Sha;
  readonly transitions: number;
  readonly mismatches: number;
  readonly missing: number;
};

/** New executions of the verifier on a certified tree. `rank` is null without one. */
export type ReverificationInput = {
  readonly run: RunId;
  readonly seq: number;
  readonly blobs: readonly BlobInput[];
  readonly executions: readonly (Omit<VerifierRunInput, 'tree'> & { readonly rank: readonly number[] | null })[];
};

export type ReverificationRow = {
  readonly id: string;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly result: string;
  readonly rank: number[] | null;
};

/** A choice among runs, with the reports and outputs that it names and the trees that its tests ran on. */
export type SelectionInput = NamedSelection & { readonly blobs: readonly BlobInput[]; readonly trees: readonly TreeInput[] };

/** Where a model server is reached, and the name of the environment variable that holds its key; null: it asks for none. */
export type RunServer = { readonly baseUrl: string; readonly keyVariable: string | null };

export type Settings = { readonly theme: 'system' | 'light' | 'dark'; readonly language: 'system' | 'en' | 'ko' };

/** Statuses read from the store never say `running`: only the engine knows which loops are alive, so an unstopped run reads `interrupted` or `waiting`. */
export type Store = {
  createRun(input: CreateRun): Promise<void>;
  openRound(input: OpenRound): Promise<void>;
  storeProposals(input: StoreProposals): Promise<void>;
  commitRound(input: CommitRound): Promise<void>;
  stopRun(input: StopRun): Promise<void>;
  resumeRun(input: ResumeRun): Promise<void>;
  /** On start: aborts every open round (transitions `aborted`, charged at their reservation, memory entries, events). Returns the runs it touched. */
  recover(at: string): Promise<readonly RunId[]>;

  /** With `task`, only runs of the task with this id. */
  listRuns(input: { before?: RunId | undefined; limit: number; task?: string | undefined }): Promise<{ runs: RunSummary[]; more: boolean }>;
  getRun(run: RunId): Promise<RunDetail | null>;
  getSummary(run: RunId): Promise<RunSummary | null>;
  /** Ids that begin with the prefix, at most two. */
  resolveRun(prefix: string): Promise<RunId[]>;
  pageTransitions(input: { run: RunId; after: number; limit: number }): Promise<TransitionRow[]>;
  getTransition(input: { run: RunId; n: number }): Promise<TransitionDetail | null>;
  getColumns(input: { run: RunId; from: number; to: number; resolution: number }): Promise<RunColumns>;
  getChain(run: RunId): Promise<ChainColumns>;
  getBundle(input: { run: RunId; seq: number }): Promise<{ bundle: CertifiedBundle; files: Manifest } | null>;
  getManifest(tree: Sha): Promise<Manifest | null>;
  /** Plain bytes, checked against the sha; null where there is no such blob. Throws when the stored bytes are damaged. */
  getBlob(sha: Sha): Promise<Uint8Array | null>;
  getResumeState(run: RunId): Promise<ResumeState | null>;
  /** The bundle that a run branched from, and the runs that branched from its own. */
  getRelatives(run: RunId): Promise<{ parent: BundlePlace | null; branches: BranchRow[] }>;
  /** Bundles whose ids begin with the prefix, at most two different ones; equal histories share an id, then it is the oldest. */
  resolveBundle(prefix: string): Promise<BundlePlace[]>;

  /** For the decision replay: rows as they are stored, none of them believed. */
  getReplayHead(run: RunId): Promise<ReplayHead | null>;
  pageReplayEvents(input: ReplayPage): Promise<ReplayEvent[]>;
  pageReplaySalts(input: ReplayPage): Promise<ReplaySalt[]>;
  pageReplayTransitions(input: ReplayPage): Promise<ReplayTransition[]>;
  getStoredVerdict(sha: Sha): Promise<StoredVerdict | null>;
  /** The text of a contract, as it is stored. */
  getContractBody(sha: Sha): Promise<string | null>;
  /** Final verdicts of the runs that this one branched from, oldest first. */
  getAncestorVerdicts(run: RunId): Promise<readonly CachedRow[]>;
  getDecisionReplay(run: RunId): Promise<DecisionReplayRow | null>;
  /** Replaces the last one. */
  setDecisionReplay(input: DecisionReplayRow & { readonly run: RunId }): Promise<void>;
  addReverification(input: ReverificationInput): Promise<void>;
  /** Of one bundle, oldest first. */
  getReverifications(input: { run: RunId; seq: number }): Promise<ReverificationRow[]>;

  /** Keeps a choice among several runs; each of them has to be there, under one contract, with the end that the record says. */
  addSelection(input: SelectionInput): Promise<void>;
  /** The choices that a run took part in, oldest first. */
  getSelections(run: RunId): Promise<NamedSelection[]>;

  /** Responses of a run by draw, without those of aborted attempts; null where none came. */
  getResponses(run: RunId): Promise<(Sha | null)[]>;
  /** Entries of the exploration memory to show to a proposer that goes on from the head of a run, best first. */
  retrieveMemory(input: { run: RunId; limits: MemoryLimits }): Promise<MemoryEntry[]>;

  getRunServer(run: RunId): Promise<RunServer | null>;
  /** Replaces the last one. */
  setRunServer(input: RunServer & { readonly run: RunId }): Promise<void>;

  getJournal(input: { after: number; limit: number }): Promise<JournalItem[]>;
  lastJournal(): Promise<number>;
  getSettings(): Promise<Settings>;
  setSettings(settings: Partial<Settings>): Promise<Settings>;

  /** Told after each write that appended to the journal, in order. Returns the function that stops listening. */
  onJournal(listener: (items: readonly JournalItem[]) => void): () => void;
  /** Waits for writes under way, checkpoints, ends the threads. */
  close(): Promise<void>;
};
