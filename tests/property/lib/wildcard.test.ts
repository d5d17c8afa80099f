// Wildcards against the regular expression that says the same.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseWildcard } from '#shared/lib/wildcard.ts';

const token = fc.constantFrom('*', '?', '\\*', '\\?', '\\\\', 'a', 'b', '.', '/');
const text = fc.array(fc.constantFrom('a', 'b', '*', '?', '\\', '.', '/'), { maxLength: 8 }).map((parts) => parts.join(''));

const expression = (tokens: readonly string[]): RegExp => {
  const parts = tokens.map((one) => (one === '*' ? '[^]*' : one === '?' ? '[^]' : one.slice(-1).replace(/[\\^$.*+?()[\]{}|/]/, '\\$&')));
  return new RegExp(`^${parts.join('')}$`);
};

test('a pattern matches what its expression does', () => {
  fc.assert(
    fc.property(fc.array(token, { maxLength: 8 }), text, (tokens, subject) => {
      const parsed = parseWildcard(tokens.join(''));
      if (!parsed.ok) throw new Error(parsed.error);
      const { matches, exact } = parsed.value;
      expect(matches(subject)).toBe(expression(tokens).test(subject));
      expect(exact === null || matches(exact)).toBe(true);
      expect(exact === null).toBe(tokens.some((one) => one === '*' || one === '?'));
    }),
    { numRuns: 3_000 },
  );
});

test('a pattern that would make an expression explode takes its time in proportion', () => {
  const parsed = parseWildcard('*a'.repeat(500));
  if (!parsed.ok) throw new Error(parsed.error);
  expect(parsed.value.matches(`${'a'.repeat(20_000)}b`)).toBe(false);
});

test('a backslash at the end escapes nothing', () => {
  expect(parseWildcard('a\\')).toMatchObject({ ok: false, error: expect.stringContaining('single') });
});
