import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EditFormat, materialiseAnswer } from '#electron/proposers/materialise/materialise.ts';
import { editAnswerSchema } from '#electron/proposers/materialise/structured.ts';
import { z } from 'zod';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { TreeFile } from '#shared/domain/tree.ts';
import { file, shown, tree } from './support.ts';

const applied = (format: EditFormat, answer: string, base: readonly TreeFile[]) => {
  const result = materialiseAnswer(format, answer, base);
  return result.ok ? shown(result.value) : result.error;
};
const decoder = new TextDecoder();
const gone = (base: readonly TreeFile[], next: readonly TreeFile[]): string[] =>
  base.map((f) => f.path).filter((name) => !next.some((f) => f.path === name));

describe('whole files', () => {
  const written = (files: readonly TreeFile[]): string =>
    files
      .map(({ path, mode, bytes }) => {
        const text = decoder.decode(bytes);
        const open = `<file path="${path}" mode="${mode}"`;
        if (text === '') return `${open}/>\n`;
        return text.endsWith('\n') ? `${open}>\n${text}</file>\n` : `${open} end="none">\n${text}\n</file>\n`;
      })
      .join('');

  it('give the tree they were written from', () => {
    fc.assert(
      fc.property(tree, tree, (base, next) => {
        fc.pre(next.length + base.length > 0);
        // Lines that are a closing tag cannot be said in this format; CR LF is the file's own and cannot be taken away.
        fc.pre(!next.some(({ path }) => base.some((b) => b.path === path && decoder.decode(b.bytes).includes('\r'))));
        const answer = `Some words.\n${written(next)}${gone(base, next)
          .map((path) => `<delete path="${path}"/>\n`)
          .join('')}`;
        expect(applied('files', answer, base)).toEqual(shown(next));
      }),
      { numRuns: 400 },
    );
  });
  const base = [file('a.js', 'one\r\ntwo\r\n', 'exec'), file('b.js', 'x\n')];
  it('keep mode and line ends of the file that is there', () => {
    expect(applied('files', '<file path="a.js">\n1\n2\n</file>', base)).toEqual({ 'a.js': 'exec:1\r\n2\r\n', 'b.js': 'x\n' });
  });
  it.each([
    ['nothing here', { code: 'no_candidate', message: 'the answer has no <file path="…"> block' }],
    ['<file path="a.js">\n1', { code: 'apply_failed', message: '"a.js" is not closed: the answer ends before </file>' }],
    ['<file>\n1\n</file>', { code: 'apply_failed', message: '<file> has no path' }],
    ['<file path="b.js">\n1\n</file>\n<file path="b.js">\n2\n</file>', { code: 'apply_failed', message: '"b.js" is written twice' }],
    ['<delete path="c.js"/>', { code: 'apply_failed', message: '"c.js" cannot be deleted: there is no such file' }],
    [
      '<file path="b.js" mode="link">\n1\n</file>',
      { code: 'apply_failed', message: 'the mode of "b.js" is "link"; it is "file" or "exec"' },
    ],
  ])('refuse %j', (answer, error) => {
    expect(applied('files', answer, base)).toEqual(error);
  });
});

describe('search and replace', () => {
  const base = [
    file('src/a.js', 'one\ntwo\nthree\ntwo\nlast'),
    file('crlf.txt', 'one\r\ntwo\r\n'),
    file('empty', ''),
    file('bin', '\u0000'),
  ];
  const block = (path: string, search: string, replace: string) =>
    `${path}\n\`\`\`\n<<<<<<< SEARCH\n${search}=======\n${replace}>>>>>>> REPLACE\n\`\`\`\n`;
  it.each([
    [block('src/a.js', 'one\ntwo\n', '1\n'), { 'src/a.js': '1\nthree\ntwo\nlast' }],
    [block('**src/a.js**:', 'three\n', ''), { 'src/a.js': 'one\ntwo\ntwo\nlast' }],
    [block('`src/a.js`', 'last\n', 'LAST\n'), { 'src/a.js': 'one\ntwo\nthree\ntwo\nLAST' }],
    [block('crlf.txt', 'two\n', '2\n3\n'), { 'crlf.txt': 'one\r\n2\r\n3\r\n' }],
    [block('new.txt', '', 'hello\n'), { 'new.txt': 'hello\n' }],
    [block('empty', '', 'hello\n'), { empty: 'hello\n' }],
    [`${block('src/a.js', 'one\n', '1\n')}\n<<<<<<< SEARCH\nthree\n=======\n3\n>>>>>>> REPLACE\n`, { 'src/a.js': '1\ntwo\n3\ntwo\nlast' }],
  ])('%j', (answer, expected) => {
    expect(applied('search-replace', answer, base)).toEqual({ ...shown(base), ...expected });
  });
  it('deletes', () => {
    expect(applied('search-replace', '<delete path="bin"/>', base)).not.toHaveProperty('bin');
  });
  it.each([
    ['no block', { code: 'no_candidate', message: 'the answer has no SEARCH block' }],
    [
      block('src/a.js', 'two\n', '2\n'),
      { code: 'apply_failed', message: '"src/a.js": the lines from "two" on stand there more than once; give more lines around them' },
    ],
    [block('src/a.js', 'wo\n', '2\n'), { code: 'apply_failed', message: '"src/a.js": the lines from "wo" on are not there as written' }],
    [
      block('src/a.js', '', 'x\n'),
      { code: 'apply_failed', message: '"src/a.js" is there and not empty: an empty SEARCH makes a new file' },
    ],
    [block('none', 'x\n', 'y\n'), { code: 'apply_failed', message: 'there is no file "none"' }],
    ['<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE', { code: 'apply_failed', message: 'a SEARCH block has no path above it' }],
    [
      'src/a.js\n<<<<<<< SEARCH\none\n=======\n1',
      { code: 'apply_failed', message: 'a block for "src/a.js" is not closed: the answer ends before >>>>>>> REPLACE' },
    ],
  ])('refuse %j', (answer, error) => {
    expect(applied('search-replace', answer, base)).toEqual(error);
  });
});

