import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Amounts, Budget, budgetDimensions, Cost } from '#shared/domain/budget.ts';
import { addAmounts, createLedger, noAmounts, settleCost, type Usage } from '#shared/domain/budget-ledger.ts';
import { amounts } from './support/arbitraries.ts';

const limit = fc.option(fc.integer({ min: 1, max: 30 }), { freq: 3 });
const budget = fc
  .record({
    attempts: fc.integer({ min: 1, max: 30 }),
    rounds: limit,
    requests: limit,
    promptTokens: limit,
    completionTokens: limit,
    verifierRuns: limit,
    verifierMs: limit,
    wallMs: limit,
  })
  .map((b) => Budget.parse(b));

// What a server may report: nothing, less, more, and numbers that are none.
const reported = fc.oneof(
  { weight: 4, arbitrary: fc.nat({ max: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom(1e9, 2 ** 60, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY) },
);
const usage: fc.Arbitrary<Usage> = fc.oneof(
  fc.constant('missing' as const),
  fc.record(Object.fromEntries(budgetDimensions.map((d) => [d, reported])), { requiredKeys: [] }),
);

type Step =
  | { readonly kind: 'reserve'; readonly amounts: Amounts }
  | { readonly kind: 'settle'; readonly which: number; readonly usage: Usage; readonly again: boolean };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('reserve' as const), amounts: amounts(6) }),
  fc.record({ kind: fc.constant('settle' as const), which: fc.nat(), usage, again: fc.boolean() }),
);

test('whatever is reported, and however often: used stays within the budget, charges within reservations, and the books balance', () => {
  fc.assert(
    fc.property(budget, fc.array(step, { maxLength: 40 }), (b, steps) => {
      const ledger = createLedger(b);
      const open: Amounts[] = [];
      let charged = noAmounts();
      let over = noAmounts();
      for (const s of steps) {
        const before = ledger.remaining();
        const fits = s.kind === 'reserve' && budgetDimensions.every((d) => s.amounts[d] <= (before[d] ?? Number.POSITIVE_INFINITY));
        const kept = s.kind === 'reserve' && ledger.reserve(s.amounts);
        expect(kept).toBe(fits);
        if (s.kind === 'reserve' && kept) open.push(s.amounts);
        const unchanged = s.kind !== 'reserve' || kept || JSON.stringify(ledger.remaining()) === JSON.stringify(before);
        expect(unchanged).toBe(true);
        const settled = s.kind === 'settle' ? open.splice(s.which % Math.max(1, open.length), 1) : [];
        for (const reservation of settled) {
          // A duplicated report settles the same reservation a second time.
          for (let times = s.kind === 'settle' && s.again ? 2 : 1; times > 0; times--) {
            const cost = Cost.parse(ledger.settle(reservation, s.kind === 'settle' ? s.usage : 'missing'));
            charged = addAmounts(charged, cost.charged);
            over = addAmounts(over, cost.overshoot);
            expect(budgetDimensions.every((d) => cost.charged[d] <= reservation[d])).toBe(true);
          }
        }
        const used = ledger.used();
        const left = ledger.remaining();
        expect(used).toEqual(charged);
        expect(ledger.overshoot()).toEqual(over);
        for (const d of budgetDimensions) {
          expect(used[d]).toBeLessThanOrEqual(b[d] ?? Number.POSITIVE_INFINITY);
          expect(left[d] === null).toBe(b[d] === null);
          expect(left[d] ?? 0).toBeGreaterThanOrEqual(0);
        }
        expect(ledger.exhausted()).toBe(budgetDimensions.find((d) => left[d] === 0) ?? null);
      }
    }),
    { numRuns: 600 },
  );
});

test('one settlement charges the report up to the reservation; missing or impossible reports charge the reservation', () => {
  fc.assert(
    fc.property(amounts(20), usage, (reserved, report) => {
      const { charged, overshoot } = settleCost(reserved, report);
      for (const d of budgetDimensions) {
        const r = report === 'missing' ? undefined : report[d];
        const counts = r !== undefined && Number.isSafeInteger(r) && r >= 0;
        expect(charged[d]).toBe(counts ? Math.min(r, reserved[d]) : reserved[d]);
        expect(overshoot[d]).toBe(counts ? Math.max(0, r - reserved[d]) : 0);
      }
    }),
    { numRuns: 600 },
  );
});

test('settling with the exact reservation and settling without a report leave the same ledger', () => {
  fc.assert(
    fc.property(budget, amounts(6), (b, reserved) => {
      const [exact, missing] = [createLedger(b), createLedger(b)];
      fc.pre(exact.reserve(reserved) && missing.reserve(reserved));
      expect(exact.settle(reserved, reserved)).toEqual(missing.settle(reserved, 'missing'));
      expect(exact.remaining()).toEqual(missing.remaining());
    }),
  );
});
