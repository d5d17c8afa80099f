import { expect, test } from 'vitest';
import { explainOutcome } from '#shared/domain/reason.ts';

const obligations = ['a', 'b', 'c', 'd'].map((key) => ({ key, title: `Title ${key}` }));

test('what improved, what worsened, how many stayed and how many are done', () => {
  expect(explainOutcome({ obligations, before: [3, 1, 0, 2], after: [1, 2, 0, 2], outcome: 'incomparable' })).toEqual({
    outcome: 'incomparable',
    relation: 'incomparable',
    improved: [{ key: 'a', title: 'Title a', before: 3, after: 1 }],
    worsened: [{ key: 'b', title: 'Title b', before: 1, after: 2 }],
    unchanged: 2,
    zero: 1,
    potentialBefore: 6,
    potentialAfter: 5,
  });
});

test('without a rank there is nothing to compare', () => {
  expect(explainOutcome({ obligations, before: [3, 1, 0, 2], after: null, outcome: 'no_verdict' })).toEqual({
    outcome: 'no_verdict',
    relation: null,
    improved: [],
    worsened: [],
    unchanged: null,
    zero: null,
    potentialBefore: 6,
    potentialAfter: null,
  });
});

test('ranks that do not fit are refused', () => {
  expect(() => explainOutcome({ obligations, before: [1], after: null, outcome: 'tie' })).toThrow(
    'the base has 1 coordinates, the contract 4',
  );
  expect(() => explainOutcome({ obligations, before: [3, 1, 0, 2], after: [1], outcome: 'tie' })).toThrow('ranks of 1 and 4');
});
