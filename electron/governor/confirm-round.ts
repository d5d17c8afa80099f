// Confirming the contenders of a round, best first, until one holds. What is measured next and what it came to is for
// shared/domain/confirm.ts to say; here the measurements are made, each within what is left of the slot's reservation.
import { runsOf } from '#shared/domain/aggregate.ts';
import { confirmationStep } from '#shared/domain/confirm.ts';
import type { Contract } from '#shared/domain/contract.ts';
import type { Confirmation, RoundDecision } from '#shared/domain/decide.ts';
import type { Verdict } from '#shared/domain/verdict.ts';
import { ensure } from '#shared/lib/assert.ts';
import type { Attempt } from './attempt.ts';
import type { Measurement } from './measure.ts';

/** All measurements that one slot caused, in their order; the round's records keep every one of them. */
export type SlotMeasurements = { readonly candidate: Measurement[]; readonly base: Measurement[] };

export type ConfirmRound = {
  readonly decision: RoundDecision;
  readonly contract: Contract;
  readonly attempts: readonly Attempt[];
  readonly measurements: (slot: number) => SlotMeasurements;
  /** Makes one measurement for a slot and adds it to the slot's; null when the slot's reservation allows no more. */
  readonly measure: (attempt: Attempt, of: 'candidate' | 'base') => Promise<Measurement | null>;
};

export type Confirmed = { readonly winner: number | null; readonly confirmations: readonly Confirmation[] };

/** Null: a measurement was ended by a stop, so the round is not decided. */
export async function confirmRound({ decision, contract, attempts, measurements, measure }: ConfirmRound): Promise<Confirmed | null> {
  const confirmations: Confirmation[] = [];
  for (const slot of decision.contenders) {
    const attempt = ensure(
      attempts.find(({ planned }) => planned.slot === slot),
      `attempt of slot ${slot}`,
    );
    const known = attempt.standing.kind === 'cached' ? attempt.standing.cached.verdict : null;
    for (;;) {
      const { candidate, base } = measurements(slot);
      const step = confirmationStep({
        contract,
        head: decision.head.rank,
        known: known?.kind === 'ranked' ? known.rank : null,
        candidate: candidate.map(({ verdict }) => verdict),
        base: base.map(({ verdict }) => verdict),
      });
      if (step.next === null) {
        const { verdict, unstable, held } = step;
        confirmations.push({ slot, contract: decision.head.contract, verdict, unstable });
        if (held) return { winner: slot, confirmations };
        break;
      }
      const made = await measure(attempt, step.next);
      if (made === null) {
        confirmations.push({ slot, contract: decision.head.contract, verdict: outOfBudget(candidate, base), unstable: false });
        break;
      }
      if (made.aborted) return null;
    }
  }
  return { winner: null, confirmations };
}

function outOfBudget(candidate: readonly Measurement[], base: readonly Measurement[]): Verdict {
  const message = `it would commit, but what was reserved for the attempt is used up after ${candidate.length} measurements of the candidate and ${base.length} of the base`;
  return { kind: 'no_verdict', code: 'budget', message, runs: candidate.flatMap(({ verdict }) => runsOf(verdict)) };
}
