import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aggregateRuns, aggregateVerdicts, unstableObligations } from '#shared/domain/aggregate.ts';
import type { Rank, Verdict } from '#shared/domain/verdict.ts';

type Ranked = Extract<Verdict, { kind: 'ranked' }>;

const obligations = (aggregates: readonly ('worst' | 'median')[], cap = 9) =>
  aggregates.map((aggregate, i) => ({
    key: `o${i}`,
    title: `Obligation ${i}`,
    cap,
    kind: 'count' as const,
    visibility: 'full' as const,
    onCandidateTimeout: 'cap' as const,
    missing: 'malformed' as const,
    aggregate,
  }));
const contract = (aggregates: readonly ('worst' | 'median')[]) => ({
  obligations: obligations(aggregates),
  advisory: [
    { key: 'slow', better: 'lower' as const },
    { key: 'wide', better: 'higher' as const },
  ],
});
const run = (id: string) => ({ id, durationMs: 1, output: null });
const ranked = (id: string, rank: Rank, more: Partial<Ranked> = {}): Ranked => ({
  kind: 'ranked',
  rank,
  runs: [run(id)],
  stable: true,
  advisory: {},
  details: {},
  ...more,
});

const world = fc.array(fc.constantFrom('worst' as const, 'median' as const), { minLength: 1, maxLength: 5 }).chain((aggregates) =>
  fc.record({
    aggregates: fc.constant(aggregates),
    ranks: fc.array(fc.tuple(...aggregates.map(() => fc.integer({ min: 0, max: 9 }))), { minLength: 1, maxLength: 7 }),
  }),
);

describe('aggregateRuns', () => {
  test('worst is at least every value and one of them; at least half of the values are no worse than a median, and at least half no better', () => {
    fc.assert(
      fc.property(world, ({ aggregates, ranks }) => {
        const result = aggregateRuns(obligations(aggregates), ranks);
        expect(result).toHaveLength(aggregates.length);
        for (const [i, aggregate] of aggregates.entries()) {
          const values = ranks.map((rank) => rank[i] ?? Number.NaN);
          const got = result[i] ?? Number.NaN;
          expect(values).toContain(got);
          const above = values.filter((v) => v > got).length;
          const [atMost, atLeast] = [values.filter((v) => v <= got).length * 2, values.filter((v) => v >= got).length * 2];
          // Of an even number of values the larger of the two in the middle: strictly more than half are no larger.
          expect(aggregate === 'worst' ? above === 0 : atLeast >= values.length && atMost > values.length).toBe(true);
        }
      }),
    );
  });

  test('the order of the measurements does not matter, and equal measurements are themselves', () => {
    fc.assert(
      fc.property(world, fc.nat(), ({ aggregates, ranks }, by) => {
        const turned = [...ranks.slice(by % ranks.length), ...ranks.slice(0, by % ranks.length)];
        expect(aggregateRuns(obligations(aggregates), turned)).toEqual(aggregateRuns(obligations(aggregates), ranks));
        expect(aggregateRuns(obligations(aggregates), [...turned].reverse())).toEqual(aggregateRuns(obligations(aggregates), ranks));
        const [first = []] = ranks;
        expect(aggregateRuns(obligations(aggregates), [first, first, first])).toEqual(first);
      }),
    );
  });

  test('a worse measurement never makes the aggregate better', () => {
    fc.assert(
      fc.property(world, fc.nat(), fc.nat(), ({ aggregates, ranks }, which, where) => {
        const before = aggregateRuns(obligations(aggregates), ranks);
        const worse = ranks.map((rank, r) => rank.map((v, i) => v + (r === which % ranks.length && i === where % rank.length ? 1 : 0)));
        const after = aggregateRuns(obligations(aggregates), worse);
        expect(after.every((v, i) => v >= (before[i] ?? Number.NaN))).toBe(true);
      }),
    );
  });

  test('of an even number the larger of the two in the middle', () => {
    expect(
      aggregateRuns(obligations(['median', 'worst']), [
        [1, 1],
        [4, 4],
      ]),
    ).toEqual([4, 4]);
    expect(
      aggregateRuns(obligations(['median', 'worst']), [
        [1, 1],
        [4, 4],
        [2, 2],
      ]),
    ).toEqual([2, 4]);
  });

  test('no measurements, and ranks of another length, are refused', () => {
    expect(() => aggregateRuns(obligations(['worst']), [])).toThrow(new RangeError('no measurements to aggregate'));
    expect(() => aggregateRuns(obligations(['worst']), [[1, 2]])).toThrow(/has 2 coordinates, the contract 1/);
  });
});

test('unstable are the obligations that took two values, except where the median decides', () => {
  const ranks = [
    [1, 1, 5],
    [1, 2, 4],
  ];
  expect(unstableObligations(obligations(['worst', 'worst', 'median']), ranks)).toEqual([
    { key: 'o1', title: 'Obligation 1', values: [1, 2] },
  ]);
});

describe('aggregateVerdicts', () => {
  test('one measurement is itself', () => {
    const only = ranked('a', [1], { advisory: { slow: 3 }, details: { o0: 'why' } });
    expect(aggregateVerdicts(contract(['worst']), [only])).toEqual(only);
  });

  test('names all runs, takes the worst advisory values and the details that belong to the aggregate', () => {
    const verdict = aggregateVerdicts(contract(['worst', 'median']), [
      ranked('a', [1, 7], { advisory: { slow: 3, wide: 3 }, details: { o0: 'one', o1: 'seven', slow: 'first' } }),
      ranked('b', [2, 5], { advisory: { slow: 9 }, details: { o0: 'two', o1: 'five', slow: 'second' } }),
      ranked('c', [2, 6], { advisory: { slow: 4, wide: 1 }, details: { o0: 'two again', o1: 'six' } }),
    ]);
    expect(verdict).toEqual({
      kind: 'ranked',
      rank: [2, 6],
      runs: [run('a'), run('b'), run('c')],
      stable: false,
      advisory: { slow: 9, wide: 1 },
      details: { o0: 'two', o1: 'six', slow: 'first' },
    });
  });

  test('a median that moves leaves it stable; a measurement that was not stable does not', () => {
    expect(aggregateVerdicts(contract(['median']), [ranked('a', [1]), ranked('b', [2])])).toMatchObject({ stable: true, rank: [2] });
    expect(aggregateVerdicts(contract(['worst']), [ranked('a', [1]), ranked('b', [1], { stable: false })])).toMatchObject({
      stable: false,
    });
  });

  test('the first that is no well-formed rank stands for all, with the runs of all', () => {
    const crash: Verdict = { kind: 'no_verdict', code: 'crash', message: 'it fell over', runs: [run('x')] };
    expect(aggregateVerdicts(contract(['worst']), [ranked('a', [1]), crash, ranked('b', [10])])).toEqual({
      ...crash,
      runs: [run('a'), run('x'), run('b')],
    });
    expect(aggregateVerdicts(contract(['worst']), [ranked('a', [1]), ranked('b', [10])])).toMatchObject({
      kind: 'no_verdict',
      code: 'malformed',
      runs: [run('a'), run('b')],
    });
    const invalid: Verdict = { kind: 'invalid', code: 'schema', message: 'no' };
    expect(aggregateVerdicts(contract(['worst']), [invalid])).toEqual(invalid);
  });
});
