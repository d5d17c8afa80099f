// One attempt and what became of it. Inserted once, with its outcome, and never changed.
import { z } from 'zod';
import { Cost } from './budget.ts';
import { Count, RunId, Sha } from './ids.ts';

/** Order in which outcomes are listed and numbered in columns (index = code). */
export const outcomes = [
  'commit',
  'tie',
  'regression',
  'incomparable',
  'not_selected',
  'duplicate',
  'unstable',
  'invalid',
  'no_verdict',
  'aborted',
] as const;
export const Outcome = z.enum(outcomes);
export type Outcome = z.infer<typeof Outcome>;

/** How many of each outcome there are before anything was attempted. */
export const noOutcomes = (): Record<Outcome, number> => ({
  commit: 0,
  tie: 0,
  regression: 0,
  incomparable: 0,
  not_selected: 0,
  duplicate: 0,
  unstable: 0,
  invalid: 0,
  no_verdict: 0,
  aborted: 0,
});

export const StopReason = z.enum(['zero_rank', 'budget', 'user', 'verifier_dead', 'contract_changed', 'stalled']);
export type StopReason = z.infer<typeof StopReason>;

/**
 * `interrupted`: no stop reason and no live engine loop. `waiting`: the same where a person proposes; nothing was cut off, it is the person's
 * turn. `not_started`: the seed had no verdict, nothing is certified.
 */
export const RunStatus = z.enum(['running', 'interrupted', 'waiting', 'stopped', 'not_started']);
export type RunStatus = z.infer<typeof RunStatus>;

export const VerdictSource = z.enum(['fresh', 'cache', 'none']);
export type VerdictSource = z.infer<typeof VerdictSource>;

export const Transition = z.strictObject({
  run: RunId,
  /** Dense from 1. */
  n: z.int().min(1),
  round: z.int().min(1),
  slot: Count,
  base: Sha,
  request: Sha.nullable(),
  response: Sha.nullable(),
  retrieved: z.array(Sha),
  featuresShown: Sha.nullable(),
  tree: Sha.nullable(),
  duplicateOf: Count.nullable(),
  verdict: Sha.nullable(),
  verdictSource: VerdictSource,
  outcome: Outcome,
  bundle: Sha.nullable(),
  cost: Cost,
});
export type Transition = z.infer<typeof Transition>;
