// Exploration memory: one entry for every transition that did not commit. It may steer later proposals and has no authority.
import { z } from 'zod';
import { Count, RunId, Sha } from './ids.ts';
import { Outcome } from './transition.ts';
import { Rank } from './verdict.ts';

/** Bounded facts about one attempt against the head it was tried on; "after" fields are null without a ranked verdict. */
export const Features = z.strictObject({
  hasVerdict: z.boolean(),
  verdictKind: z.enum(['ranked', 'invalid', 'no_verdict']),
  m: z.int().min(1),
  sumBefore: Count,
  sumBeforeCompressed: z.number().min(0).max(1),
  sumAfter: Count.nullable(),
  sumAfterCompressed: z.number().min(0).max(1).nullable(),
  improved: Count.nullable(),
  worsened: Count.nullable(),
  tied: Count.nullable(),
  improvedRatio: z.number().min(0).max(1).nullable(),
  worsenedRatio: z.number().min(0).max(1).nullable(),
  tiedRatio: z.number().min(0).max(1).nullable(),
  committed: z.boolean(),
  zeroBefore: z.boolean(),
  zeroAfter: z.boolean().nullable(),
  outcome: Outcome,
});
export type Features = z.infer<typeof Features>;

/** Lines (or, in a binary file, bytes) added and removed in one file. */
export const FileChange = z.strictObject({
  path: z.string(),
  status: z.enum(['added', 'removed', 'modified', 'mode']),
  binary: z.boolean(),
  added: Count,
  removed: Count,
  before: Sha.nullable(),
  after: Sha.nullable(),
});
export type FileChange = z.infer<typeof FileChange>;

export const MemoryEntry = z.strictObject({
  id: Sha,
  run: RunId,
  contract: Sha,
  transition: z.int().min(1),
  base: Sha,
  baseRank: Rank,
  tree: Sha.nullable(),
  outcome: Outcome.exclude(['commit']),
  rank: Rank.nullable(),
  /** -1 improved, 0 tied, 1 worsened, per obligation; null without ranks. */
  signs: z.array(z.union([z.literal(-1), z.literal(0), z.literal(1)])).nullable(),
  features: Features,
  changes: z.array(FileChange),
  hunks: z.array(Sha),
  /** At most 4 KiB of what the verifier said, filtered by visibility. */
  excerpt: z.string(),
  note: z.string().nullable(),
});
export type MemoryEntry = z.infer<typeof MemoryEntry>;
