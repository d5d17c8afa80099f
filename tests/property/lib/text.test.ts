import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareUtf8, middleEllipsis, truncateUtf8, utf8Length } from '#shared/lib/text.ts';

const text = fc.string({ unit: 'binary', maxLength: 12 });
// Neighbours of the places where the orders by UTF-16 unit and by UTF-8 byte part.
const edgy = fc.string({ unit: fc.constantFrom('a', 'é', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'), maxLength: 5 });

test('compareUtf8 orders as the encoded bytes do', () => {
  fc.assert(
    fc.property(fc.oneof(text, edgy), fc.oneof(text, edgy), (a, b) => {
      expect(Math.sign(compareUtf8(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
    { numRuns: 2_000 },
  );
});

test('compareUtf8 differs from the default sort where it has to', () => {
  const names = ['\u{1f600}', '\uff21', 'z'];
  expect(names.toSorted()).toEqual(['z', '\u{1f600}', '\uff21']);
  expect(names.toSorted(compareUtf8)).toEqual(['z', '\uff21', '\u{1f600}']);
});

test('utf8Length counts what an encoder writes, also for lone surrogates', () => {
  fc.assert(
    fc.property(fc.oneof(text, edgy, fc.constantFrom('\ud800', 'a\udc00b', '\ud800\ud800\udc00')), (s) => {
      expect(utf8Length(s)).toBe(Buffer.byteLength(s));
    }),
    { numRuns: 1_000 },
  );
});

test('truncateUtf8 keeps the longest beginning of whole code points', () => {
  fc.assert(
    fc.property(fc.oneof(text, edgy), fc.nat({ max: 40 }), (s, max) => {
      const cut = truncateUtf8(s, max);
      const next = String.fromCodePoint(s.codePointAt(cut.length) ?? 0);
      expect(s.startsWith(cut)).toBe(true);
      expect(cut.isWellFormed()).toBe(true);
      expect(utf8Length(cut)).toBeLessThanOrEqual(max);
      expect(cut === s || utf8Length(cut + next) > max).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test('middleEllipsis fits, keeps both ends and never splits a pair', () => {
  fc.assert(
    fc.property(fc.oneof(text, edgy), fc.integer({ min: 1, max: 20 }), (s, max) => {
      const short = middleEllipsis(s, max);
      expect(short.length).toBeLessThanOrEqual(max);
      expect(short.isWellFormed()).toBe(true);
      const [head = '', tail = ''] = short.split('…');
      // A text that holds the ellipsis itself splits elsewhere; its ends are checked by the length alone.
      expect(s.length <= max ? short === s : s.includes('…') || (s.startsWith(head) && s.endsWith(tail))).toBe(true);
    }),
    { numRuns: 1_000 },
  );
  expect(middleEllipsis('abcdefghij', 5)).toBe('ab…ij');
  expect(middleEllipsis('abcdefghij', 6)).toBe('abc…ij');
  expect(middleEllipsis('abcdefghij', 1)).toBe('…');
  expect(() => middleEllipsis('abc', 0)).toThrow(RangeError);
});
