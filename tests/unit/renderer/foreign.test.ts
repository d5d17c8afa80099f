import { expect, test } from 'vitest';
import { visibleText } from '#renderer/i18n/foreign.ts';
import { cutTail } from '#renderer/widgets/MiddleEllipsis.tsx';

test('controls that would reorder or hide text are written out', () => {
  expect(visibleText('invoice\u202Egnp.exe')).toBe('invoice[U+202E]gnp.exe');
  expect(visibleText('a\u2066b\u2069c\u200Fd\u200Be\u0000f\u001B[31m\uFEFF')).toBe(
    'a[U+2066]b[U+2069]c[U+200F]d[U+200B]e[U+0000]f[U+001B][31m[U+FEFF]',
  );
});

test('everything that is read stays as it is', () => {
  for (const text of ['plain', 'two\nlines\r\n\tindented', '시간표', 'שלום', 'نامه\u200Cها', '👩‍👩‍👧']) expect(visibleText(text)).toBe(text);
});

test('a name is cut between characters as they are read', () => {
  expect(cutTail('exam timetable without clashes', 10)).toEqual(['exam timetable witho', 'ut clashes']);
  expect(cutTail('short', 10)).toEqual(['', 'short']);
  expect(cutTail('ab😀😀😀', 2)).toEqual(['ab😀', '😀😀']);
  expect(cutTail('x👩‍👩‍👧é', 2)).toEqual(['x', '👩‍👩‍👧é']);
});
