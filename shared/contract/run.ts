// Everything about governed runs: start, stop, resume, list, look.
import { z } from 'zod';
import { RegisterRefusal } from '#shared/domain/auto-registry.ts';
import { Amounts, Budget, Cost, OtherLimits } from '#shared/domain/budget.ts';
import { CertifiedBundle } from '#shared/domain/bundle.ts';
import { ContractBody } from '#shared/domain/contract.ts';
import { ProposerKind, RunHeader } from '#shared/domain/header.ts';
import { Count, RunId, Sha } from '#shared/domain/ids.ts';
import { Features, FileChange, MemoryEntry } from '#shared/domain/memory.ts';
import { outcomes, Outcome, RunStatus, StopReason, Transition, VerdictSource } from '#shared/domain/transition.ts';
import { Rank, Verdict } from '#shared/domain/verdict.ts';
import { RevisionChoices } from './preflight.ts';
import { command, query, stream } from './procedure.ts';

/** How often each outcome occurred; all ten keys, so that 0 is said and not implied. */
export const OutcomeCounts = z.record(z.enum(outcomes), Count);
export type OutcomeCounts = z.infer<typeof OutcomeCounts>;

/** One row of the library, and the head of the run screen. Cheap: from columns of the run's row, never counted over transitions. */
export const RunSummary = z.strictObject({
  id: RunId,
  task: z.strictObject({ id: z.string(), title: z.string() }),
  contract: Sha,
  proposer: ProposerKind,
  slots: z.int().min(1),
  seed: Count,
  status: RunStatus,
  stop: StopReason.nullable(),
  /** Why a run never started (its seed had no verdict) or what stopped it, in words; null when the reason says it all. */
  note: z.string().nullable(),
  /** Wall clock, ISO 8601 UTC. */
  startedAt: z.string(),
  updatedAt: z.string(),
  transitions: Count,
  rounds: Count,
  counts: OutcomeCounts,
  genesis: z.strictObject({ id: Sha, potential: Count }).nullable(),
  head: z.strictObject({ id: Sha, seq: Count, era: Count, potential: Count, rank: Rank }).nullable(),
  budget: z.strictObject({ max: Budget, used: Amounts, overshoot: Amounts }),
  parent: Sha.nullable(),
});
export type RunSummary = z.infer<typeof RunSummary>;

export const RunDetail = RunSummary.extend({
  header: RunHeader,
  headerSha: Sha,
  contractBody: ContractBody,
  memoryEntries: Count,
});
export type RunDetail = z.infer<typeof RunDetail>;

/** A transition as lists and streams carry it: no bodies. `rank` is null without a ranked verdict. */
export const TransitionRow = z.strictObject({
  n: z.int().min(1),
  round: z.int().min(1),
  slot: Count,
  outcome: Outcome,
  base: Sha,
  baseSeq: Count,
  tree: Sha.nullable(),
  rank: Rank.nullable(),
  verdictSource: VerdictSource,
  verdictKind: z.enum(['ranked', 'invalid', 'no_verdict']).nullable(),
  /** The code of an invalid or missing verdict. */
  code: z.string().nullable(),
  bundle: Sha.nullable(),
  bundleSeq: Count.nullable(),
  duplicateOf: Count.nullable(),
  cost: Cost,
});
export type TransitionRow = z.infer<typeof TransitionRow>;

/** Everything about one transition. File contents are blobs: `/blob/<sha>`. */
export const TransitionDetail = z.strictObject({
  transition: Transition,
  baseSeq: Count,
  baseRank: Rank,
  rank: Rank.nullable(),
  verdict: Verdict.nullable(),
  features: Features.nullable(),
  /** Files that differ from the base; null where the attempt has no tree. */
  changes: z.array(FileChange).nullable(),
  memory: MemoryEntry.nullable(),
  bundle: CertifiedBundle.nullable(),
  /** What the verifier wrote on stdout and stderr, cut at 64 KiB of text; the whole is the blob that the run names. */
  output: z.string().nullable(),
  /** What automatic commands said, in their order; they decided nothing. */
  autos: z.array(
    z.strictObject({
      name: z.string(),
      command: z.array(z.string()),
      /** The tree that they spoke of: the attempt's own, or one on the way to it. */
      tree: Sha,
      at: z.enum(['candidate', 'proposal']),
      ending: z.string(),
      /** Cut where there is much of it; the whole stands in the object `record`. */
      output: z.string(),
      cut: z.boolean(),
      record: Sha,
    }),
  ),
  /** Automatic commands that the proposer asked for; `refusal` null: they run on every candidate from this round on. */
  registrations: z.array(z.strictObject({ name: z.string(), command: z.array(z.string()), refusal: RegisterRefusal.nullable() })),
  /** The lines of the event chain that speak of this transition, exactly as they are stored. */
  events: z.array(z.string()),
});
export type TransitionDetail = z.infer<typeof TransitionDetail>;

