import { describe, expect, test } from 'vitest';
import { commitsLeftBound, ContractMismatchError, mirror, potential, relate, relateUnder, validateRank } from '#shared/domain/rank.ts';
import type { Rank } from '#shared/domain/verdict.ts';

const three = [{ cap: 1, key: 'builds' }, { cap: 5 }, { cap: 2 ** 31 - 1 }];
const holed: unknown[] = [0];
holed[2] = 0;

describe('validateRank', () => {
  test('accepts every coordinate from 0 to its cap and returns a copy', () => {
    const claim = [1, 0, 2 ** 31 - 1];
    const result = validateRank(claim, three);
    expect(result).toEqual({ ok: true, value: claim });
    expect(result.ok && result.value).not.toBe(claim);
  });

  test.each<[string, unknown, string]>([
    ['no array', { 0: 0, 1: 0, 2: 0, length: 3 }, 'a rank is an array, this is a value of type object'],
    ['null', null, 'a rank is an array, this is null'],
    ['typed array', new Int32Array(3), 'a rank is an array, this is a value of type object'],
    ['too short', [0, 0], 'the rank has 2 coordinates, the contract 3'],
    ['too long', [0, 0, 0, 0], 'the rank has 4 coordinates, the contract 3'],
    ['a hole', holed, 'coordinate 1 is missing (a hole)'],
    ['NaN', [0, 0, Number.NaN], 'coordinate 2 is NaN, must be an integer from 0'],
    ['Infinity', [0, Number.POSITIVE_INFINITY, 0], 'coordinate 1 is Infinity, must be an integer from 0'],
    ['-0', [-0, 0, 0], 'coordinate 0 (builds) is -0, must be an integer from 0'],
    ['a negative', [0, -1, 0], 'coordinate 1 is -1, must be an integer from 0'],
    ['a fraction', [0, 0.5, 0], 'coordinate 1 is 0.5, must be an integer from 0'],
    ['a string', ['0', 0, 0], 'coordinate 0 (builds) is a value of type string, must be an integer from 0'],
    ['a bigint', [0, 0n, 0], 'coordinate 1 is a value of type bigint, must be an integer from 0'],
    ['undefined', [0, undefined, 0], 'coordinate 1 is a value of type undefined, must be an integer from 0'],
    ['beyond 2^53 - 1', [0, 0, 2 ** 53], 'coordinate 2 is 9007199254740992, must be an integer from 0'],
    ['above the cap', [2, 0, 0], 'coordinate 0 (builds) is 2, above its cap 1'],
  ])('refuses %s and names the place', (_, claim, message) => {
    expect(validateRank(claim, three)).toEqual({ ok: false, error: message });
  });

  test('a hole is found although the prototype has an element there', () => {
    const prototype: unknown[] = [0, 0, 0];
    const claim: unknown[] = [0];
    claim.length = 3;
    Object.setPrototypeOf(claim, prototype);
    expect(validateRank(claim, three)).toEqual({ ok: false, error: 'coordinate 1 is missing (a hole)' });
  });

  test('a hole that came through a structured clone is found', () => {
    expect(validateRank(structuredClone(holed), three)).toEqual({ ok: false, error: 'coordinate 1 is missing (a hole)' });
  });

  test('a getter that changes its mind is read once', () => {
    let reads = 0;
    const claim = [0, 0, 0];
    Object.defineProperty(claim, 1, { get: () => (reads++ === 0 ? 3 : Number.NaN), enumerable: true });
    expect(validateRank(claim, three)).toEqual({ ok: true, value: [0, 3, 0] });
    expect(reads).toBe(1);
  });

  test('a contract without obligations ranks nothing', () => {
    expect(validateRank([], [])).toEqual({ ok: false, error: 'the contract has no obligations' });
  });
});

describe('relate', () => {
  test.each<[Rank, Rank, string]>([
    [[1, 2, 3], [1, 2, 3], 'tie'],
    [[1, 2, 2], [1, 2, 3], 'dominates'],
    [[0, 0, 0], [1, 2, 3], 'dominates'],
    [[1, 2, 4], [1, 2, 3], 'regression'],
    [[0, 9, 3], [1, 2, 3], 'incomparable'],
    [[9, 2, 0], [1, 2, 3], 'incomparable'],
  ])('%j to %j: %s', (candidate, head, relation) => {
    expect(relate(candidate, head)).toBe(relation);
  });

  test('one fix and one break: incomparable as two obligations, a tie inside one count', () => {
    expect(relate([0, 1], [1, 0])).toBe('incomparable');
    expect(relate([1], [1])).toBe('tie');
  });

  test('different lengths and what is not a number are errors, not answers', () => {
    expect(() => relate([0], [0, 1])).toThrow('ranks of 1 and 2 coordinates cannot be compared');
    expect(() => relate([0, Number.NaN], [0, 1])).toThrow('coordinate 1 is not comparable');
  });

  test('ranks of different contracts are a typed error', () => {
    const a = { contract: 'a'.repeat(64), rank: [0] };
    const b = { contract: 'b'.repeat(64), rank: [1] };
    expect(relateUnder(a, { ...b, contract: a.contract })).toBe('dominates');
    expect(() => relateUnder(a, b)).toThrow(ContractMismatchError);
    expect(() => relateUnder(a, b)).toThrow(`candidate under ${a.contract}, head under ${b.contract}`);
  });

  test('mirror', () => {
    expect((['dominates', 'tie', 'regression', 'incomparable'] as const).map(mirror)).toEqual([
      'regression',
      'tie',
      'dominates',
      'incomparable',
    ]);
  });
});

test('the potential is the sum, and bounds the commits left', () => {
  expect([potential([]), potential([1, 0, 4]), commitsLeftBound([1, 0, 4])]).toEqual([0, 5, 5]);
  expect(potential(Array.from({ length: 10_000 }, () => 2 ** 31 - 1))).toBe(10_000 * (2 ** 31 - 1));
  expect(() => potential([2 ** 53 - 1, 1])).toThrow('not a safe integer');
  expect(() => potential([Number.NaN])).toThrow('not a safe integer');
});
