import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeRank, encodeRank, parsePairs } from '#electron/store/sparse-rank.ts';

const value = fc.integer({ min: 0, max: 2 ** 31 - 1 });
const ranks = fc
  .integer({ min: 1, max: 40 })
  .chain((m) =>
    fc.tuple(fc.array(value, { minLength: m, maxLength: m }), fc.array(fc.option(value, { freq: 2 }), { minLength: m, maxLength: m })),
  );

test('any rank comes back from its difference, which holds only what differs', () => {
  fc.assert(
    fc.property(ranks, ([genesis, changes]) => {
      const rank = genesis.map((g, i) => changes[i] ?? g);
      const text = encodeRank(rank, genesis);
      expect(decodeRank(text, genesis)).toEqual(rank);
      expect(parsePairs(text)).toEqual(JSON.parse(text));
      expect(parsePairs(text)).toHaveLength(2 * rank.filter((r, i) => r !== genesis[i]).length);
    }),
  );
});

test.each([
  '',
  '[',
  ']',
  '[1]',
  '[1,2,3]',
  '[1,]',
  '[,1]',
  '[1,-]',
  '[1,2',
  '1,2]',
  '[1.5,2]',
  '["1",2]',
  '[1,null]',
  '[1,9999999999999999]',
  '[--1,2]',
  '[1,2,]',
])('a stored rank that reads %s is damaged', (text) => {
  expect(() => parsePairs(text)).toThrow(/damaged/);
});

test('a coordinate that does not exist is damage, and ranks of other lengths do not fit', () => {
  expect(() => decodeRank('[3,1]', [1, 2, 3])).toThrow(/damaged/);
  expect(() => decodeRank('[-1,1]', [1, 2, 3])).toThrow(/damaged/);
  expect(() => encodeRank([1, 2], [1, 2, 3])).toThrow(/2 coordinates under a contract of 3/);
});
