// Budget amounts as they are stored: columns of the run's row, and short JSON arrays elsewhere, both in the order of `budgetDimensions`.
import { z } from 'zod';
import { type Amounts, type Budget, budgetDimensions, type Cost } from '#shared/domain/budget.ts';
import { Count } from '#shared/domain/ids.ts';

/** `max_attempts, max_rounds, ...`, for a prefix of max, used, over. */
export const amountColumns = (prefix: 'max' | 'used' | 'over'): string[] => budgetDimensions.map((d) => `${prefix}_${d}`);

export function amountValues(amounts: Amounts): number[] {
  return budgetDimensions.map((d) => amounts[d]);
}

export function budgetValues(budget: Budget): (number | null)[] {
  return budgetDimensions.map((d) => budget[d]);
}

/** Reads eight values in the order of `budgetDimensions`. */
export function toAmounts(values: readonly number[]): Amounts {
  const [attempts = 0, rounds = 0, requests = 0, promptTokens = 0, completionTokens = 0, verifierRuns = 0, verifierMs = 0, wallMs = 0] =
    values;
  return { attempts, rounds, requests, promptTokens, completionTokens, verifierRuns, verifierMs, wallMs };
}

export function toBudget(values: readonly (number | null)[]): Budget {
  const [
    attempts = null,
    rounds = null,
    requests = null,
    promptTokens = null,
    completionTokens = null,
    verifierRuns = null,
    verifierMs = null,
    wallMs = null,
  ] = values;
  return { attempts, rounds, requests, promptTokens, completionTokens, verifierRuns, verifierMs, wallMs };
}

const Stored = z
  .array(Count)
  .refine((values) => values.length === budgetDimensions.length || values.length === 2 * budgetDimensions.length);

/** Charged amounts, then the overshoot if there is any. */
export function encodeCost({ charged, overshoot }: Cost): string {
  const over = amountValues(overshoot);
  return JSON.stringify(over.some((x) => x > 0) ? [...amountValues(charged), ...over] : amountValues(charged));
}

export function decodeCost(text: string): Cost {
  const values = Stored.parse(JSON.parse(text));
  const size = budgetDimensions.length;
  return { charged: toAmounts(values.slice(0, size)), overshoot: toAmounts(values.slice(size)) };
}
