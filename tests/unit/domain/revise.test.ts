import { describe, expect, test } from 'vitest';
import { contractSha } from '#shared/domain/bundle-id.ts';
import type { Contract } from '#shared/domain/contract.ts';
import { reviseContract, unstableText } from '#shared/domain/revise.ts';
import { contractBodyOf, obligationOf } from '../../support/contract.ts';

const obligation = (key: string, aggregate: 'worst' | 'median' = 'worst') => obligationOf(key, { aggregate });
const body = contractBodyOf([obligation('a'), obligation('b'), obligation('c', 'median')], {
  version: 3,
  advisory: [{ key: 'speed', better: 'higher' }],
  from: ['test a', null, 'test c'],
  measurement: { preflightRuns: 5, confirmRuns: 3, paired: true },
});
const contract: Contract = { ...body, sha: contractSha(body) };

const revised = (quarantine: readonly string[], median: readonly string[] = []) => {
  const result = reviseContract(contract, { quarantine, median });
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
};

describe('a new version', () => {
  test('quarantine moves an obligation with its place in `from` to the advisory values', () => {
    const { sha, obligations, from, advisory, version, previous, ...rest } = revised(['a']);
    expect(obligations.map(({ key }) => key)).toEqual(['b', 'c']);
    expect(from).toEqual([null, 'test c']);
    expect(advisory).toEqual([
      { key: 'speed', better: 'higher' },
      { key: 'a', better: 'lower' },
    ]);
    expect({ version, previous }).toEqual({ version: 4, previous: contract.sha });
    expect(sha).not.toBe(contract.sha);
    expect(rest.verifier).toEqual(contract.verifier);
    expect(contract.obligations).toHaveLength(3);
  });

  test('median changes nothing but how its measurements are put together', () => {
    const one = revised([], ['b']);
    expect(one.obligations).toEqual([obligation('a'), obligation('b', 'median'), obligation('c', 'median')]);
    expect(one.from).toEqual(contract.from);
    expect(one).toMatchObject({ version: 4, previous: contract.sha, advisory: contract.advisory });
  });

  test('its sha is that of its body, the order and repetition of the choices do not matter, and other choices are other contracts', () => {
    const both = revised(['a', 'c'], ['b']);
    const { sha, ...rest } = both;
    expect(contractSha(rest)).toBe(sha);
    expect(revised(['c', 'a', 'c'], ['b', 'b'])).toEqual(both);
    expect(new Set([contract.sha, both.sha, revised(['a']).sha, revised(['b']).sha, revised([], ['b']).sha]).size).toBe(5);
  });

  test('without a choice it is the same contract', () => {
    expect(revised([])).toBe(contract);
  });

  test('a revised contract can be revised again', () => {
    const again = reviseContract(revised(['a']), { quarantine: ['b'], median: [] });
    expect(again).toMatchObject({ ok: true, value: { version: 5, previous: revised(['a']).sha } });
  });
});

test.each([
  ['a key that is not there', ['x'], [], 'quarantine', 'x is no obligation of this task; it has: a, b, c'],
  ['a median of a key that is not there', [], ['x'], 'median', 'x is no obligation of this task; it has: a, b, c'],
  ['what is advisory already', ['speed'], [], 'quarantine', 'speed is advisory already and decides nothing'],
  ['a key named for both', ['a'], ['a'], 'median', 'a is named for quarantine too; keep one of the two'],
  ['what has its median already', [], ['c'], 'median', 'c is aggregated by its median already'],
  ['all of them', ['a', 'b', 'c'], [], 'quarantine', 'every obligation would be advisory and nothing would decide; leave at least one'],
])('refused: %s', (_, quarantine, median, field, message) => {
  expect(reviseContract(contract, { quarantine, median })).toMatchObject({ ok: false, error: { field, message } });
});

test.each(['aggregate', 'hidden'] as const)(
  'quarantine of an obligation with visibility %s is refused, its median is not',
  (visibility) => {
    const { sha: _sha, ...rest } = contract;
    const guardedBody = { ...rest, obligations: [obligation('a'), { ...obligation('b'), visibility }], from: [null, null] };
    const guarded = { ...guardedBody, sha: contractSha(guardedBody) };
    expect(reviseContract(guarded, { quarantine: ['b'], median: [] })).toMatchObject({
      ok: false,
      error: { field: 'quarantine', key: 'b', message: expect.stringContaining('take its median') },
    });
    expect(reviseContract(guarded, { quarantine: [], median: ['b'] })).toMatchObject({ ok: true });
    expect(reviseContract(guarded, { quarantine: ['a'], median: [] })).toMatchObject({ ok: true });
  },
);

test('the text names each obligation, what it was seen at, and both ways on', () => {
  expect(unstableText([{ key: 'a', title: 'A', values: [0, 1, 0] }])).toBe(
    'a took the values 0, 1, 0: --quarantine a makes it advisory, --median a takes its median',
  );
  expect(unstableText([{ key: 'a', title: 'A', values: Array.from({ length: 30 }, (_, i) => i) }])).toContain('19, and 10 more: ');
});
