// Replays of stored runs, and how runs are related: view executes nothing, re-verifying writes a new record, branching starts a new run.
import { z } from 'zod';
import { Count, RunId, Sha } from '#shared/domain/ids.ts';
import { ObligationKey } from '#shared/domain/obligation.ts';
import { Rank } from '#shared/domain/verdict.ts';
import { command, query, stream } from './procedure.ts';
import { TransitionRow } from './run.ts';

/** A stored field that is not what its sources give. Values as JSON text, cut; null = there is nothing. */
export const ReplayMismatch = z.strictObject({
  /** `run`, `transition 17`, `bundle 3`, `event 40`, `blob <sha>` and the like. */
  where: z.string(),
  field: z.string(),
  stored: z.string().nullable(),
  recomputed: z.string().nullable(),
});
export type ReplayMismatch = z.infer<typeof ReplayMismatch>;

/** Something that would have been needed to recompute, and is not there. */
export const ReplayMissing = z.strictObject({ where: z.string(), what: z.string() });
export type ReplayMissing = z.infer<typeof ReplayMissing>;

/** Mismatches and missing things are listed up to this many each; they are always counted. */
export const maxListed = 1_000;

export const DecisionReplayReport = z.strictObject({
  run: RunId,
  /** Everything that is stored was recomputed and is equal. */
  ok: z.boolean(),
  transitions: Count,
  rounds: Count,
  bundles: Count,
  events: Count,
  verdicts: Count,
  mismatchCount: Count,
  mismatches: z.array(ReplayMismatch).max(maxListed),
  missingCount: Count,
  missing: z.array(ReplayMissing).max(maxListed),
  /** Taken as they were recorded, because nothing they could be recomputed from exists. */
  recorded: z.strictObject({
    /** Attempts that ended before they were decided. */
    aborted: Count,
    /** Executions that the host ended or could not make (timeouts, changed files, faults of the machine). */
    host: Count,
    /** Final verdicts of the runs that this one branched from; replay those runs for them. */
    ancestors: Count,
  }),
  /** A round is under way; it is not in the report. */
  open: z.boolean(),
  ms: z.number().min(0),
});
export type DecisionReplayReport = z.infer<typeof DecisionReplayReport>;

export const DecisionReplayItem = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('progress'), transitions: Count, of: Count }),
  z.strictObject({ kind: z.literal('report'), report: DecisionReplayReport }),
]);
export type DecisionReplayItem = z.infer<typeof DecisionReplayItem>;

/** `grown`: the run went on since it was replayed here. Green is `matches` and nothing else. */
export const ReplayStatus = z.strictObject({
  state: z.enum(['never', 'matches', 'differs', 'grown']),
  /** When it was replayed; null where it never was. */
  at: z.string().nullable(),
  transitions: Count,
  mismatches: Count,
  missing: Count,
});
export type ReplayStatus = z.infer<typeof ReplayStatus>;

/** One certified bundle measured again. */
export const BundleReplay = z.strictObject({
  seq: Count,
  bundle: Sha,
  tree: Sha,
  /** `no_verdict`: an execution gave no rank; then `coordinates` is empty and `message` says why. */
  result: z.enum(['match', 'drift', 'flake', 'no_verdict']),
  message: z.string().nullable(),
  /** In coordinate order. */
  coordinates: z.array(
    z.strictObject({ key: ObligationKey, result: z.enum(['match', 'drift', 'flake']), certified: Count, again: z.array(Count) }),
  ),
  /** Of the new executions, in their order; null where one gave none. */
  ranks: z.array(Rank.nullable()),
});
export type BundleReplay = z.infer<typeof BundleReplay>;

export const VerifierReplayItem = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('progress'), bundles: Count, of: Count }),
  z.strictObject({ kind: z.literal('bundle'), bundle: BundleReplay }),
]);
export type VerifierReplayItem = z.infer<typeof VerifierReplayItem>;

/** A certified bundle by its place. */
export const BundleRef = z.strictObject({ run: RunId, seq: Count });
export type BundleRef = z.infer<typeof BundleRef>;
const NamedBundle = BundleRef.extend({ id: Sha });

export const RunDivergence = z.strictObject({
  /** The last certified bundle that both come from; null when there is none. */
  common: NamedBundle.nullable(),
  /** The first attempt after it in which they differ; null when they are alike to their common end (or nothing is common). */
  first: z
    .strictObject({
      /** Attempts after the common bundle that are alike. */
      index: Count,
      /** Which run the attempt is of, and the attempt; null: this side ends here. */
      a: z.strictObject({ run: RunId, row: TransitionRow }).nullable(),
      b: z.strictObject({ run: RunId, row: TransitionRow }).nullable(),
      fields: z.array(z.enum(['tree', 'outcome', 'rank'])),
    })
    .nullable(),
});
export type RunDivergence = z.infer<typeof RunDivergence>;

export const replayContract = {
  /**
   * Recomputes every decision of a run from its header, contract, seed, requests, responses and verifier reports, then compares with what
   * is stored. Progress, and a report at the end. What it found is remembered on this machine.
   */
  'replay.decisions': stream(z.strictObject({ run: RunId }), DecisionReplayItem),
  'replay.status': query(z.strictObject({ run: RunId }), ReplayStatus),
  /** Runs the verifier twice again on every certified bundle from `from` on. Writes new records and changes nothing. */
  'replay.verifier': stream(z.strictObject({ run: RunId, from: Count.optional() }), VerifierReplayItem),
  /** The same for one bundle. */
  'replay.verifyBundle': command(BundleRef, BundleReplay),
  /** What re-verifying this bundle came to so far, every execution, oldest first. */
  'replay.reverifications': query(
    BundleRef,
    z.array(
      z.strictObject({
        id: z.string(),
        startedAt: z.string(),
        durationMs: z.number().min(0),
        result: z.string(),
        rank: Rank.nullable(),
      }),
    ),
  ),
  /** `RUN/SEQ` (RUN as for run.resolve), or an unambiguous beginning of a bundle's id of 8 characters or more. */
  'run.resolveBundle': query(z.strictObject({ ref: z.string().min(1) }), NamedBundle),
  /** The bundle that a run branched from, and the runs that branched from its bundles, in order of the bundle. */
  'run.relatives': query(
    z.strictObject({ run: RunId }),
    z.strictObject({ parent: NamedBundle.nullable(), branches: z.array(z.strictObject({ run: RunId, seq: Count, id: Sha })) }),
  ),
  /** Where two runs that come from one certified bundle begin to differ. */
  'run.divergence': query(z.strictObject({ a: RunId, b: RunId }), RunDivergence),
} as const;