const U8 = z.instanceof(Uint8Array);
const U16 = z.instanceof(Uint16Array);
const U32 = z.instanceof(Uint32Array);
const I32 = z.instanceof(Int32Array);

/**
 * The timeline as typed columns; `m` = number of obligations, `count` = number of rows, row i is transition `from + i`.
 * `outcome` codes index `outcomes`; `ranks` is row-major count x m with -1 = no rank; `bundleSeq` is -1 unless the outcome is commit;
 * `duplicateOf` is -1 unless the outcome is duplicate (0 = same as the head).
 */
export const RowColumns = z.strictObject({
  kind: z.literal('rows'),
  from: z.int().min(1),
  count: Count,
  m: z.int().min(1),
  outcome: U8,
  round: U32,
  slot: U16,
  baseSeq: U32,
  bundleSeq: I32,
  duplicateOf: I32,
  ranks: I32,
});
/**
 * The same, merged: bucket b covers `resolution` transitions beginning at `from + b * resolution`. `outcomes` is buckets x 10 counts,
 * `potentialMin`/`potentialMax` of the ranked candidates (-1 = none ranked), `headPotential` after the bucket,
 * `better` and `worse` are buckets x m counts of transitions that changed an obligation against their own base.
 */
export const BucketColumns = z.strictObject({
  kind: z.literal('buckets'),
  from: z.int().min(1),
  count: Count,
  m: z.int().min(1),
  resolution: z.int().min(2),
  outcomes: U32,
  potentialMin: I32,
  potentialMax: I32,
  headPotential: I32,
  better: U32,
  worse: U32,
});
export const RunColumns = z.discriminatedUnion('kind', [RowColumns, BucketColumns]);
export type RowColumns = z.infer<typeof RowColumns>;
export type BucketColumns = z.infer<typeof BucketColumns>;
export type RunColumns = z.infer<typeof RunColumns>;

/** The certified chain as typed columns: row i is bundle seq i; `ranks` is row-major count x m; `transition` is -1 for genesis. */
export const ChainColumns = z.strictObject({ count: Count, m: z.int().min(1), ids: z.array(Sha), transition: I32, ranks: I32 });
export type ChainColumns = z.infer<typeof ChainColumns>;

/** Page sizes are bounded so that an answer never stalls its receiver. */
const PageLimit = z.int().min(1).max(200);

/** Where a model server is reached. */
export const ServerAddress = z.strictObject({
  /** Such as http://127.0.0.1:8001/v1. */
  baseUrl: z.string().min(1).max(2_000),
  /** Name of the variable, in the environment of the engine, that holds the key; without it no key is sent. */
  keyVariable: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable')
    .optional(),
});
export type ServerAddress = z.infer<typeof ServerAddress>;

/** What a run of the proposer `openai` asks, and whom. All but the address stands in the header. */
export const ModelChoice = ServerAddress.extend({
  /** The only one that is served, unless said. */
  model: z.string().min(1).optional(),
  /** Of one answer, reasoning included; 8,192 unless said. */
  maxTokens: z.int().min(1).optional(),
  /** Of a prompt; what the model's context leaves beside the answer, unless said. */
  maxPromptTokens: z.int().min(1).optional(),
  temperature: z.number().min(0).max(10).optional(),
  topP: z.number().gt(0).max(1).optional(),
  topK: z.int().min(0).optional(),
  minP: z.number().min(0).max(1).optional(),
  /** How the model has to write its change. */
  edit: z.enum(['files', 'diff', 'search-replace', 'json']).optional(),
  /** The server sends reasoning in the content, and the chat template has opened it. */
  startsInReasoning: z.literal(true).optional(),
});
export type ModelChoice = z.infer<typeof ModelChoice>;

export const RunStart = RevisionChoices.extend({
  /** Absolute path of a task folder; or `from`. */
  task: z.string().optional(),
  /** The certified bundle to branch from, under the contract of its run and with its budget; everything it needs is in the store. */
  from: z.strictObject({ run: RunId, seq: Count }).optional(),
  proposer: ProposerKind,
  slots: z.int().min(1).max(64),
  seed: Count,
  /** Of the proposer `command`: text for /bin/sh, the user's own program, not sandboxed; 10 minutes for each attempt unless said. */
  command: z
    .strictObject({
      command: z.string().min(1).max(100_000),
      timeoutMs: z
        .int()
        .min(1)
        .max(24 * 3_600_000)
        .optional(),
    })
    .optional(),
  /** Of the proposer `recorded`: the run whose stored responses are proposed again, by draw. */
  record: RunId.optional(),
  /** Of the proposer `openai`. */
  server: ModelChoice.optional(),
  /** Lowers or raises the task's limit on attempts for this run; it stands in the header. */
  attempts: z.int().min(1).optional(),
  /** The same for every other dimension of the budget; null lifts the task's limit. */
  limits: OtherLimits.optional(),
  /** Lets candidate code run without a sandbox; it stands in the header and in every verdict. Needed where there is none. */
  unsandboxed: z.literal(true).optional(),
  /** The header that somebody was shown (`run.header`): a run that would begin with another one does not begin. */
  headerSha: Sha.optional(),
}).refine(({ task, from }) => (task === undefined) !== (from === undefined), 'a run begins with exactly one of task and from');
export type RunStart = z.infer<typeof RunStart>;

