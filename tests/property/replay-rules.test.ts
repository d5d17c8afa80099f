// The pure parts of replays: differences of records, ranks measured again, the first difference of two runs.
import { array, assert, asyncProperty, constantFrom, integer, jsonValue, property, record } from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { differences, sameJson } from '#shared/domain/replay.ts';
import { type ComparedAttempt, firstDivergence } from '#shared/domain/replay-divergence.ts';
import { compareRanks } from '#shared/domain/replay-verifier.ts';
import { canonicalJson, type Json } from '#shared/lib/canonical-json.ts';

const Value = z.json();
const json = jsonValue({ maxDepth: 3 }).map((value): Json => Value.parse(JSON.parse(JSON.stringify(value))));
const fields = array(json, { minLength: 1, maxLength: 5 }).map((values) => Object.fromEntries(values.map((value, i) => [`f${i}`, value])));
const canonical = (value: Json): string | null => {
  try {
    return canonicalJson(value);
  } catch {
    // An integer beyond 2^53 has no canonical form.
    return null;
  }
};

test('records are without differences exactly when their canonical JSON is the same', () => {
  assert(
    property(fields, fields, (a, b) => {
      const [left, right] = [canonical(a), canonical(b)];
      expect(differences(a, a)).toEqual([]);
      const told = left === null || right === null ? null : left === right;
      expect(told ?? differences(a, b).length === 0).toBe(differences(a, b).length === 0);
      expect(sameJson(a, b)).toBe(sameJson(b, a));
    }),
  );
});

test('one changed field is the one that is named', () => {
  assert(
    property(fields, json, integer({ min: 0, max: 4 }), (a, value, at) => {
      const key = `f${at % Object.keys(a).length}`;
      const b = { ...a, [key]: value };
      const found = differences(a, b);
      expect(found.every(({ field }) => field === key || field.startsWith(`${key}.`))).toBe(true);
      expect(found.length > 0).toBe(!sameJson(a[key], value));
    }),
  );
});

test('a coordinate matches, drifts or flakes by what the new values are, and by nothing else', () => {
  const rank = array(integer({ min: 0, max: 3 }), { minLength: 3, maxLength: 3 });
  assert(
    property(rank, array(rank, { minLength: 1, maxLength: 4 }), (certified, again) => {
      const results = compareRanks(certified, again);
      for (const [i, value] of certified.entries()) {
        const values = new Set(again.map((r) => r[i]));
        expect(results[i]).toBe(values.size > 1 ? 'flake' : values.has(value) ? 'match' : 'drift');
      }
    }),
  );
  expect(() => compareRanks([1], [])).toThrow(RangeError);
  expect(() => compareRanks([1], [[1, 2]])).toThrow(RangeError);
});

async function* each(attempts: readonly ComparedAttempt[]): AsyncGenerator<ComparedAttempt, void, void> {
  await Promise.resolve();
  yield* attempts;
}

test('two sides part at the first attempt that differs, or where one of them ends', async () => {
  const attempt = record({
    n: integer({ min: 1, max: 9 }),
    tree: constantFrom('a', 'b', null),
    outcome: constantFrom('tie', 'regression', 'commit'),
    rank: constantFrom<(number[] | null)[]>([1], [2], null),
  });
  await assert(
    asyncProperty(
      array(attempt, { maxLength: 6 }),
      array(attempt, { maxLength: 4 }),
      array(attempt, { maxLength: 4 }),
      async (common, a, b) => {
        const [left, right] = [
          [...common, ...a],
          [...common, ...b],
        ];
        const found = await firstDivergence(each(left), each(right));
        const alike = (i: number) => {
          const [x, y] = [left[i], right[i]];
          return x?.tree === y?.tree && x?.outcome === y?.outcome && sameJson(x?.rank, y?.rank);
        };
        const index = Array.from({ length: Math.max(left.length, right.length) }, (_, i) => i).find((i) => !alike(i));
        expect(found?.index).toBe(index);
        expect(found?.a ?? undefined).toEqual(index === undefined ? undefined : left[index]);
        expect(found?.b ?? undefined).toEqual(index === undefined ? undefined : right[index]);
      },
    ),
  );
});
