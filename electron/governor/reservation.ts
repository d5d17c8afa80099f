// What is set aside before a round is opened: per slot, lowest first; what does not fit makes the round smaller. Semantics, sections 5 and 7.
import type { Amounts } from '#shared/domain/budget.ts';
import type { BudgetLedger, Remaining } from '#shared/domain/budget-ledger.ts';
import type { Contract } from '#shared/domain/contract.ts';
import type { Sha } from '#shared/domain/ids.ts';

export type PlannedSlot = { readonly n: number; readonly slot: number; readonly draw: number; readonly reserved: Amounts };
export type RoundPlan = { readonly round: number; readonly base: Sha; readonly slots: readonly PlannedSlot[] };

/** Wall time set aside for proposing in one round. */
const proposeAllowanceMs = 10_000;

/** Longest that the executions of one verification may take together, retries included. */
export function verifyDeadlineMs({ verifier: { timeoutsMs } }: Contract): number {
  return timeoutsMs.setup + timeoutsMs.transfer + timeoutsMs.run + timeoutsMs.parse;
}

// The lowest slot takes what is left where its worst case does not fit: a limit on time could otherwise never be used up, because the
// worst case of one slot is far above what it usually takes. What it then uses beyond its reservation is overshoot and not a charge.
const slotAmounts = (slot: number, slots: number, contract: Contract, left: Remaining): Amounts => {
  const upTo = (worst: number, available: number | null): number =>
    slot === 0 && available !== null && available > 0 ? Math.min(worst, available) : worst;
  const deadline = verifyDeadlineMs(contract);
  return {
    attempts: 1,
    rounds: slot === 0 ? 1 : 0,
    requests: 1,
    promptTokens: 0,
    completionTokens: 0,
    verifierRuns: upTo(1 + contract.measurement.infraRetries, left.verifierRuns),
    verifierMs: upTo(deadline, left.verifierMs),
    wallMs: slot === 0 ? upTo(slots * deadline + proposeAllowanceMs, left.wallMs) : 0,
  };
};

export type RoundFacts = {
  readonly round: number;
  readonly base: Sha;
  readonly nextN: number;
  readonly nextDraw: number;
  /** Slots that the header asks for. */
  readonly slots: number;
  readonly contract: Contract;
};

/** Reserves a round in `ledger`; null (and nothing reserved) when not even one slot fits. */
export function planRound(ledger: BudgetLedger, facts: RoundFacts): RoundPlan | null {
  const wanted = Math.min(facts.slots, ledger.remaining().attempts ?? facts.slots);
  const slots: PlannedSlot[] = [];
  for (let slot = 0; slot < wanted; slot++) {
    const reserved = slotAmounts(slot, wanted, facts.contract, ledger.remaining());
    if (!ledger.reserve(reserved)) break;
    slots.push({ n: facts.nextN + slot, slot, draw: facts.nextDraw + slot, reserved });
  }
  return slots.length === 0 ? null : { round: facts.round, base: facts.base, slots };
}

/** Whether another round of at least one slot would fit. */
export function roundFits(ledger: BudgetLedger, contract: Contract): boolean {
  const left = ledger.remaining();
  const least = slotAmounts(0, 1, contract, left);
  return (
    (left.attempts ?? least.attempts) >= least.attempts &&
    (left.rounds ?? least.rounds) >= least.rounds &&
    (left.requests ?? least.requests) >= least.requests &&
    (left.verifierRuns ?? least.verifierRuns) >= least.verifierRuns &&
    (left.verifierMs ?? least.verifierMs) >= least.verifierMs &&
    (left.wallMs ?? least.wallMs) >= least.wallMs
  );
}
