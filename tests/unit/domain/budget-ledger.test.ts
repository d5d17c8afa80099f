import { expect, test } from 'vitest';
import { addAmounts, createLedger, noAmounts, settleCost } from '#shared/domain/budget-ledger.ts';
import { budgetOf } from '../../support/contract.ts';

const budget = budgetOf(3, { completionTokens: 100 });
const some = (attempts: number, completionTokens: number) => ({ ...noAmounts(), attempts, completionTokens });

test('reserve, settle with less, settle with more', () => {
  const ledger = createLedger(budget);
  expect(ledger.reserve(some(1, 60))).toBe(true);
  expect(ledger.remaining()).toMatchObject({ attempts: 2, completionTokens: 40, wallMs: null });
  expect(ledger.reserve(some(1, 41))).toBe(false);
  expect(ledger.settle(some(1, 60), { attempts: 1, completionTokens: 20 })).toEqual({ charged: some(1, 20), overshoot: noAmounts() });
  expect(ledger.remaining()).toMatchObject({ attempts: 2, completionTokens: 80 });
  expect(ledger.reserve(some(1, 80))).toBe(true);
  expect(ledger.settle(some(1, 80), { attempts: 1, completionTokens: 95 })).toEqual({ charged: some(1, 80), overshoot: some(0, 15) });
  expect(ledger.used()).toEqual(some(2, 100));
  expect(ledger.overshoot()).toEqual(some(0, 15));
  expect(ledger.exhausted()).toBe('completionTokens');
});

test('missing usage charges the reservation; a second report of it charges nothing', () => {
  const ledger = createLedger(budget);
  ledger.reserve(some(1, 50));
  expect(ledger.settle(some(1, 50), 'missing')).toEqual({ charged: some(1, 50), overshoot: noAmounts() });
  expect(ledger.settle(some(1, 50), { attempts: 1, completionTokens: 50 })).toEqual({ charged: noAmounts(), overshoot: some(1, 50) });
  expect(ledger.used()).toEqual(some(1, 50));
});

test('a resumed run starts from what was used; amounts handed out are copies', () => {
  const used = some(2, 100);
  const ledger = createLedger(budget, used);
  used.attempts = 0;
  ledger.used().attempts = 0;
  expect(ledger.used()).toEqual(some(2, 100));
  expect(ledger.exhausted()).toBe('completionTokens');
  expect(ledger.reserve(some(1, 0))).toBe(true);
  expect(ledger.exhausted()).toBe('attempts');
});

test('dimensions without a limit are counted and never refuse', () => {
  const ledger = createLedger(budget);
  const much = { ...noAmounts(), wallMs: 2 ** 40 };
  expect(ledger.reserve(much)).toBe(true);
  ledger.settle(much, much);
  expect([ledger.used().wallMs, ledger.remaining().wallMs, ledger.exhausted()]).toEqual([2 ** 40, null, null]);
});

test('wrong amounts of the caller are refused by name', () => {
  const ledger = createLedger(budget);
  expect(() => ledger.reserve(some(-1, 0))).toThrow('reservation: attempts is -1, must be an integer from 0');
  expect(() => ledger.settle(some(0, 0.5), 'missing')).toThrow('settlement: completionTokens is 0.5, must be an integer from 0');
  expect(() => createLedger(budget, some(4, 0))).toThrow('used: attempts is 4, above the budget of 3');
  expect(() => createLedger(budget, some(Number.NaN, 0))).toThrow('used: attempts is NaN, must be an integer from 0');
});

test('pure helpers', () => {
  expect(addAmounts(some(1, 2), some(3, 4))).toEqual(some(4, 6));
  expect(settleCost(some(1, 10), { completionTokens: 12 })).toEqual({ charged: some(1, 10), overshoot: some(0, 2) });
});
