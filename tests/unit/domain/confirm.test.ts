import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aggregateRuns } from '#shared/domain/aggregate.ts';
import { canDominate, type ConfirmationFacts, confirmationStep, measurementsPerAttempt, pairedProgress } from '#shared/domain/confirm.ts';
import { relate } from '#shared/domain/rank.ts';
import type { Rank, Verdict } from '#shared/domain/verdict.ts';

type Aggregate = 'worst' | 'median';

const contract = (aggregates: readonly Aggregate[], confirmRuns: number, paired: boolean): ConfirmationFacts['contract'] => ({
  obligations: aggregates.map((aggregate, i) => ({
    key: `o${i}`,
    title: `Obligation ${i}`,
    cap: 9,
    kind: 'count',
    visibility: 'full',
    onCandidateTimeout: 'cap',
    missing: 'malformed',
    aggregate,
  })),
  advisory: [],
  measurement: { preflightRuns: 1, confirmRuns, paired, infraRetries: 0 },
});
const ranked = (rank: Rank): Verdict => ({
  kind: 'ranked',
  rank,
  runs: [{ id: rank.join('-'), durationMs: 1, output: null }],
  stable: true,
  advisory: {},
  details: {},
});
const crash: Verdict = { kind: 'no_verdict', code: 'crash', message: 'it fell over', runs: [] };

const step = (
  facts: { aggregates?: readonly Aggregate[]; confirmRuns?: number; paired?: boolean; head?: Rank; known?: Rank | null },
  candidate: readonly (Rank | Verdict)[],
  base: readonly (Rank | Verdict)[] = [],
) => {
  const { aggregates = ['worst', 'worst'], confirmRuns = 3, paired = true, head = [5, 5], known = null } = facts;
  const verdict = (r: Rank | Verdict) => (Array.isArray(r) ? ranked(r) : r);
  return confirmationStep({
    contract: contract(aggregates, confirmRuns, paired),
    head,
    known,
    candidate: candidate.map(verdict),
    base: base.map(verdict),
  });
};

describe('which measurement comes next', () => {
  test('the candidate afresh when it comes from the cache, then base and candidate in turn, until both have been measured as often', () => {
    const good = [4, 5];
    expect(step({ known: good }, [])).toEqual({ next: 'candidate' });
    expect(step({}, [good])).toEqual({ next: 'base' });
    expect(step({}, [good], [[5, 5]])).toEqual({ next: 'candidate' });
    expect(step({}, [good, good], [[5, 5]])).toEqual({ next: 'base' });
    expect(
      step(
        {},
        [good, good],
        [
          [5, 5],
          [5, 5],
        ],
      ),
    ).toEqual({ next: 'candidate' });
    expect(
      step(
        {},
        [good, good, good],
        [
          [5, 5],
          [5, 5],
        ],
      ),
    ).toEqual({ next: 'base' });
    expect(
      step(
        {},
        [good, good, good],
        [
          [5, 5],
          [5, 5],
          [5, 5],
        ],
      ),
    ).toMatchObject({ next: null, held: true, unstable: false, verdict: { rank: good } });
    expect(measurementsPerAttempt({ preflightRuns: 9, confirmRuns: 3, paired: true, infraRetries: 2 })).toBe(6);
    expect(measurementsPerAttempt({ preflightRuns: 9, confirmRuns: 3, paired: false, infraRetries: 2 })).toBe(3);
  });

  test('without pairing the candidate alone, and a single run holds at once', () => {
    expect(step({ paired: false }, [[4, 5]])).toEqual({ next: 'candidate' });
    expect(step({ paired: false, confirmRuns: 1 }, [[4, 5]])).toMatchObject({ next: null, held: true });
  });

  test('it ends at the first measurement that differs', () => {
    expect(
      step({ paired: false }, [
        [4, 5],
        [5, 5],
      ]),
    ).toMatchObject({ next: null, held: false, unstable: true, verdict: { rank: [5, 5], stable: false } });
    // Although its worst still dominates: the base was stable, this is not.
    expect(
      step({ paired: false }, [
        [3, 5],
        [4, 5],
      ]),
    ).toMatchObject({ next: null, held: false, unstable: true });
    expect(step({ paired: false, known: [3, 5] }, [[4, 5]])).toMatchObject({ next: null, held: false, unstable: true });
  });

  test('it ends at the first measurement without a rank, of the candidate or of the base', () => {
    expect(step({}, [[4, 5], crash], [[5, 5]])).toMatchObject({ next: null, held: false, verdict: { kind: 'no_verdict', code: 'crash' } });
    expect(step({}, [[4, 5]], [crash])).toMatchObject({
      next: null,
      held: false,
      verdict: { kind: 'no_verdict', code: 'crash', message: expect.stringContaining('base'), runs: [{ id: '4-5' }] },
    });
    expect(step({}, [[4, 5]], [[5, 10]])).toMatchObject({ next: null, verdict: { kind: 'no_verdict', code: 'malformed' } });
    expect(
      step(
        {},
        [
          [4, 5],
          [4, 10],
        ],
        [[5, 5]],
      ),
    ).toMatchObject({ next: null, verdict: { kind: 'no_verdict', code: 'malformed' } });
  });

  test('the paired check refuses once the base is as good; a base that is worse than certified helps nothing', () => {
    expect(step({}, [[4, 5]], [[4, 5]])).toMatchObject({ next: null, held: false, unstable: true });
    expect(
      step(
        {},
        [
          [4, 5],
          [4, 5],
        ],
        [
          [5, 5],
          [4, 5],
        ],
      ),
    ).toMatchObject({ next: null, held: false, unstable: true });
    // Better than the base is now, worse than it was certified.
    expect(step({ confirmRuns: 1 }, [[4, 6]], [[9, 9]])).toMatchObject({ next: null, held: false });
    expect(step({ confirmRuns: 1 }, [[5, 5]], [[9, 9]])).toMatchObject({ next: null, held: false });
    // One separated coordinate is enough, whatever the others do.
    expect(step({ confirmRuns: 1 }, [[4, 4]], [[5, 3]])).toMatchObject({ next: null, held: true });
  });

  test('a median may move as long as it can still dominate', () => {
    const noisy = { aggregates: ['median', 'worst'] as const, paired: false };
    expect(step(noisy, [[3, 5]])).toEqual({ next: 'candidate' });
    expect(
      step(noisy, [
        [3, 5],
        [9, 5],
      ]),
    ).toEqual({ next: 'candidate' });
    expect(
      step(noisy, [
        [3, 5],
        [9, 5],
        [4, 5],
      ]),
    ).toMatchObject({ held: true, verdict: { rank: [4, 5], stable: true } });
    expect(
      step(noisy, [
        [3, 5],
        [9, 5],
        [9, 5],
      ]),
    ).toMatchObject({ held: false, unstable: false, verdict: { rank: [9, 5] } });
    expect(
      step({ ...noisy, confirmRuns: 5 }, [
        [3, 5],
        [9, 5],
        [9, 5],
        [9, 5],
      ]),
    ).toMatchObject({ next: null, held: false });
  });
});

