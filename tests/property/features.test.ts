import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compress, features } from '#shared/domain/features.ts';
import { Features } from '#shared/domain/memory.ts';
import { outcomes } from '#shared/domain/transition.ts';
import type { Rank, Verdict } from '#shared/domain/verdict.ts';
import { ranked } from './support/arbitraries.ts';

const cap = 2 ** 31 - 1;
const coordinate = fc.oneof(fc.nat({ max: 3 }), fc.integer({ min: 0, max: cap }));
const pair = fc.array(fc.tuple(coordinate, coordinate), { minLength: 1, maxLength: 40 }).map((all): { head: Rank; after: Rank } => ({
  head: all.map(([h]) => h),
  after: all.map(([, a]) => a),
}));
const outcome = fc.constantFrom(...outcomes);
const unranked: fc.Arbitrary<Verdict | null> = fc.constantFrom(
  null,
  { kind: 'invalid', code: 'empty', message: '' },
  { kind: 'no_verdict', code: 'crash', message: '', runs: [] },
);

test('features of a ranked verdict are bounded, consistent and pass their schema', () => {
  fc.assert(
    fc.property(pair, outcome, ({ head, after }, o) => {
      const f = Features.parse(features(head, ranked(after), o));
      expect((f.improved ?? 0) + (f.worsened ?? 0) + (f.tied ?? 0)).toBe(f.m);
      expect(f.m).toBe(head.length);
      for (const [count, ratio] of [
        [f.improved, f.improvedRatio],
        [f.worsened, f.worsenedRatio],
        [f.tied, f.tiedRatio],
      ]) {
        expect(Math.abs((ratio ?? Number.NaN) - (count ?? Number.NaN) / f.m)).toBeLessThanOrEqual(5e-7);
      }
      expect(f.hasVerdict && f.verdictKind === 'ranked' && f.committed === (o === 'commit')).toBe(true);
      expect([f.zeroBefore, f.zeroAfter]).toEqual([head.every((r) => r === 0), after.every((r) => r === 0)]);
      for (const x of [f.sumBeforeCompressed, f.sumAfterCompressed, f.improvedRatio, f.worsenedRatio, f.tiedRatio]) {
        expect(Number((x ?? Number.NaN).toFixed(6))).toBe(x);
      }
    }),
    { numRuns: 1_000 },
  );
});

test('golden: two of seven better, one worse', () => {
  expect(features([3, 1, 0, 2, 5, 1, 0], ranked([2, 1, 0, 3, 0, 1, 0]), 'incomparable')).toEqual({
    hasVerdict: true,
    verdictKind: 'ranked',
    m: 7,
    sumBefore: 12,
    sumBeforeCompressed: 0.923077,
    sumAfter: 7,
    sumAfterCompressed: 0.875,
    improved: 2,
    worsened: 1,
    tied: 4,
    improvedRatio: 0.285714,
    worsenedRatio: 0.142857,
    tiedRatio: 0.571429,
    committed: false,
    zeroBefore: false,
    zeroAfter: false,
    outcome: 'incomparable',
  });
});

test('without a ranked verdict the "after" fields are null and only the head before any swap is described', () => {
  fc.assert(
    fc.property(pair, unranked, outcome, ({ head }, verdict, o) => {
      const f = Features.parse(features(head, verdict, o));
      expect([
        f.sumAfter,
        f.sumAfterCompressed,
        f.improved,
        f.worsened,
        f.tied,
        f.improvedRatio,
        f.worsenedRatio,
        f.tiedRatio,
        f.zeroAfter,
      ]).toEqual(Array.from({ length: 9 }, () => null));
      expect([f.hasVerdict, f.verdictKind]).toEqual([false, verdict?.kind ?? 'no_verdict']);
      expect(f.sumBefore).toBe(head.reduce((s, r) => s + r, 0));
    }),
  );
});

test('a function of head rank, verdict rank and outcome: nothing else of the verdict shows, and arguments are left alone', () => {
  fc.assert(
    fc.property(pair, fc.boolean(), outcome, ({ head, after }, stable, o) => {
      const before = structuredClone({ head, after });
      const plain = features(head, ranked(after), o);
      expect(features([...head], { ...ranked([...after], stable), details: { o0: 'text' }, advisory: { ms: 3 } }, o)).toEqual(plain);
      expect({ head, after }).toEqual(before);
    }),
  );
});

test('the compression keeps order, starts at 0 and never exceeds 1', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), fc.maxSafeInteger(), (a, b) => {
      const [low, high] = [Math.min(Math.abs(a), Math.abs(b)), Math.max(Math.abs(a), Math.abs(b))];
      expect(compress(low)).toBeLessThanOrEqual(compress(high));
      expect(compress(high)).toBeLessThanOrEqual(1);
    }),
  );
  expect([0, 1, 2, 3, 9, 999_999, 10_000_000].map(compress)).toEqual([0, 0.5, 0.666667, 0.75, 0.9, 0.999999, 1]);
});

test('a verdict of another length is refused', () => {
  expect(() => features([1, 2], ranked([1]), 'tie')).toThrow('the verdict has 1 coordinates, the head 2');
});
