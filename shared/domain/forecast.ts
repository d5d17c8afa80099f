// How far a budget goes, said before a run is started. Semantics, section 7.
import { z } from 'zod';
import { type Budget, type BudgetDimension, budgetDimensions } from './budget.ts';
import { measurementsPerAttempt } from './confirm.ts';
import type { Contract } from './contract.ts';
import { Count } from './ids.ts';

/** Below so many attempts a budget is called short. */
const fewAttempts = 3;

export const Forecast = z.strictObject({
  /** Attempts that the tightest dimension buys. */
  attempts: Count,
  /** The tightest dimension, the first of them in the order of `budgetDimensions`. */
  dimension: z.enum(budgetDimensions),
  /** Fewer than three: hardly a run. */
  few: z.boolean(),
});
export type Forecast = z.infer<typeof Forecast>;

/** What one attempt is expected to take per dimension: finite, from 0, fractions allowed (a round is shared by its slots); 0 = nothing known. */
export type PerAttempt = Readonly<Record<BudgetDimension, number>>;

/** How many attempts `budget` buys at `perAttempt` each. Throws RangeError for an amount that is negative or no number. */
export function forecastAttempts(budget: Budget, perAttempt: PerAttempt): Forecast {
  let tightest: { attempts: number; dimension: BudgetDimension } | null = null;
  for (const dimension of budgetDimensions) {
    const limit = budget[dimension];
    const each = perAttempt[dimension];
    if (!Number.isFinite(each) || each < 0) throw new RangeError(`forecast: ${dimension} is ${each}, must be a number from 0`);
    if (limit === null || each === 0) continue;
    const attempts = Math.min(Math.floor(limit / each), Number.MAX_SAFE_INTEGER);
    if (tightest === null || attempts < tightest.attempts) tightest = { attempts, dimension };
  }
  // Attempts are always limited; where an attempt is said to take none, nothing can be counted.
  if (tightest === null) throw new RangeError('forecast: no limited dimension is used by an attempt');
  return { ...tightest, few: tightest.attempts < fewAttempts };
}

export type RunForecast = {
  readonly slots: number;
  readonly measurement: Contract['measurement'];
  /** What one execution of the verifier takes; 0 = not measured. */
  readonly verifierMs: number;
};

/**
 * What `budget` buys if every attempt had to be confirmed, each measurement taking `verifierMs`. Tokens and the time of the proposer are not
 * known beforehand and count as nothing.
 */
export function forecastRun(budget: Budget, { slots, measurement, verifierMs }: RunForecast): Forecast {
  const measurements = measurementsPerAttempt(measurement);
  const ms = measurements * verifierMs;
  return forecastAttempts(budget, {
    attempts: 1,
    rounds: 1 / slots,
    requests: 1,
    promptTokens: 0,
    completionTokens: 0,
    verifierRuns: measurements,
    verifierMs: ms,
    wallMs: ms,
  });
}