const small = fc.integer({ min: 0, max: 4 });
const rank = fc.tuple(small, small);
const world = fc.record({
  aggregates: fc.tuple(fc.constantFrom<Aggregate>('worst', 'median'), fc.constantFrom<Aggregate>('worst', 'median')),
  head: rank,
  confirmRuns: fc.integer({ min: 1, max: 5 }),
  paired: fc.boolean(),
  candidate: fc.infiniteStream(rank),
  base: fc.infiniteStream(rank),
});

test('over all measurements: what holds dominates and, paired, is separated from the base; never more measurements than reserved', () => {
  let held = 0;
  fc.assert(
    fc.property(world, ({ aggregates, head, confirmRuns, paired, candidate: c, base: b }) => {
      const [candidate, base]: [Rank[], Rank[]] = [[], []];
      const rules = contract(aggregates, confirmRuns, paired);
      const now = () => confirmationStep({ contract: rules, head, known: null, candidate: candidate.map(ranked), base: base.map(ranked) });
      let step = now();
      for (; step.next !== null; step = now()) (step.next === 'base' ? base : candidate).push(ensureNext(step.next === 'base' ? b : c));
      expect(candidate.length + base.length).toBeLessThanOrEqual(measurementsPerAttempt(rules.measurement));
      const whole = candidate.length === confirmRuns && base.length === (paired ? confirmRuns : 0);
      const dominates = relate(aggregateRuns(rules.obligations, candidate), head) === 'dominates';
      expect(!step.held || (whole && dominates && !step.unstable && (!paired || pairedProgress(candidate, base)))).toBe(true);
      // What ends early without being unstable does not dominate: the decision needs a reason to refuse it.
      expect(step.held || step.unstable || !dominates).toBe(true);
      held += step.held ? 1 : 0;
    }),
    { numRuns: 2_000 },
  );
  expect(held).toBeGreaterThan(20);
});

const ensureNext = (ranks: fc.Stream<Rank>): Rank => {
  const { value } = ranks.next();
  return [...value];
};

test('canDominate: false only when no further measurement could help', () => {
  fc.assert(
    fc.property(
      world,
      fc.array(rank, { minLength: 1, maxLength: 4 }),
      fc.array(rank, { maxLength: 3 }),
      ({ aggregates, head }, before, after) => {
        const { obligations } = contract(aggregates, 1, false);
        const could = canDominate(obligations, head, before, after.length);
        const does = relate(aggregateRuns(obligations, [...before, ...after]), head) === 'dominates';
        expect(could || !does).toBe(true);
      },
    ),
    { numRuns: 1_000 },
  );
});
