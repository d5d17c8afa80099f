// The dimensions in which a run is limited, fixed in its header before attempt 1.
import { z } from 'zod';
import { Count } from './ids.ts';

/** Order in which dimensions are shown. */
export const budgetDimensions = [
  'attempts',
  'rounds',
  'requests',
  'promptTokens',
  'completionTokens',
  'verifierRuns',
  'verifierMs',
  'wallMs',
] as const;
export type BudgetDimension = (typeof budgetDimensions)[number];

/** The dimensions in English words, inside a sentence. */
export const dimensionWords: Readonly<Record<BudgetDimension, string>> = {
  attempts: 'attempts',
  rounds: 'rounds',
  requests: 'requests',
  promptTokens: 'prompt tokens',
  completionTokens: 'completion tokens',
  verifierRuns: 'verifier runs',
  verifierMs: 'verifier time',
  wallMs: 'wall time',
};

const perDimension = <T extends z.ZodType>(value: T) =>
  z.strictObject({
    attempts: value,
    rounds: value,
    requests: value,
    promptTokens: value,
    completionTokens: value,
    verifierRuns: value,
    verifierMs: value,
    wallMs: value,
  });

const Limit = z.int().min(1).nullable();

/** Limits; null = not limited. `attempts` is always limited, or a run need not end. */
export const Budget = perDimension(Limit).refine((b) => b.attempts !== null, 'a run needs a limit on attempts');
export type Budget = z.infer<typeof Budget>;

/** Other limits than those of a task; null lifts one. Attempts are not among them: they are never without a limit. */
export const OtherLimits = perDimension(Limit.optional()).omit({ attempts: true });
export type OtherLimits = z.infer<typeof OtherLimits>;

/** `budget` with other limits; what is not said stays. */
export function budgetWith(
  budget: Budget,
  { attempts, limits = {} }: { attempts?: number | undefined; limits?: OtherLimits | undefined },
): Budget {
  const merged = { ...budget, ...(attempts === undefined ? {} : { attempts }) };
  for (const dimension of budgetDimensions) {
    if (dimension === 'attempts') continue;
    const limit = limits[dimension];
    if (limit !== undefined) merged[dimension] = limit;
  }
  return merged;
}

/** Amounts charged or reserved, or the overshoot beyond a reservation. */
export const Amounts = perDimension(Count);
export type Amounts = z.infer<typeof Amounts>;

/** What one attempt cost: `charged` never exceeds what was reserved, the rest stands in `overshoot`. */
export const Cost = z.strictObject({ charged: Amounts, overshoot: Amounts });
export type Cost = z.infer<typeof Cost>;
