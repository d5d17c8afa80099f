import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ensure } from '#shared/lib/assert.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { readText } from '#electron/proposers/text-operators.ts';
import { materialiseSearch, proposeBySearch, searchResponse, SearchOperator, type SearchProposal } from '#electron/proposers/search.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
const tree = '0'.repeat(64);
const all: readonly SearchOperator[] = SearchOperator.options.filter((name) => !name.startsWith('json-'));
const file = (text: string, path = 'src/code.js'): TreeFile => ({ path, mode: 'file', bytes: encode(text) });
const draw = (
  files: readonly TreeFile[],
  n: number,
  operators: readonly SearchOperator[] = all,
  writable: readonly string[] = ['**'],
): SearchProposal => proposeBySearch({ seed: 1, draw: n, baseTree: tree, files, writable, operators });
const textAfter = (proposal: SearchProposal): string =>
  decode(ensure(proposal.kind === 'edits' ? proposal.files[0] : undefined, 'a changed file').bytes);

/** Everything that one edit by `op` makes of `text`, as far as `count` draws find it. */
const single = (text: string, op: SearchOperator, { path = 'src/code.js', count = 400 } = {}): Set<string> => {
  const found = new Set<string>();
  for (let n = 0; n < count; n++) {
    const proposal = draw([file(text, path)], n, [op]);
    if (proposal.kind === 'edits' && proposal.edits.length === 1) found.add(textAfter(proposal));
  }
  return found;
};

const words = fc.constantFrom(
  'if (a < b) {',
  '}',
  'x = x + 1',
  'return f(a, b, 3)',
  'é = "ü😀"',
  '// note',
  '# note',
  '',
  '  ',
  '\tnot done',
  'a && !b',
  'n += -2',
  '[1, 2]',
  '\'x\' == "y"',
  '`t${1}`',
  '"""',
  'while true',
  ')',
  'key=value',
  'for i in range(3):',
);
const indent = fc.constantFrom('', '  ', '    ', '\t');
const document = fc
  .record({
    lines: fc.array(fc.tuple(indent, words), { maxLength: 14 }),
    eol: fc.constantFrom('\n', '\r\n'),
    final: fc.boolean(),
    mark: fc.boolean(),
    path: fc.constantFrom('a.js', 'b/c.py', 'run.sh', 'notes.txt'),
  })
  .map(({ lines, eol, final, mark, path }) => ({
    path,
    eol,
    text: (mark ? '\ufeff' : '') + lines.map(([space, word]) => space + word).join(eol) + (final && lines.length > 0 ? eol : ''),
  }));

