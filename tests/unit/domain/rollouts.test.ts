// Which of several independent runs ended best.
import { describe, expect, test } from 'vitest';
import type { FinalistScore } from '#shared/domain/crosscheck.ts';
import { ContractMismatchError } from '#shared/domain/rank.ts';
import { finalistsOf, orderRollouts } from '#shared/domain/rollouts.ts';
import { sha256Text } from '#shared/lib/hash.ts';

const contract = sha256Text('contract');
const tree = (digit: number) => `${digit}`.repeat(64);
const ends = (...all: [rank: number[], tree: number][]) => all.map(([rank, digit]) => ({ contract, rank, tree: tree(digit) }));
const score = (failedAuthors: number, failedTests: number): FinalistScore => ({ failedAuthors, failedTests, ofTests: 9 });

describe('without a cross-check', () => {
  test('the smallest sum, then the smaller value of the first obligation that differs, then the tree, then the earlier run', () => {
    expect(orderRollouts(ends([[3, 3], 1], [[0, 5], 2], [[5, 0], 3], [[9, 9], 4]), null)).toEqual({
      order: [1, 2, 0, 3],
      decidedBy: 'rank',
    });
    expect(orderRollouts(ends([[3, 3], 1], [[0, 5], 2]), null).decidedBy).toBe('potential');
    expect(orderRollouts(ends([[1, 1], 7], [[1, 1], 5], [[1, 1], 7]), null)).toEqual({ order: [1, 0, 2], decidedBy: 'tree' });
    expect(orderRollouts(ends([[2], 5], [[1], 7], [[1], 7]), null)).toEqual({ order: [1, 2, 0], decidedBy: 'order' });
    expect(orderRollouts(ends([[2], 5]), null)).toEqual({ order: [0], decidedBy: 'only' });
    expect(orderRollouts([], null)).toEqual({ order: [], decidedBy: null });
  });

  test('finalists are equal in potential and rank', () => {
    expect(finalistsOf(ends([[0, 5], 1], [[5, 0], 2], [[0, 5], 3], [[9, 9], 4]))).toEqual([0, 2]);
    expect(finalistsOf(ends([[1], 1]))).toEqual([0]);
    expect(finalistsOf([])).toEqual([]);
  });
});

describe('with one', () => {
  const three = ends([[1], 1], [[1], 2], [[1], 3], [[0], 4]);

  test('it decides among equal ranks only: fewer authors with a failed test, then fewer failed tests', () => {
    const scores = new Map([
      [tree(1), score(1, 9)],
      [tree(2), score(2, 2)],
      [tree(3), score(1, 8)],
    ]);
    expect(orderRollouts(three, scores)).toEqual({ order: [3, 2, 0, 1], decidedBy: 'potential' });
    expect(orderRollouts(three.slice(0, 3), scores)).toEqual({ order: [2, 0, 1], decidedBy: 'crosscheck' });
  });

  test('what it does not separate goes by tree; who was not checked comes after who was', () => {
    expect(orderRollouts(three.slice(0, 3), new Map([tree(3), tree(2)].map((t) => [t, score(1, 1)])))).toEqual({
      order: [1, 2, 0],
      decidedBy: 'tree',
    });
  });
});

test('runs of different contracts cannot be compared', () => {
  const other = { contract: sha256Text('other'), rank: [0], tree: tree(1) };
  expect(() => orderRollouts([...ends([[1], 2]), other], null)).toThrow(ContractMismatchError);
});