describe('structured answers', () => {
  const base = [file('t.json', '{ "exams": [ {"slot": 1},\n  {"slot": 2} ], "a/b": true }\n'), file('a.js', 'one two two\n')];
  it('set values without touching the layout, edit inside lines, write and delete', () => {
    const answer = {
      values: [
        { path: 't.json', pointer: '/exams/1/slot', value: 7 },
        { path: 't.json', pointer: '/a~1b', value: null },
      ],
      edits: [{ path: 'a.js', search: 'one', replace: '1' }],
      files: [{ path: 'n', content: 'x', mode: 'exec' }],
    };
    expect(applied('json', JSON.stringify(answer), base)).toEqual({
      't.json': '{ "exams": [ {"slot": 1},\n  {"slot": 7} ], "a/b": null }\n',
      'a.js': '1 two two\n',
      n: 'exec:x',
    });
    expect(applied('json', '```json\n{"delete": ["a.js"]}\n```', base)).not.toHaveProperty('a.js');
  });
  it.each([
    ['', { code: 'no_candidate', message: 'the answer changes nothing' }],
    ['{}', { code: 'no_candidate', message: 'the answer changes nothing' }],
    [
      '{"files": 1}',
      { code: 'apply_failed', message: 'the answer does not fit its schema: files: Invalid input: expected array, received number' },
    ],
    [
      '{"edits":[{"path":"a.js","search":"two","replace":""}]}',
      { code: 'apply_failed', message: '"a.js": the lines from "two" on stand there more than once; give more lines around them' },
    ],
    [
      '{"values":[{"path":"t.json","pointer":"/exams/2","value":1}]}',
      { code: 'apply_failed', message: '"t.json" has no value at "/exams/2"' },
    ],
    [
      '{"values":[{"path":"a.js","pointer":"","value":1}]}',
      { code: 'apply_failed', message: '"a.js" is not JSON: no value in it can be set' },
    ],
  ])('refuse %j', (answer, error) => {
    expect(applied('json', answer, base)).toEqual(error);
  });
  it('says what is not JSON', () => {
    expect(applied('json', '{"files": [', base)).toMatchObject({
      code: 'apply_failed',
      message: expect.stringMatching(/^the answer is not JSON: /),
    });
  });
  it('the schema that is sent and the check agree', () => {
    const validate = new Ajv2020().compile(z.record(z.string(), z.unknown()).parse(editAnswerSchema));
    const answer = fc.record(
      {
        files: fc.array(fc.record({ path: fc.string({ minLength: 1 }), content: fc.string() })),
        edits: fc.array(fc.record({ path: fc.string({ minLength: 1 }), search: fc.string(), replace: fc.string() })),
        values: fc.array(fc.record({ path: fc.string({ minLength: 1 }), pointer: fc.string(), value: fc.jsonValue() })),
        delete: fc.array(fc.string({ minLength: 1 })),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(answer, fc.object()), (value) => {
        const result = applied('json', JSON.stringify(value), base);
        const refused =
          'code' in result && typeof result.message === 'string' && result.message.startsWith('the answer does not fit its schema');
        expect(validate(JSON.parse(JSON.stringify(value)))).toBe(!refused);
      }),
      { numRuns: 300 },
    );
  });
});

it('no answer in any format throws', () => {
  const piece = fc.constantFrom(
    '<file path="a">\n',
    '</file>\n',
    '<delete path="a"/>\n',
    '<<<<<<< SEARCH\n',
    '=======\n',
    '>>>>>>> REPLACE\n',
    'a\n',
    '{"',
    ':[{',
    '}]',
    '\r\n',
    '\u0000',
    '\ud800',
    '`'.repeat(3),
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 12 }),
      fc.constantFrom<EditFormat>('files', 'diff', 'search-replace', 'json'),
      (pieces, format) => {
        materialiseAnswer(format, pieces.join(''), [file('a', 'a\n')]);
      },
    ),
    { numRuns: 3_000 },
  );
  const start = performance.now();
  for (const format of ['files', 'diff', 'search-replace', 'json'] as const)
    for (const text of [
      `<file${' '.repeat(200_000)}x`,
      `${'a'.repeat(100_000)}${' '.repeat(100_000)}x\n<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE`,
      '<<<<<<< SEARCH\n'.repeat(10_000),
      '<file path="a">\n'.repeat(10_000),
    ])
      materialiseAnswer(format, text, [file('a', 'a\n')]);
  expect(performance.now() - start).toBeLessThan(10_000);
});