describe('every proposal on text', () => {
  it('differs from its base, is the same when drawn again, and comes back from its stored response', () => {
    fc.assert(
      fc.property(document, fc.nat(), fc.subarray([...all], { minLength: 1 }), ({ text, path }, n, operators) => {
        const base = [file(text, path), file('{"a": [1, 2]}', 'z.json')];
        const proposal = draw(base, n, operators);
        expect(draw(base, n, operators)).toEqual(proposal);
        const rebuilt = materialiseSearch(searchResponse(proposal), base);
        const isEdit = proposal.kind === 'edits';
        const [changed] = isEdit ? proposal.files : base;
        expect(rebuilt).toEqual(
          isEdit ? { ok: true, value: [changed, base[1]] } : { ok: false, error: { code: 'no_candidate', message: proposal.reason } },
        );
        expect(changed?.path).toBe(path);
        expect(decode(ensure(changed, 'a file').bytes) !== text).toBe(isEdit);
        expect(isEdit ? proposal.edits.length : 1).toBeLessThanOrEqual(3);
      }),
      { numRuns: 2000 },
    );
  });

  it('keeps every byte outside the ranges that it names, the byte order mark, the kind of line end and a missing final one', () => {
    fc.assert(
      fc.property(document, fc.nat(), ({ text, path, eol }, n) => {
        const proposal = draw([file(text, path)], n);
        fc.pre(proposal.kind === 'edits');
        let before = encode(text);
        for (const { splices } of proposal.edits) {
          const pieces: Buffer[] = [];
          let from = 0;
          for (const { start, end, old, new: to } of splices) {
            expect(start).toBeGreaterThanOrEqual(from);
            expect(decode(before.subarray(start, end))).toBe(old);
            pieces.push(Buffer.from(before.subarray(from, start)), Buffer.from(to));
            from = end;
          }
          before = new Uint8Array(Buffer.concat([...pieces, before.subarray(from)]));
        }
        const after = textAfter(proposal);
        expect(decode(before)).toBe(after);
        expect(after.startsWith('\ufeff')).toBe(text.startsWith('\ufeff'));
        expect(after.lastIndexOf('\ufeff')).toBeLessThanOrEqual(0);
        // A first edit may leave one line without an end; what a second one then takes for the file's line end is nobody's any more.
        fc.pre(proposal.edits.length === 1 && text.includes(eol));
        expect([...(after.match(/\r\n|\n|\r/g) ?? [])].filter((end) => end !== eol)).toEqual([]);
        // A missing final line end stays missing: no edit adds one, and only where the last line is removed does another line end the file.
        const ended = after === '' || after.endsWith(eol);
        expect(ended || !text.endsWith(eol)).toBe(true);
        expect(!ended || text.endsWith(eol) || after === '' || /\n[ \t]*$/.test(text) || proposal.edits[0]?.op.startsWith('line-')).toBe(
          true,
        );
      }),
      { numRuns: 2000 },
    );
  });

  it('never touches a file that is not writable, not text, or JSON', () => {
    const base = [
      file('a = 1\nb = 2\n', 'fixed.py'),
      file('[1, 2]', 'data.json'),
      { path: 'image.py', mode: 'file' as const, bytes: new Uint8Array([0x61, 0x0a, 0xff, 0x0a]) },
      { path: 'nul.py', mode: 'file' as const, bytes: encode('a = 1\n\0b = 2\n') },
      file('c = 3\nd = 4\n', 'open.py'),
    ];
    const writable = ['open.py', 'data.json', 'image.py', 'nul.py'];
    const paths = new Set<string>();
    for (let n = 0; n < 200; n++) {
      const proposal = draw(base, n, all, writable);
      if (proposal.kind === 'edits') paths.add(ensure(proposal.files[0], 'a file').path);
    }
    expect([...paths]).toEqual(['open.py']);
    expect(draw(base.slice(0, 4), 1, all, writable)).toMatchObject({ kind: 'none', reason: expect.stringContaining('text file') });
  });

  it('edits JSON by value and text by line where a task names both kinds of operators', () => {
    const base = [file('[1, 2, 3]', 'data.json'), file('a = 1\nb = 2\n', 'code.py')];
    const ops = new Map<string, Set<string>>();
    for (let n = 0; n < 200; n++) {
      const proposal = draw(base, n, ['json-swap', 'line-swap']);
      if (proposal.kind === 'edits') for (const { op, path } of proposal.edits) ops.set(path, (ops.get(path) ?? new Set()).add(op));
    }
    expect(ops).toEqual(
      new Map([
        ['data.json', new Set(['json-swap'])],
        ['code.py', new Set(['line-swap'])],
      ]),
    );
  });

  it('takes files in proportion to their size', () => {
    const base = [file('a = 1\n', 'small.py'), file('value = 1\n'.repeat(50), 'large.py')];
    let large = 0;
    for (let n = 0; n < 300; n++) {
      const proposal = draw(base, n);
      if (proposal.kind === 'edits' && proposal.files[0]?.path === 'large.py') large++;
    }
    expect(large).toBeGreaterThan(280);
  });

  it('is drawn as before: a change here is a new version of the search', () => {
    const text = 'function f(a, b) {\n  if (a <= b) {\n    return b - 1;\n  }\n  return a;\n}\n';
    const drawn = [1, 2, 3, 4, 5, 6].map((n) => draw([file(text)], n));
    expect(drawn.map((proposal) => (proposal.kind === 'edits' ? proposal.edits.map(({ op, at }) => `${op} ${at.join(', ')}`) : [])))
      .toMatchInlineSnapshot(`
      [
        [
          "token-argument 1:11",
          "token-name 2:7",
        ],
        [
          "line-copy line 5, line 1",
        ],
        [
          "token-name 3:12",
          "token-name 2:7",
        ],
        [
          "line-copy line 5, line 2",
          "token-name 2:10",
          "line-swap line 4, line 5",
        ],
        [
          "token-name 5:10",
        ],
        [
          "line-move line 6, line 1",
        ],
      ]
    `);
    expect(textAfter(ensure(drawn[0], 'a draw'))).toMatchInlineSnapshot(`
      "function f(b, a) {
        if (b <= b) {
          return b - 1;
        }
        return a;
      }
      "
    `);
  });
});

