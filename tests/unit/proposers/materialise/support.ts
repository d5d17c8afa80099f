// Trees for the tests of the edit formats.
import * as fc from 'fast-check';
import type { TreeFile } from '#shared/domain/tree.ts';
import { compareUtf8 } from '#shared/lib/text.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const file = (path: string, text: string, mode: TreeFile['mode'] = 'file'): TreeFile => ({
  path,
  mode,
  bytes: encoder.encode(text),
});

/** A tree as something that tests can compare and people can read. */
export const shown = (files: readonly TreeFile[]): Record<string, string> =>
  Object.fromEntries(
    [...files]
      .sort((a, b) => compareUtf8(a.path, b.path))
      .map(({ path, mode, bytes }) => [path, `${mode === 'exec' ? 'exec:' : ''}${decoder.decode(bytes)}`]),
  );

const word = fc.constantFrom(
  'a',
  'b',
  'one',
  'two',
  '',
  '  x',
  '-- y',
  '++ z',
  '@@ -1 +1 @@',
  'é',
  '한국어',
  '😀',
  '\t',
  '=======',
  '</b>',
);
const ending = fc.constantFrom('\n', '\r\n');

/** Text of a few lines, with either line end, with or without the last one. */
const text = fc
  .tuple(fc.array(word, { maxLength: 8 }), ending, fc.boolean())
  .map(([lines, end, last]) => (lines.length === 0 ? '' : lines.join(end) + (last ? end : '')));

const path = fc.constantFrom('a.txt', 'b.txt', 'src/c.js', 'src/d e.js', 'src/é.js', '문서.md', 'x/y/z');

/** Up to five files. */
export const tree = fc
  .uniqueArray(fc.tuple(path, text, fc.constantFrom<TreeFile['mode']>('file', 'exec')), { maxLength: 5, selector: ([name]) => name })
  .map((files) => files.map(([name, content, mode]) => file(name, content, mode)));
