import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fileChanges, maxEdits, rewrittenFiles } from '#electron/verifiers/changes.ts';
import { textFile } from './support.ts';

const change = (before: string, after: string) => fileChanges([textFile('f', before)], [textFile('f', after)]);
const counts = (before: string, after: string): [number, number] => {
  const [only] = change(before, after).changes;
  return [only?.added ?? 0, only?.removed ?? 0];
};

/** Length of the longest common subsequence, by the textbook. */
const lcs = (a: readonly string[], b: readonly string[]): number => {
  let row = b.map(() => 0);
  for (const x of a) {
    const next: number[] = [];
    b.forEach((y, j) => next.push(x === y ? (row[j - 1] ?? 0) + 1 : Math.max(row[j] ?? 0, next[j - 1] ?? 0)));
    row = next;
  }
  return row.at(-1) ?? 0;
};

describe('fileChanges', () => {
  test('added, removed, modified, mode, unchanged, in tree order', () => {
    const before = [textFile('gone', 'a\nb\n'), textFile('same', 'x'), textFile('tool', '#!'), textFile('edited', '1\n2\n3\n')];
    const after = [textFile('edited', '1\n2b\n3\n4\n'), textFile('new', 'a'), textFile('same', 'x'), textFile('tool', '#!', 'exec')];
    const { changes, hunks } = fileChanges(before, after);
    expect(changes.map(({ path, status, added, removed, binary }) => [path, status, added, removed, binary])).toEqual([
      ['edited', 'modified', 2, 1, false],
      ['gone', 'removed', 0, 2, false],
      ['new', 'added', 1, 0, false],
      ['tool', 'mode', 0, 0, false],
    ]);
    expect(changes.map(({ before: a, after: b }) => [a === null, b === null])).toEqual([
      [false, false],
      [false, true],
      [true, false],
      [false, false],
    ]);
    expect(hunks).toHaveLength(5);
    expect(new Set(hunks).size).toBe(5);
  });

  test('line ends count: no final newline, CRLF', () => {
    expect(counts('a\nb\n', 'a\nb')).toEqual([1, 1]);
    expect(counts('a\r\nb\r\n', 'a\nb\r\n')).toEqual([1, 1]);
    expect(counts('', 'a\n')).toEqual([1, 0]);
  });

  test('binary files are counted in bytes', () => {
    const { changes } = fileChanges([textFile('b', Uint8Array.from([0, 1, 2]))], [textFile('b', Uint8Array.from([0, 1, 2, 3, 4]))]);
    expect(changes).toMatchObject([{ status: 'modified', binary: true, added: 5, removed: 3 }]);
    expect(fileChanges([], [textFile('b', Uint8Array.from([0xff]))]).changes).toMatchObject([{ binary: true, added: 1 }]);
  });

  test('the same edit elsewhere in the file is the same hunk, in another file it is not', () => {
    const one = change('a\nb\nc\n', 'a\nX\nc\n').hunks;
    expect(change('z\nz\na\nb\nc\n', 'z\nz\na\nX\nc\n').hunks).toEqual(one);
    expect(fileChanges([textFile('g', 'a\nb\nc\n')], [textFile('g', 'a\nX\nc\n')]).hunks).not.toEqual(one);
    expect(change('b\n', 'X\n').hunks).toEqual(one);
  });

  test('counts are those of a shortest edit', () => {
    const line = fc.constantFrom('a\n', 'b\n', 'c\n', 'd\n');
    const lines = fc.array(line, { maxLength: 30 });
    fc.assert(
      fc.property(lines, lines, (a, b) => {
        const common = lcs(a, b);
        expect(counts(a.join(''), b.join(''))).toEqual([b.length - common, a.length - common]);
      }),
      { numRuns: 500 },
    );
  });

  test('a rewrite beyond the bound counts as replaced between the common ends, quickly', () => {
    const many = (letter: string) => Array.from({ length: maxEdits * 3 }, (_, i) => `${letter}${i}\n`).join('');
    const start = performance.now();
    expect(counts(`head\n${many('a')}tail\n`, `head\n${many('b')}tail\n`)).toEqual([maxEdits * 3, maxEdits * 3]);
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});

describe('rewrittenFiles', () => {
  const rewritten = (before: string | Uint8Array, after: string | Uint8Array): boolean =>
    rewrittenFiles([textFile('f', before)], [textFile('f', after)]).length > 0;

  test('lines: one that is left is enough', () => {
    expect(rewritten('a\nb\nc\n', 'x\ny\nz\n')).toBe(true);
    expect(rewritten('a\nb\nc\n', 'x\nb\nz\n')).toBe(false);
    expect(rewritten('a\nb\n', 'a\nb\n')).toBe(false);
    expect(rewritten('a\nb\n', 'new\na\nb\n')).toBe(false);
    expect(rewritten('a\nb\n', '')).toBe(true);
    // Another layout is a rewrite, whatever it means.
    expect(rewritten('{\n "a": 1\n}\n', '{"a":1}\n')).toBe(true);
  });

  test('a file of one line: words and signs', () => {
    expect(rewritten('{"rank":[3,4],"salt":1}', '{"rank":[2,4],"salt":9}')).toBe(false);
    expect(rewritten('{"rank":[3,4],"salt":1}', 'nothing like it')).toBe(true);
    expect(rewritten('ab\n', 'ab\ncd\n')).toBe(false);
  });

  test('a file that is no text: bytes at both ends', () => {
    const bytes = (...values: number[]) => Uint8Array.from([0, ...values]);
    expect(rewritten(bytes(1, 2, 3, 4, 5), bytes(1, 2, 9, 4, 5))).toBe(false);
    expect(rewritten(bytes(1, 2, 3, 4, 5), bytes(9, 9, 9, 9, 9, 9))).toBe(true);
  });

  test('what is only in one of the trees, and what was empty, is not rewritten', () => {
    expect(rewrittenFiles([textFile('old', 'a\n'), textFile('e', '')], [textFile('new', 'b\n'), textFile('e', 'x\n')])).toEqual([]);
  });
});
