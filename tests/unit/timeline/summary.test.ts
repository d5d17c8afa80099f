// Merged transitions: nothing is lost by merging, whatever the resolution, the filter or the order in which rows arrive.
import { describe, expect, test } from 'vitest';
import { Chain } from '#renderer/features/timeline/chain.ts';
import { emptyBucket, floating, Summary, sumOf } from '#renderer/features/timeline/summary.ts';
import { outcomes } from '#shared/domain/transition.ts';
import { fakeData, fakeRun } from '../../component/timeline-fake.ts';

const none: ReadonlySet<number> = new Set();

describe('summary', () => {
  test.each([1, 2, 8, 16, 32, 64, 128, 1024, 4096, 16_384])(
    'at %i transitions a bucket every transition and every change is counted once',
    (resolution) => {
      const run = fakeRun(5003);
      const summary = new Summary(run, none);
      const bucket = emptyBucket(run.m);
      const counts = outcomes.map(() => 0);
      const better = run.obligations.map(() => 0);
      for (let b = 0; b * resolution < run.count; b++) {
        summary.read(bucket, b, resolution);
        bucket.outcomes.forEach((k, i) => (counts[i] = (counts[i] ?? 0) + k));
        bucket.better.forEach((k, i) => (better[i] = (better[i] ?? 0) + k));
      }
      const expected = outcomes.map(() => 0);
      const improved = run.obligations.map(() => 0);
      for (let n = 1; n <= run.count; n++) {
        expected[run.outcome(n)] = (expected[run.outcome(n)] ?? 0) + 1;
        const rank = run.rank(n);
        rank?.forEach((v, i) => {
          if (v < (run.baseRank(n)[i] ?? 0)) improved[i] = (improved[i] ?? 0) + 1;
        });
      }
      expect(counts).toEqual(expected);
      expect(better).toEqual(improved);
      expect(counts[0]).toBe(run.chainLength - 1);
    },
  );

  test('every commit is in the bucket that covers it', () => {
    const run = fakeRun(3000);
    const summary = new Summary(run, none);
    const bucket = emptyBucket(run.m);
    for (let seq = 1; seq < run.chainLength; seq++) {
      for (const resolution of [8, 64, 512]) {
        summary.read(bucket, Math.floor((run.chainTransition(seq) - 1) / resolution), resolution);
        expect(bucket.outcomes[0]).toBeGreaterThan(0);
      }
    }
  });

  test('the range of potentials is that of the candidates', () => {
    const run = fakeRun(256);
    const summary = new Summary(run, none);
    const bucket = emptyBucket(run.m);
    summary.read(bucket, 0, 256);
    for (const [p, code] of floating.entries()) {
      const sums: number[] = [];
      for (let n = 1; n <= 256; n++) {
        const rank = run.rank(n);
        if (run.outcome(n) === code && rank) sums.push(sumOf(rank));
      }
      expect([bucket.potentials[p * 2], bucket.potentials[p * 2 + 1]]).toEqual([Math.min(...sums), Math.max(...sums)]);
    }
  });

  test('hidden outcomes are left out, all others stay', () => {
    const run = fakeRun(1000);
    const bucket = emptyBucket(run.m);
    new Summary(run, new Set([2])).read(bucket, 0, 1024);
    expect(bucket.outcomes[2]).toBe(0);
    expect(bucket.outcomes.reduce((a, b) => a + b, 0)).toBeLessThan(1000);
    expect(bucket.outcomes[0]).toBe(run.chainLength - 1);
  });

  test('rows that arrive later are taken in by update, in any order', () => {
    let until = 0;
    const whole = fakeRun(700);
    const rows = Array.from({ length: 700 }, (_, i) => {
      const n = i + 1;
      const rank = whole.rank(n);
      return {
        outcome: outcomes[whole.outcome(n)] ?? 'tie',
        baseSeq: whole.baseSeq(n),
        rank: rank ? [...rank] : null,
        slot: whole.slot(n),
        round: whole.round(n),
      };
    });
    const chain = Array.from({ length: whole.chainLength }, (_, seq) => ({
      transition: whole.chainTransition(seq),
      rank: [...whole.chainRank(seq)],
    }));
    const partial = fakeData(
      whole.obligations.map((o) => o.key),
      chain,
      rows,
      (n) => n > 400 || n <= until,
    );
    const summary = new Summary(partial, none);
    const bucket = emptyBucket(8);
    summary.read(bucket, 0, 1024);
    expect(bucket.outcomes.reduce((a, b) => a + b, 0)).toBe(300);
    until = 400;
    summary.update(partial);
    summary.read(bucket, 0, 1024);
    expect(bucket.outcomes.reduce((a, b) => a + b, 0)).toBe(700);
  });

  test('changes are not counted against a base that is not loaded', () => {
    const data = fakeData(['a'], [], [{ outcome: 'regression', baseSeq: 0, rank: [5], slot: 0, round: 1 }]);
    const bucket = emptyBucket(1);
    new Summary(data, none).read(bucket, 0, 16);
    expect([...bucket.worse]).toEqual([0]);
  });
});

describe('chain', () => {
  test('finds the head before any transition', () => {
    const run = fakeRun(400);
    const chain = new Chain(run);
    for (let n = 1; n <= 400; n++) {
      const seq = chain.headBefore(n);
      expect(chain.at(seq)).toBeLessThan(n);
      expect(seq + 1 < chain.length ? chain.at(seq + 1) : Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(n);
    }
    expect(chain.potential(0)).toBe(41);
    expect(new Chain(fakeData(['a'], [], [])).headBefore(1)).toBe(-1);
  });
});