/** Largest span of one `run.columns` answer, in rows or buckets. */
export const maxColumns = 16_384;

export const runContract = {
  /** The last one that was made first, whatever its clock said; `before` is the id of the last row of the page before. With `task`, only runs of the task with this id. */
  'run.list': query(
    z.strictObject({ before: RunId.optional(), limit: PageLimit, task: z.string().optional() }),
    z.strictObject({ runs: z.array(RunSummary), more: z.boolean() }),
  ),
  'run.get': query(z.strictObject({ run: RunId }), RunDetail),
  /** Resolves an unambiguous prefix of at least 8 characters (with or without `run_`) or a whole id. */
  'run.resolve': query(z.strictObject({ prefix: z.string().min(1) }), z.strictObject({ run: RunId })),
  /** The summary now and after each change; merged when the consumer is slow. Ends when the run stops. */
  'run.watch': stream(z.strictObject({ run: RunId }), RunSummary),
  /**
   * The header that a start would have, without starting: `json` is the very text that is hashed. Measures nothing, runs nothing of a task;
   * fails as `run.start` does for everything that is known before the seed is measured.
   */
  'run.header': query(RunStart, z.strictObject({ header: RunHeader, json: z.string(), sha: Sha })),
  /**
   * Measures the seed as often as the contract says, stores header and genesis, starts the loop as a job of the engine, answers as soon as
   * the run exists. `note` of a run that goes on is its forecast. Fails with `unstable`, and stores nothing, when an obligation took two
   * values; the message names each with its values and the two choices, and `field` is the first of them.
   * Of the proposer `human` (slots: 1) no loop is started: the run is `waiting` until somebody proposes.
   */
  'run.start': command(RunStart, z.strictObject({ run: RunId, status: RunStatus, note: z.string().nullable() })),
  /** Ends a live or waiting run; answers when its last round is stored. Stopping a run that is neither is a conflict. */
  'run.stop': command(z.strictObject({ run: RunId }), z.strictObject({ stop: StopReason })),
  /** Goes on with an interrupted or user-stopped run under the same header and what is left of its budget; one of a person waits again. `server` when the model has moved. */
  'run.resume': command(z.strictObject({ run: RunId, server: ServerAddress.optional() }), z.strictObject({ run: RunId })),
  /**
   * One attempt by a person, in a round of its own, on a run that is not live and could be resumed: verified and decided like every other.
   * `base` is the seq of the head, or it is a conflict. `text` null removes a file. Answers when the round is stored; unless the attempt
   * ended it, a run of the proposer `human` then waits again (`stop` null), every other stands stopped by the user.
   */
  'run.propose': command(
    z.strictObject({
      run: RunId,
      base: Count,
      files: z
        .array(
          z.strictObject({
            path: z.string().min(1),
            text: z
              .string()
              .refine((text) => text.isWellFormed(), 'a lone surrogate')
              .nullable(),
          }),
        )
        .min(1)
        .max(20_000),
    }),
    z.strictObject({ n: z.int().min(1), outcome: Outcome, stop: StopReason.nullable() }),
  ),
  /** Rows with n > after; with `follow`, goes on until the run stops. */
  'run.transitions': stream(z.strictObject({ run: RunId, after: Count, follow: z.boolean() }), TransitionRow),
  /** Rows with after < n <= after + limit, by keyset. */
  'run.page': query(z.strictObject({ run: RunId, after: Count, limit: PageLimit }), z.array(TransitionRow)),
  'run.transition': query(z.strictObject({ run: RunId, n: z.int().min(1) }), TransitionDetail),
  /** Transitions from..to inclusive, at 1, 4, 16, ... transitions a bucket. */
  'run.columns': query(z.strictObject({ run: RunId, from: z.int().min(1), to: z.int().min(1), resolution: z.int().min(1) }), RunColumns),
  'run.chain': query(z.strictObject({ run: RunId }), ChainColumns),
  'run.bundle': query(
    z.strictObject({ run: RunId, seq: Count }),
    z.strictObject({
      bundle: CertifiedBundle,
      files: z.array(z.strictObject({ path: z.string(), mode: z.enum(['file', 'exec']), sha: Sha, size: Count })),
    }),
  ),
} as const;
