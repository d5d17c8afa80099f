// Values of the domain for property tests.
import * as fc from 'fast-check';
import { type Amounts, budgetDimensions } from '#shared/domain/budget.ts';
import type { Rank, Verdict } from '#shared/domain/verdict.ts';
import { noAmounts } from '#shared/domain/budget-ledger.ts';

/** A verdict that is ranked with `rank`, measured once. */
export function ranked(rank: Rank, stable = true): Extract<Verdict, { kind: 'ranked' }> {
  return { kind: 'ranked', rank, runs: [], stable, advisory: {}, details: {} };
}

/** Amounts of 0 to `max` in every dimension. */
export function amounts(max: number): fc.Arbitrary<Amounts> {
  return fc
    .tuple(...budgetDimensions.map(() => fc.nat({ max })))
    .map((values) => budgetDimensions.reduce((sum, d, i) => ({ ...sum, [d]: values[i] ?? 0 }), noAmounts()));
}