describe('lines', () => {
  const python = 'def f(x):\n    y = 1\n    if x:\n        y = 2\n    return y\n';

  it('line-delete removes one line of code, never a comment or an empty line', () => {
    expect(single('a\n\n# b\nc', 'line-delete', { path: 'a.py' })).toEqual(new Set(['\n# b\nc', 'a\n\n# b']));
    expect(single('a', 'line-delete')).toEqual(new Set());
  });

  it('line-move moves a line, as it is or with the indentation of its neighbour', () => {
    const found = single(python, 'line-move', { path: 'a.py' });
    expect(found).toContain('def f(x):\n    if x:\n        y = 2\n    y = 1\n    return y\n');
    expect(found).toContain('def f(x):\n    if x:\n        y = 2\n        y = 1\n    return y\n');
    expect(found).toContain('def f(x):\n    y = 1\n    if x:\n    y = 2\n    return y\n');
    expect(found).not.toContain(python);
  });

  it('line-move keeps a missing final line end missing', () => {
    expect(single('a\nb\nc', 'line-move')).toEqual(new Set(['b\na\nc', 'b\nc\na', 'a\nc\nb', 'c\na\nb']));
  });

  it('line-copy writes a line twice, and line-swap exchanges two', () => {
    expect(single('a\nb', 'line-copy')).toEqual(new Set(['a\na\nb', 'a\nb\na', 'b\na\nb', 'a\nb\nb']));
    expect(single('a\r\nb\r\nc', 'line-swap')).toEqual(new Set(['b\r\na\r\nc', 'c\r\nb\r\na', 'a\r\nc\r\nb']));
    expect(single('  a\nb\n', 'line-swap')).toEqual(new Set(['b\n  a\n', '  b\na\n']));
  });
});

describe('tokens', () => {
  it.each<[SearchOperator, string, string[], string]>([
    ['token-operator', 'if (a < 1)', ['if (a <= 1)', 'if (a > 1)', 'if (a >= 1)'], 'a.js'],
    ['token-operator', 'a === b', ['a !== b', 'a < b', 'a <= b', 'a > b', 'a >= b'], 'a.js'],
    ['token-operator', 'x = a and not b', ['x = a or not b', 'x = a and b', 'x += a and not b', 'x -= a and not b'], 'a.py'],
    ['token-operator', 'f(-1, True)', ['f(-1, False)'], 'a.py'],
    ['token-operator', 'const x = !y', ['const x = y'], 'a.js'],
    ['token-operator', 'n += 1; break', ['n -= 1; break', 'n += 1; continue'], 'a.js'],
    [
      'token-operator',
      'a % b // c',
      [
        'a + b // c',
        'a - b // c',
        'a * b // c',
        'a / b // c',
        'a // b // c',
        'a % b + c',
        'a % b - c',
        'a % b * c',
        'a % b / c',
        'a % b % c',
      ],
      'a.py',
    ],
    ['token-operator', 'test "$a" -gt 3', ['-eq', '-ne', '-lt', '-le', '-ge'].map((op) => `test "$a" ${op} 3`), 'a.sh'],
    ['token-number', 'x 5', ['x 6', 'x 4', 'x -5'], 'a.txt'],
    ['token-number', 'y = n - 1', ['y = n - 2', 'y = n - 0', 'y = n'], 'a.txt'],
    ['token-number', 'f(-2)', ['f(-3)', 'f(-1)', 'f(2)', 'f(-2 + 1)', 'f(-2 - 1)'].filter((text) => !/[+-] 1\)/.test(text)), 'a.js'],
    ['token-number', 'a[i]', ['a[i + 1]', 'a[i - 1]'], 'a.js'],
    ['token-name', 'a.x + b.y', ['b.x + b.y', 'a.x + a.y', 'a.y + b.y', 'a.x + b.x'], 'a.js'],
    ['token-argument', 'f(a, g(1, 2))', ['f(g(1, 2), a)', 'f(a, g(2, 1))'], 'a.js'],
    ['token-literal', 'a("x", \'y\')', ['a("x", "x")', "a('y', 'y')"], 'a.js'],
  ])('%s: %s', (op, text, expected, path) => {
    expect(single(text, op, { path })).toEqual(new Set(expected));
  });

  it('leave comments, the insides of texts and keywords alone', () => {
    const text = 'return "a < 1" // b < 2';
    for (const op of ['token-operator', 'token-number', 'token-name', 'token-literal'] as const)
      expect(single(text, op)).toEqual(new Set());
  });

  it('take names from nearby lines in most draws, and from the whole file in the others', () => {
    const text = ['far', ...Array.from({ length: 20 }, () => '0'), 'near = here'].join('\n');
    const found = [...single(text, 'token-name', { count: 3000 })];
    expect(found.filter((after) => after.endsWith('far = here'))).toHaveLength(1);
    expect(found.filter((after) => after.endsWith('here = here'))).toHaveLength(1);
  });
});

describe('readText', () => {
  it('finds the lines of code, whatever ends them', () => {
    const document = ensure(readText('a.py', encode('\ufeffa\r\n\r# c\n"""x\ny"""')), 'a document');
    expect(document.lines.map(({ start, end }) => document.text.slice(start, end))).toEqual(['a', '', '# c', '"""x', 'y"""']);
    expect(document.code).toEqual([0, 3, 4]);
  });
});
