import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { familyOf, tokenize, type Family, type TokenKind } from '#electron/proposers/code-tokens.ts';

const family = fc.constantFrom<Family>('hash', 'slash', 'plain');
const piece = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '"',
    "'",
    '`',
    '${',
    '}',
    '"""',
    "'''",
    '/*',
    '*/',
    '//',
    '#',
    '\\',
    '\n',
    '\r',
    '\r\n',
    '/',
    '[',
    '(',
    'r"',
    'é',
    '😀',
    '\ud800',
  ),
  fc.constantFrom('0x1F', '1e', '1.5e-3', '.5', '1..2', 'not in', ' -eq ', '-z ', '<<=', '===', '\ufeff', '\u2028'),
);
const significant = (text: string, language: Family): string[] =>
  tokenize(text, language)
    .filter(({ kind }) => kind !== 'space')
    .map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`);

describe('tokenize', () => {
  it('never throws, and its ranges tile any text', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), family, (pieces, language) => {
        const text = pieces.join('');
        let at = 0;
        for (const { start, end } of tokenize(text, language)) {
          expect(start).toBe(at);
          expect(end).toBeGreaterThan(start);
          at = end;
        }
        expect(at).toBe(text.length);
      }),
      { numRuns: 3000 },
    );
  });

  it('takes time in proportion to hostile texts', () => {
    const start = performance.now();
    for (const text of [
      '/'.repeat(300_000),
      '/['.repeat(150_000),
      '`${'.repeat(100_000),
      '"\\'.repeat(150_000),
      '('.repeat(300_000),
      '1'.repeat(300_000),
    ])
      expect(tokenize(text, 'slash').length).toBeGreaterThan(0);
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  it.each<[Family, string, string[]]>([
    ['slash', 'a?.b ?? c', ['name a', 'operator ?.', 'name b', 'operator ??', 'name c']],
    ['slash', 'x = `a${f("}")}b` // c', ['name x', 'operator =', 'string `a${f("}")}b`', 'comment // c']],
    [
      'slash',
      'if (/["/]/g.test(s) && n / 2 / k)',
      (
        'keyword if|open (|regex /["/]/g|operator .|name test|open (|name s|close )|operator &&|name n|operator /|number 2|operator /|' +
        'name k|close )'
      ).split('|'),
    ],
    ['slash', '/* a\nb */#x', ['comment /* a\nb */', 'other #', 'name x']],
    ['hash', "a // 2 # it's", ['name a', 'operator //', 'number 2', "comment # it's"]],
    ['hash', 'r"\\n" """a\n"b""" f\'x\'', ['string r"\\n"', 'string """a\n"b"""', "string f'x'"]],
    ['hash', '[ "$#" -lt 3 ]', ['open [', 'string "$#"', 'operator -lt', 'number 3', 'close ]']],
    ['hash', "'open\nx", ["other 'open", 'newline \n', 'name x']],
    ['hash', 'a """\nb\n', ['name a', 'other """\nb\n']],
    ['hash', '"""a"""', ['string """a"""']],
    ['slash', 'a "b\\"', ['name a', 'other "b\\"']],
    ['slash', 'f(`a${"b"', ['name f', 'open (', 'other `a${"b"']],
    ['slash', '`a${"b"}`', ['string `a${"b"}`']],
    ['plain', 'size 10 kB', ['name size', 'number 10', 'name kB']],
  ])('%s: %s', (language, text, expected) => {
    expect(significant(text, language)).toEqual(expected);
  });

  it('knows reserved words from names', () => {
    const kinds = (text: string): TokenKind[] => tokenize(text, 'hash').flatMap(({ kind }) => (kind === 'space' ? [] : [kind]));
    expect(kinds('return x and None')).toEqual(['keyword', 'name', 'keyword', 'keyword']);
    expect(kinds('range match type')).toEqual(['name', 'name', 'name']);
  });
});

describe('familyOf', () => {
  it.each([
    ['src/a.js', 'slash'],
    ['a.b/x.PY', 'hash'],
    ['Makefile', 'hash'],
    ['.env', 'hash'],
    ['notes.txt', 'plain'],
    ['LICENSE', 'plain'],
  ])('%s: %s', (path, expected) => {
    expect(familyOf(path)).toBe(expected);
  });
});
