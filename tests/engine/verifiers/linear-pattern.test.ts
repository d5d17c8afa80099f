// Patterns of JSON Schemas: the answers of RegExp, in linear time.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileSchema } from '#electron/verifiers/candidate.ts';
import { linearPattern } from '#electron/verifiers/linear-pattern.ts';

const characters = fc.constantFrom('a', 'b', '1', '_', ' ', '-', '\n', 'é', 'ſ', '\u{1f600}', '\ud83d', '\ude00', 'A');
const single = fc.constantFrom(
  'a',
  'b',
  '1',
  '.',
  '\\w',
  '\\W',
  '\\d',
  '\\s',
  '\\S',
  '[ab]',
  '[^a]',
  '[]',
  '[^]',
  '[\\]\\w-]',
  '[a-c1]',
  '\\p{L}',
  '\\P{Lu}',
  '\\u{1f600}',
  '\\ud83d\\ude00',
  '\\ud83d',
  '\\u0061',
  '\\x61',
  '\\n',
  '\\.',
  '\\/',
  '\\^',
  'é',
  '\u{1f600}',
  '[\\0]',
);
const pattern = fc.letrec<{ part: string; whole: string }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 3 },
    single,
    fc.constantFrom('^', '$', '\\b', '\\B'),
    fc.tuple(fc.constantFrom('(', '(?:'), tie('whole')).map(([open, inner]) => `${open}${inner})`),
    fc
      .tuple(
        fc.oneof(
          single,
          tie('whole').map((inner) => `(?:${inner})`),
        ),
        fc.constantFrom('*', '+', '?', '*?', '+?', '{2}', '{0}', '{1,}', '{0,2}', '{1,3}?'),
      )
      .map((parts) => parts.join('')),
  ),
  whole: fc
    .array(
      fc.array(tie('part'), { maxLength: 3 }).map((parts) => parts.join('')),
      { minLength: 1, maxLength: 3 },
    )
    .map((all) => all.join('|')),
})).whole;

describe('linearPattern', () => {
  test('gives the answers of RegExp', () => {
    fc.assert(
      fc.property(
        pattern,
        fc.array(
          fc.array(characters, { maxLength: 10 }).map((all) => all.join('')),
          { minLength: 1, maxLength: 8 },
        ),
        (source, texts) => {
          const ours = linearPattern(source);
          const theirs = new RegExp(source, 'u');
          // V8 holds \B also between the halves of a surrogate pair, where no position is by the standard.
          fc.pre(!source.includes('\\B') || !texts.join('').includes('\u{1f600}'));
          for (const text of texts) expect([text, ours.test(text)]).toEqual([text, theirs.test(text)]);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('named groups are groups', () => {
    expect(['ab', 'ac'].map((text) => linearPattern('^(?<x>a)b$').test(text))).toEqual([true, false]);
  });

  test.each(['^(a+)+$', '^(a|a)*$', '(a*)*b', '^(\\w+\\s?)*$', 'a+$', '^a*a*a*a*b', '(?:a?){30}a{30}b'])(
    '%s takes time in proportion to the text',
    (source) => {
      const matcher = linearPattern(source);
      const time = (length: number): number => {
        const start = performance.now();
        expect(matcher.test(`${'a'.repeat(length)}!`)).toBe(false);
        return performance.now() - start;
      };
      time(20_000);
      // Backtracking would not end, and what is quadratic would take a hundred times as long.
      expect(time(200_000)).toBeLessThan(40 * time(20_000) + 200);
    },
  );

  test.each([
    ['(?=a)a', /looks around/],
    ['(?<!a)b', /looks around/],
    ['(a)\\1', /refers to a group/],
    ['(?<x>a)\\k<x>', /refers to a group/],
    ['(?i:a)', /changes its flags/],
    ['a{2000}', /more than 1000 times/],
    ['(a{100}){100}', /more than 1000 steps/],
    ['(', /Unterminated group|Invalid regular expression/],
    ['a{,', /Invalid regular expression/],
  ])('%s is refused', (source, message) => {
    expect(() => linearPattern(source)).toThrow(message);
  });
});

describe('in a schema', () => {
  const check = (schema: object, document: unknown) => {
    const compiled = compileSchema(new TextEncoder().encode(JSON.stringify(schema)));
    return compiled.ok ? compiled.value(document) : compiled.error;
  };
  const hostile = `${'a'.repeat(5_000)}!`;
  test('a text or a name that would hold a backtracking matcher for ever', () => {
    expect(check({ type: 'string', pattern: '^(a+)+$' }, hostile)).toMatch(/must match pattern/);
    expect(check({ type: 'object', patternProperties: { '^(a+)+$': false } }, { [hostile]: 1 })).toBe(null);
    expect(check({ type: 'object', propertyNames: { pattern: '^(a+)+$' } }, { [hostile]: 1 })).toMatch(/must match pattern/);
  });
  test('two patterns of one schema stay two', () => {
    const schema = { type: 'object', properties: { x: { type: 'string', pattern: '^a$' }, y: { type: 'string', pattern: '^b$' } } };
    expect(check(schema, { x: 'a', y: 'b' })).toBe(null);
    expect(check(schema, { x: 'a', y: 'a' })).toMatch(/\/y must match pattern "\^b\$"/);
  });
  test('what cannot be matched in linear time is named when the schema is compiled', () => {
    expect(check({ type: 'string', pattern: '^(?!a)b' }, 'b')).toMatch(/the pattern "\^\(\?!a\)b" looks around/);
  });
});
