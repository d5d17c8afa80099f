// Which of several independent runs ended best.
import { expect, test } from 'vitest';
import { ContractMismatchError } from '#shared/domain/rank.ts';
import { orderRollouts } from '#shared/domain/rollouts.ts';
import { sha256Text } from '#shared/lib/hash.ts';

const contract = sha256Text('contract');
const order = (...ranks: number[][]) => orderRollouts(ranks.map((rank) => ({ contract, rank })));

test('the smallest sum first, then the smaller value of the first obligation that differs, then the earlier run', () => {
  expect(order([3, 3], [0, 5], [5, 0], [9, 9])).toEqual([1, 2, 0, 3]);
  expect(order([1, 2, 3], [1, 1, 4], [1, 1, 4])).toEqual([1, 2, 0]);
  expect(order()).toEqual([]);
});

test('runs of different contracts cannot be compared', () => {
  expect(() =>
    orderRollouts([
      { contract, rank: [1] },
      { contract: sha256Text('other'), rank: [0] },
    ]),
  ).toThrow(ContractMismatchError);
});
