import { describe, expect, test } from 'vitest';
import { checkManifest, checkPath } from '#shared/domain/tree-id.ts';
import type { Manifest } from '#shared/domain/tree.ts';

const files = (...paths: string[]): Manifest => paths.map((path) => ({ mode: 'file', path, sha: '0'.repeat(64), size: 10 }));

describe('checkPath', () => {
  test.each([
    'a',
    '.gitignore',
    '..a/b..c',
    'src/main.ts',
    'a b/c d',
    '한글/값.txt',
    'caf\u00e9',
    '[id].tsx',
    'console.log',
    'common/com10.txt',
    'nullable',
    '-rf',
    '~/x',
    '\u{1f600}'.repeat(63),
    `${'a'.repeat(255)}/${'b'.repeat(255)}`,
  ])('accepts %j', (path) => {
    expect(checkPath(path)).toEqual({ ok: true, value: path });
  });

  test.each([
    ['', 'is empty'],
    ['/etc/passwd', 'is absolute'],
    ['//host/share', 'is absolute'],
    ['C:/x', 'has a colon'],
    ['c:x', 'has a colon'],
    ['a.txt:stream', 'has a colon'],
    ['a\\b', 'has a backslash'],
    ['\\\\?\\C', 'has a backslash'],
    ['..', 'has the segment ".."'],
    ['a/../../b', 'has the segment ".."'],
    ['./a', 'has the segment "."'],
    ['a//b', 'has an empty segment'],
    ['a/', 'has an empty segment'],
    ['a\0b', 'has a control character'],
    ['a\nb', 'has a control character'],
    ['a\u0085', 'has a control character'],
    ['a\u007f', 'has a control character'],
    ['cafe\u0301', 'is not in Unicode normal form NFC'],
    ['\u1112\u1161\u11ab', 'is not in Unicode normal form NFC'],
    ['a\ud800', 'has a lone surrogate'],
    ['con', 'has the reserved name "con"'],
    ['a/NUL.txt', 'has the reserved name "NUL"'],
    ['aux.tar.gz/b', 'has the reserved name "aux"'],
    ['Com1', 'has the reserved name "Com1"'],
    ['lpt\u00b9.log', 'has the reserved name "lpt\u00b9"'],
    ['prn .txt', 'has the reserved name "prn"'],
    ['CONIN$', 'has the reserved name "CONIN$"'],
    ['a.', 'has a segment that ends in a dot or a space'],
    ['a /b', 'has a segment that ends in a dot or a space'],
    ['...', 'has a segment that ends in a dot or a space'],
    ['a'.repeat(256), 'has a segment longer than 255 bytes'],
    ['\u{1f600}'.repeat(64), 'has a segment longer than 255 bytes'],
    [Array.from({ length: 342 }, () => 'ab').join('/'), 'is longer than 1024 bytes'],
  ])('refuses %j: %s', (path, problem) => {
    const result = checkPath(path);
    expect(result.ok ? '' : result.error).toContain(` ${problem}`);
  });

  test('a long path is cut in the message', () => {
    const result = checkPath('x'.repeat(100_000));
    expect(result.ok ? '' : result.error).toBe(`the path "${'x'.repeat(200)}…" is longer than 1024 bytes`);
  });
});

describe('checkManifest', () => {
  test.each([
    ['nothing', []],
    ['files in shared folders', ['a/b/c', 'a/b/d', 'a/e', 'f']],
    ['a name that begins like a folder', ['a', 'a.b', 'a-b/c']],
  ])('accepts %s', (_, paths) => {
    const manifest = files(...paths);
    expect(checkManifest(manifest, { maxFiles: 4, maxBytes: 40 })).toEqual({ ok: true, value: manifest });
  });

  test.each([
    [['a', 'a'], 'the path "a" occurs twice'],
    [['a', 'a/b'], 'the path "a" is both a file and a folder'],
    [['a/b/c', 'a/b'], 'the path "a/b" is both a file and a folder'],
    [['README', 'readme'], 'the paths "README" and "readme" are one on some file systems'],
    [['Src/a', 'src/b'], 'the paths "Src" and "src" are one on some file systems'],
    [['A', 'a/b'], 'the paths "A" and "a" are one on some file systems'],
    [['stra\u00dfe', 'STRASSE'], 'are one on some file systems'],
    [['\u03c3', '\u03c2'], 'are one on some file systems'],
    [['\u00c9', '\u00e9'], 'are one on some file systems'],
    [['\u212a', 'k'], 'is not in Unicode normal form NFC'],
    [['ok', '../x'], 'the path "../x" has the segment ".."'],
  ])('%j: %s', (paths, message) => {
    const result = checkManifest(files(...paths));
    expect(result.ok ? null : [result.error.code, result.error.message.includes(message), result.error.path]).toEqual([
      'bad_path',
      true,
      expect.any(String),
    ]);
  });

  test('limits name what is too large', () => {
    expect(checkManifest(files('a', 'b'), { maxFiles: 1 })).toEqual({
      ok: false,
      error: { code: 'too_large', path: null, message: 'the tree has 2 files, at most 1 are allowed' },
    });
    expect(checkManifest(files('a', 'b'), { maxBytes: 19 })).toEqual({
      ok: false,
      error: { code: 'too_large', path: 'b', message: 'the tree has more than the 19 bytes that are allowed, from "b" on' },
    });
  });
});
