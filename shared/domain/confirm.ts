// Whether a would-be commit holds when it is measured again: which measurement is needed next, or what they came to. Semantics, section 4.
// Part of the decision: pure, so that a replay of the stored reports comes to the same end; no memory, features or prompts (I13).
import { ensure } from '../lib/assert.ts';
import { aggregateRuns, aggregateVerdicts, checkedVerdict, runsOf, unstableObligations } from './aggregate.ts';
import type { Contract } from './contract.ts';
import type { Obligation } from './obligation.ts';
import { relate } from './rank.ts';
import type { Rank, Verdict } from './verdict.ts';

export interface ConfirmationFacts {
  readonly contract: Pick<Contract, 'obligations' | 'advisory' | 'measurement'>;
  /** Rank that the head was certified with. */
  readonly head: Rank;
  /** What an earlier round or run measured for the same tree, where the contender came from the cache; it has to agree and counts for nothing else. */
  readonly known: Rank | null;
  /** Fresh measurements of the candidate in their order, the screening run first. */
  readonly candidate: readonly Verdict[];
  /** Measurements of the head's tree made beside them, in their order. */
  readonly base: readonly Verdict[];
}

export type ConfirmationStep =
  | { readonly next: 'candidate' | 'base' }
  | {
      readonly next: null;
      /** The aggregate of the candidate's measurements, or why there is none. */
      readonly verdict: Verdict;
      /** The measurements disagreed, or the paired check failed: refused whatever the aggregate says. */
      readonly unstable: boolean;
      /** The candidate may commit. */
      readonly held: boolean;
    };

/** How many measurements one attempt makes at most, without repetitions for faults: screening, confirmation, and the base beside them. */
export function measurementsPerAttempt({ confirmRuns, paired }: Contract['measurement']): number {
  return confirmRuns + (paired ? confirmRuns : 0);
}

/** Whether the aggregate can still dominate `head` if `left` more measurements find nothing at all to fix. */
export function canDominate(
  obligations: readonly Pick<Obligation, 'aggregate'>[],
  head: Rank,
  ranks: readonly Rank[],
  left: number,
): boolean {
  const best = Array.from({ length: left }, () => obligations.map(() => 0));
  return relate(aggregateRuns(obligations, [...ranks, ...best]), head) === 'dominates';
}

/** The paired check: some coordinate whose largest value in the candidate is below the smallest of the base measured beside it. */
export function pairedProgress(candidate: readonly Rank[], base: readonly Rank[]): boolean {
  const length = candidate[0]?.length ?? 0;
  for (let i = 0; i < length; i++) {
    const of = (ranks: readonly Rank[]) => ranks.map((rank) => ensure(rank[i], `coordinate ${i} of a rank`));
    if (of(candidate).reduce((a, b) => Math.max(a, b)) < of(base).reduce((a, b) => Math.min(a, b))) return true;
  }
  return false;
}

/**
 * The next measurement of a contender, or the end: at the first measurement after which it can no longer hold (no rank, runs that disagree,
 * an aggregate that cannot dominate any more, a base that is as good by now), else once the contract's number of them is reached. A base
 * that gets no rank leaves the candidate without a verdict. Throws when a rank does not fit the contract.
 */
export function confirmationStep({ contract, head, known, candidate, base }: ConfirmationFacts): ConfirmationStep {
  const { obligations, measurement } = contract;
  if (candidate.length === 0) return { next: 'candidate' };
  const verdict = aggregateVerdicts(contract, candidate);
  if (verdict.kind !== 'ranked') return { next: null, verdict, unstable: false, held: false };
  const missing = base.map((v) => checkedVerdict(v, obligations)).find((v) => v.kind !== 'ranked');
  if (missing !== undefined) {
    const code = missing.kind === 'no_verdict' ? missing.code : 'infra';
    const message = `the base could not be measured again beside the candidate: ${missing.message}`;
    return {
      next: null,
      verdict: { kind: 'no_verdict', code, message, runs: candidate.flatMap(runsOf) },
      unstable: false,
      held: false,
    };
  }
  const ranks = ranksOf(candidate);
  const disagrees = !verdict.stable || (known !== null && unstableObligations(obligations, [known, ...ranks]).length > 0);
  if (disagrees) return { next: null, verdict, unstable: true, held: false };
  const left = measurement.confirmRuns - candidate.length;
  if (!canDominate(obligations, head, ranks, Math.max(0, left))) return { next: null, verdict, unstable: false, held: false };
  if (base.length > 0 && !pairedProgress(ranks, ranksOf(base))) return { next: null, verdict, unstable: true, held: false };
  if (measurement.paired && base.length < candidate.length) return { next: 'base' };
  return left > 0 ? { next: 'candidate' } : { next: null, verdict, unstable: false, held: true };
}

const ranksOf = (verdicts: readonly Verdict[]): Rank[] => verdicts.flatMap((v) => (v.kind === 'ranked' ? [v.rank] : []));
