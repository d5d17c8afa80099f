// Accounting of a run's budget: reserve before spending, settle with what was reported, never charge more than was reserved.
// Semantics, section 7: used <= budget in every dimension, whatever usage a server reports (I9).
import { type Amounts, type Budget, type BudgetDimension, budgetDimensions, type Cost } from './budget.ts';

/** Reported usage: a dimension left out is missing and charges its reservation. Comes from servers, so any number may stand in it. */
export type Usage = Partial<Amounts> | 'missing';

/** Amounts left per dimension; null = not limited. */
export type Remaining = Readonly<Record<BudgetDimension, number | null>>;

const perDimension = <T>(value: (dimension: BudgetDimension) => T): Record<BudgetDimension, T> => ({
  attempts: value('attempts'),
  rounds: value('rounds'),
  requests: value('requests'),
  promptTokens: value('promptTokens'),
  completionTokens: value('completionTokens'),
  verifierRuns: value('verifierRuns'),
  verifierMs: value('verifierMs'),
  wallMs: value('wallMs'),
});

const isAmount = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

const checkAmounts = (amounts: Amounts, what: string): void => {
  for (const d of budgetDimensions) {
    const amount: unknown = amounts[d];
    if (!isAmount(amount)) throw new RangeError(`${what}: ${d} is ${String(amount)}, must be an integer from 0`);
  }
};

/** Nothing in every dimension. */
export function noAmounts(): Amounts {
  return perDimension(() => 0);
}

/** The sum, dimension by dimension. */
export function addAmounts(a: Amounts, b: Amounts): Amounts {
  return perDimension((d) => a[d] + b[d]);
}

/**
 * What a reservation costs once its usage is known: charged is at most what was reserved, the rest stands in `overshoot`. A dimension that
 * is missing, negative, fractional or not a safe integer charges its whole reservation.
 */
export function settleCost(reserved: Amounts, actual: Usage): Cost {
  const reported = (d: BudgetDimension): number => {
    const amount = actual === 'missing' ? undefined : actual[d];
    return isAmount(amount) ? amount : reserved[d];
  };
  return {
    charged: perDimension((d) => Math.min(reported(d), reserved[d])),
    overshoot: perDimension((d) => Math.max(0, reported(d) - reserved[d])),
  };
}

export interface BudgetLedger {
  /** Sets the amounts aside if every limited dimension still has them (reservations count as spent); otherwise changes nothing. */
  reserve(amounts: Amounts): boolean;
  /**
   * Gives a reservation back and charges what was used of it. A reservation is settled once: what exceeds the amounts still set aside
   * (a duplicated report) is overshoot and never a charge.
   */
  settle(reserved: Amounts, actual: Usage): Cost;
  /** Charged so far. */
  used(): Amounts;
  /** Reported beyond reservations so far; outside the limits. */
  overshoot(): Amounts;
  /** Limit minus charged minus set aside. */
  remaining(): Remaining;
  /** The first dimension with nothing left, or null. */
  exhausted(): BudgetDimension | null;
}

/** A ledger under `budget`, of which `used` is spent already (a resumed run). Throws when `used` is not a set of amounts within the budget. */
export function createLedger(budget: Budget, used: Amounts = noAmounts()): BudgetLedger {
  checkAmounts(used, 'used');
  for (const d of budgetDimensions) {
    const limit = budget[d];
    if (limit !== null && used[d] > limit) throw new RangeError(`used: ${d} is ${used[d]}, above the budget of ${limit}`);
  }
  let charged = { ...used };
  let outstanding = noAmounts();
  let over = noAmounts();
  const remaining = (): Remaining =>
    perDimension((d) => {
      const limit = budget[d];
      return limit === null ? null : limit - charged[d] - outstanding[d];
    });
  return {
    reserve(amounts) {
      checkAmounts(amounts, 'reservation');
      const left = remaining();
      if (budgetDimensions.some((d) => amounts[d] > (left[d] ?? Number.POSITIVE_INFINITY))) return false;
      outstanding = addAmounts(outstanding, amounts);
      return true;
    },
    settle(reserved, actual) {
      checkAmounts(reserved, 'settlement');
      const released = perDimension((d) => Math.min(reserved[d], outstanding[d]));
      // A missing report charges the reservation as it was made; what is no longer set aside of it cannot be charged again.
      const asked = settleCost(reserved, actual);
      const cost = settleCost(released, addAmounts(asked.charged, asked.overshoot));
      outstanding = perDimension((d) => outstanding[d] - released[d]);
      charged = addAmounts(charged, cost.charged);
      over = addAmounts(over, cost.overshoot);
      return cost;
    },
    used: () => ({ ...charged }),
    overshoot: () => ({ ...over }),
    remaining,
    exhausted() {
      const left = remaining();
      return budgetDimensions.find((d) => left[d] === 0) ?? null;
    },
  };
}
