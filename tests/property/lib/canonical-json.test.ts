import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson, maxJsonDepth } from '#shared/lib/canonical-json.ts';
import type { Json } from '#shared/lib/canonical-json.ts';
import { hashJson, sha256Hex, sha256Text } from '#shared/lib/hash.ts';
import { vectors } from './vectors.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 8 });
const number = fc.oneof(
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Number.isInteger(n) || Number.isSafeInteger(n)),
);
const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    number,
    text,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', 'toString', '10', '9')), tie('value'), { maxKeys: 4 }),
  ),
})).value;

const shuffled = (value: Json): Json => {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(shuffled);
  // Object.fromEntries defines own properties, also one called __proto__.
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([k, v]): [string, Json] => [k, shuffled(v)]),
  );
};

// Hands a value that the type of `canonicalJson` forbids to it, as a caller with bad data would at run time.
const force = (value: unknown): string => Reflect.apply(canonicalJson, undefined, [value]);

describe('vectors', () => {
  test.each(vectors.values)('$name', ({ value, canonical, sha }) => {
    expect(force(value)).toBe(canonical);
    expect(sha256Text(canonical)).toBe(sha);
  });

  const double = (bits: string): number => {
    const view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, BigInt(`0x${bits}`));
    return view.getFloat64(0);
  };

  test.each(vectors.numbers.filter((n) => n.canonical !== null))('number with the bits $bits', ({ bits, canonical }) => {
    expect(canonicalJson(double(bits))).toBe(canonical);
  });

  test.each(vectors.numbers.filter((n) => n.canonical === null))('refused: number with the bits $bits', ({ bits }) => {
    expect(() => canonicalJson(double(bits))).toThrow(/^canonical JSON: .* at \$$/);
  });

  test.each(vectors.refused)('refused: $name', ({ json, path }) => {
    expect(() => force(JSON.parse(json))).toThrow(`at ${path}`);
  });
});

describe('properties', () => {
  test('agrees with an independent implementation', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(value)).toBe(canonicalize(value));
      }),
      { numRuns: 500 },
    );
  });

  test('is read back as the same value, is a fixed point, and ignores the order of keys', () => {
    fc.assert(
      fc.property(json, (value) => {
        const line = canonicalJson(value);
        expect(force(JSON.parse(line))).toBe(line);
        expect(canonicalJson(shuffled(value))).toBe(line);
      }),
      { numRuns: 500 },
    );
  });

  test('different values have different texts', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        const same = JSON.stringify(shuffledKeysSorted(a)) === JSON.stringify(shuffledKeysSorted(b));
        expect(canonicalJson(a) === canonicalJson(b)).toBe(same);
      }),
      { numRuns: 500 },
    );
  });
});

// A second, slower way to compare two values without regard to the order of keys: nested lists of pairs.
function shuffledKeysSorted(value: Json): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return ['array', ...value.map(shuffledKeysSorted)];
  return [
    'object',
    ...Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, v]) => [k, shuffledKeysSorted(v)]),
  ];
}

describe('refusals', () => {
  class Point {
    x = 1;
  }
  const holed: unknown[] = [1];
  holed[2] = 3;
  const cycle: unknown[] = [];
  cycle.push(cycle);

  test.each([
    ['NaN', { a: [Number.NaN] }, 'NaN is not JSON at $["a"][0]'],
    ['Infinity', [Number.NEGATIVE_INFINITY], '-Infinity is not JSON at $[0]'],
    ['an integer beyond 2^53 - 1', { n: 2 ** 53 }, '9007199254740992 is an integer beyond 2^53 - 1 at $["n"]'],
    ['undefined', { a: undefined }, 'type undefined is not JSON at $["a"]'],
    ['bigint', [1n], 'type bigint is not JSON at $[0]'],
    ['a function', { toJSON: () => 5 }, 'type function is not JSON at $["toJSON"]'],
    ['a symbol', [Symbol('s')], 'type symbol is not JSON at $[0]'],
    ['a symbol key', { [Symbol('s')]: 1 }, 'symbol keys at $'],
    ['a Date', { at: new Date(0) }, 'not plain at $["at"]'],
    ['a Map', new Map(), 'not plain at $'],
    ['an instance', [new Point()], 'not plain at $[0]'],
    ['a boxed number', [Object(1)], 'not plain at $[0]'],
    ['bytes', { b: new Uint8Array(2) }, 'not plain at $["b"]'],
    ['a hole', holed, 'a hole in an array at $[1]'],
    ['a lone surrogate', ['\ud800'], 'a lone surrogate at $[0]'],
    ['a lone surrogate in a key', { '\udfff': 1 }, 'a lone surrogate at $["\\udfff"]'],
    ['a cycle', cycle, `nesting deeper than ${maxJsonDepth} levels (or a cycle)`],
  ])('%s', (_, value, message) => {
    expect(() => force(value)).toThrow(message);
  });

  test('a shared object is no cycle, and an object without prototype is plain', () => {
    const shared = { a: 1 };
    expect(canonicalJson([shared, shared])).toBe('[{"a":1},{"a":1}]');
    expect(force(Object.assign(Object.create(null), { b: 1 }))).toBe('{"b":1}');
  });

  test('1,000 levels pass, one more and very many fail with a clear error', () => {
    const nested = (levels: number): unknown => {
      let value: unknown = 0;
      for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { k: value };
      return value;
    };
    expect(force(nested(maxJsonDepth))).toContain('0');
    for (const levels of [maxJsonDepth + 1, 200_000])
      expect(() => force(nested(levels))).toThrow(/^canonical JSON: nesting deeper than 1000 levels .{1,400}$/);
  });
});

describe('hashes', () => {
  test("bytes, text and JSON agree with Node's own SHA-256", () => {
    const node = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), text, json, (bytes, t, value) => {
        expect(sha256Hex(bytes)).toBe(node(bytes));
        expect(sha256Text(t)).toBe(node(t));
        expect(hashJson(value)).toBe(node(canonicalJson(value)));
      }),
    );
  });

  test('a text with a lone surrogate has no hash', () => {
    expect(() => sha256Text('a\ud800')).toThrow('lone surrogate');
  });
});
