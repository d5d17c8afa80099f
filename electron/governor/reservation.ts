// What is set aside before a round is opened: per slot, lowest first; what does not fit makes the round smaller. Semantics, sections 5 and 7.
import { type AutoCommand, autoCommands } from '#shared/domain/auto-registry.ts';
import type { Amounts, Budget } from '#shared/domain/budget.ts';
import type { BudgetLedger, Remaining } from '#shared/domain/budget-ledger.ts';
import { measurementsPerAttempt } from '#shared/domain/confirm.ts';
import type { Contract } from '#shared/domain/contract.ts';
import type { Sha } from '#shared/domain/ids.ts';
import type { ProposalReservation } from '#electron/proposers/proposer.ts';

export type PlannedSlot = { readonly n: number; readonly slot: number; readonly draw: number; readonly reserved: Amounts };
export type RoundPlan = { readonly round: number; readonly base: Sha; readonly slots: readonly PlannedSlot[] };

/** Wall time set aside for proposing in one round. */
const proposeAllowanceMs = 10_000;

/** How long after the beginning of a measurement its verifier may be started again after a fault. */
export function verifyDeadlineMs({ verifier: { timeoutsMs } }: Contract): number {
  return timeoutsMs.setup + timeoutsMs.transfer + timeoutsMs.run + timeoutsMs.parse;
}

/** Executions that one attempt makes at most: its measurements, and repetitions after faults, which all of them share. */
const worstRuns = ({ measurement }: Contract): number => measurementsPerAttempt(measurement) + measurement.infraRetries;

// The lowest slot takes what is left where its worst case does not fit: a limit on time could otherwise never be used up, because the
// worst case of one slot is far above what it usually takes. What it then uses beyond its reservation is overshoot and not a charge.
// Executions are exact: without those that a commit would need, an attempt could come to nothing, so it is not begun.
const slotAmounts = (
  slot: number,
  slots: number,
  { contract, registered, proposal = oneRequest }: Pick<RoundFacts, 'contract' | 'registered' | 'proposal'>,
  left: Remaining,
  proposeMs: number,
): Amounts => {
  const upTo = (worst: number, least: number, available: number | null): number =>
    slot === 0 && available !== null && available >= least ? Math.min(worst, available) : worst;
  const measurements = measurementsPerAttempt(contract.measurement);
  const longest = measurements * verifyDeadlineMs(contract);
  const autos = autoCommands(contract, registered).reduce((sum, { timeoutMs }) => sum + timeoutMs, 0);
  return {
    attempts: 1,
    rounds: slot === 0 ? 1 : 0,
    ...proposal,
    verifierRuns: upTo(worstRuns(contract), measurements, left.verifierRuns),
    verifierMs: upTo(longest, 1, left.verifierMs),
    wallMs: slot === 0 ? upTo(slots * (longest + autos) + proposeMs, 1, left.wallMs) : 0,
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
  /** Automatic commands beside those of the contract. */
  readonly registered: readonly AutoCommand[];
  /** The longest that the attempts of a round, all begun at once, take; absent where that is hardly any time. */
  readonly longestMs?: number | undefined;
  /** What the proposer of an attempt takes at most. */
  readonly proposal?: ProposalReservation | undefined;
};

const oneRequest: ProposalReservation = { requests: 1, promptTokens: 0, completionTokens: 0 };

/** Reserves a round in `ledger`; null (and nothing reserved) when not even one slot fits. */
export function planRound(ledger: BudgetLedger, facts: RoundFacts): RoundPlan | null {
  const wanted = Math.min(facts.slots, ledger.remaining().attempts ?? facts.slots);
  const slots: PlannedSlot[] = [];
  for (let slot = 0; slot < wanted; slot++) {
    const proposeMs = (facts.longestMs ?? 0) + proposeAllowanceMs;
    const reserved = slotAmounts(slot, wanted, facts, ledger.remaining(), proposeMs);
    if (!ledger.reserve(reserved)) break;
    slots.push({ n: facts.nextN + slot, slot, draw: facts.nextDraw + slot, reserved });
  }
  return slots.length === 0 ? null : { round: facts.round, base: facts.base, slots };
}

/** Whether another round of at least one slot would fit. */
export function roundFits(ledger: BudgetLedger, contract: Contract, proposal: ProposalReservation = oneRequest): boolean {
  const left = ledger.remaining();
  // How long commands may take changes nothing here: the lowest slot takes what is left.
  const least = slotAmounts(0, 1, { contract, registered: [], proposal }, left, proposeAllowanceMs);
  return (
    (left.attempts ?? least.attempts) >= least.attempts &&
    (left.rounds ?? least.rounds) >= least.rounds &&
    (left.requests ?? least.requests) >= least.requests &&
    (left.promptTokens ?? least.promptTokens) >= least.promptTokens &&
    (left.completionTokens ?? least.completionTokens) >= least.completionTokens &&
    (left.verifierRuns ?? least.verifierRuns) >= least.verifierRuns &&
    (left.verifierMs ?? least.verifierMs) >= least.verifierMs &&
    (left.wallMs ?? least.wallMs) >= least.wallMs
  );
}

/** What is left of a slot's reservation while its measurements are made, one after the other. */
export type Allowance = {
  /** Whether one more measurement may begin. */
  readonly has: () => boolean;
  /** Repetitions after faults that the next measurement may still make. */
  readonly retries: () => number;
  spend(used: { readonly runs: readonly unknown[]; readonly ms: number; readonly retries: number }): void;
};

/** A dimension that the budget does not limit never runs out, however far above its reservation an execution was. */
export function createAllowance({ reserved }: PlannedSlot, { measurement }: Contract, budget: Budget): Allowance {
  let runs = budget.verifierRuns === null ? Number.POSITIVE_INFINITY : reserved.verifierRuns;
  let ms = budget.verifierMs === null ? Number.POSITIVE_INFINITY : reserved.verifierMs;
  let retries = measurement.infraRetries;
  return {
    has: () => runs >= 1 && ms > 0,
    retries: () => Math.max(0, Math.min(retries, runs - 1)),
    spend: (used) => {
      runs -= used.runs.length;
      ms -= used.ms;
      retries -= used.retries;
    },
  };
}
