import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { budgetDimensions } from '#shared/domain/budget.ts';
import { noAmounts } from '#shared/domain/budget-ledger.ts';
import { forecastAttempts } from '#shared/domain/forecast.ts';
import { budgetOf } from '../../support/contract.ts';

const unlimited = budgetOf(100);
const one = { ...noAmounts(), attempts: 1 };

test('the tightest dimension decides; few is below three', () => {
  expect(forecastAttempts(unlimited, one)).toEqual({ attempts: 100, dimension: 'attempts', few: false });
  expect(forecastAttempts({ ...unlimited, verifierRuns: 13 }, { ...one, verifierRuns: 6 })).toEqual({
    attempts: 2,
    dimension: 'verifierRuns',
    few: true,
  });
  expect(forecastAttempts({ ...unlimited, verifierRuns: 18 }, { ...one, verifierRuns: 6 })).toMatchObject({ attempts: 3, few: false });
  // A round is shared by its slots.
  expect(forecastAttempts({ ...unlimited, rounds: 5 }, { ...one, rounds: 1 / 4 })).toMatchObject({ attempts: 20, dimension: 'rounds' });
  expect(forecastAttempts({ ...unlimited, wallMs: 10 }, { ...one, wallMs: 11 })).toEqual({ attempts: 0, dimension: 'wallMs', few: true });
});

test('so many attempts fit into every dimension, and one more does not fit into the one that is named', () => {
  const limit = fc.option(fc.integer({ min: 1, max: 1_000 }), { nil: null });
  const budget = fc.record({
    attempts: fc.integer({ min: 1, max: 1_000 }),
    rounds: limit,
    requests: limit,
    promptTokens: limit,
    completionTokens: limit,
    verifierRuns: limit,
    verifierMs: limit,
    wallMs: limit,
  });
  const each = fc.integer({ min: 0, max: 50 });
  const amounts = fc.record({
    attempts: fc.constant(1),
    rounds: each,
    requests: each,
    promptTokens: each,
    completionTokens: each,
    verifierRuns: each,
    verifierMs: each,
    wallMs: each,
  });
  fc.assert(
    fc.property(budget, amounts, (b, per) => {
      const { attempts, dimension } = forecastAttempts(b, per);
      for (const d of budgetDimensions) expect(attempts * per[d]).toBeLessThanOrEqual(b[d] ?? Number.POSITIVE_INFINITY);
      expect((attempts + 1) * per[dimension]).toBeGreaterThan(b[dimension] ?? Number.NaN);
    }),
  );
});

test('amounts that are none are refused', () => {
  expect(() => forecastAttempts(unlimited, { ...one, verifierMs: Number.NaN })).toThrow(RangeError);
  expect(() => forecastAttempts(unlimited, { ...one, verifierMs: -1 })).toThrow(RangeError);
  expect(() => forecastAttempts(unlimited, noAmounts())).toThrow(/no limited dimension/);
});
