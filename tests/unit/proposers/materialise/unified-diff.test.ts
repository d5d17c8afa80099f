import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { materialiseAnswer } from '#electron/proposers/materialise/materialise.ts';
import { recounted } from '#electron/proposers/materialise/unified-diff.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { file, shown, tree } from './support.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'pawl-diff-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'core.autocrlf=false', '-c', 'core.safecrlf=false', '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
  });
git('init', '-q');

const place = (files: readonly TreeFile[]): void => {
  for (const name of readdirSync(folder)) if (name !== '.git') rmSync(path.join(folder, name), { recursive: true });
  for (const { path: name, mode, bytes } of files) {
    const target = path.join(folder, name);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, bytes);
    chmodSync(target, mode === 'exec' ? 0o755 : 0o644);
  }
  git('add', '-A');
};

/** What git says of the difference, renames included. */
const gitDiff = (before: readonly TreeFile[], after: readonly TreeFile[]): string => {
  place(before);
  const from = git('write-tree').trim();
  place(after);
  return git('diff', '--no-color', '-M20%', from, git('write-tree').trim());
};

const apply = (answer: string, base: readonly TreeFile[]) => materialiseAnswer('diff', answer, base);
const applied = (answer: string, base: readonly TreeFile[]) => {
  const result = apply(answer, base);
  return result.ok ? shown(result.value) : result.error;
};

describe('a diff by git', () => {
  it('gives the tree it was made from: line ends, last lines, empty files, modes, renames, deletions, any names', () => {
    fc.assert(
      fc.property(tree, tree, fc.boolean(), (base, next, fenced) => {
        const diff = gitDiff(base, next);
        fc.pre(diff !== '');
        expect(applied(fenced ? `Here it is.\n\n\`\`\`diff\n${diff}\`\`\`\nDone.` : diff, base)).toEqual(shown(next));
      }),
      { numRuns: 60 },
    );
  });

  it('with wrong counts in its hunks gives the same tree', () => {
    const base = [file('a.txt', Array.from({ length: 30 }, (_, i) => `line ${i}`).join('\n') + '\n')];
    const next = [file('a.txt', shown(base)['a.txt']?.replace('line 3\n', 'LINE 3\nmore\n').replace('line 25\n', '') ?? '')];
    const diff = gitDiff(base, next);
    const wrong = diff.replace(/@@ -(\d+),\d+ \+(\d+),\d+ @@.*/g, '@@ -$1,2 +$2,9 @@');
    expect(wrong).not.toBe(diff);
    expect(applied(wrong, base)).toEqual(shown(next));
    // Wrong places too: the context says where.
    expect(
      applied(
        wrong.replace(/@@ -(\d+)/g, (_, at: string) => `@@ -${Number(at) + 2}`),
        base,
      ),
    ).toEqual(shown(next));
  });
});

describe('what models write', () => {
  const base = [file('src/a.js', 'one\ntwo\nthree\n'), file('crlf.txt', 'one\r\ntwo\r\n')];
  it('applies without git headers, to CR LF files with LF, with empty context lines that lost their blank', () => {
    expect(applied('--- a/crlf.txt\n+++ b/crlf.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n', base)).toMatchObject({
      'crlf.txt': 'one\r\n2\r\n',
    });
    expect(applied('--- src/a.js\n+++ src/a.js\n@@ -1 +1 @@\n-one\n+1\n', base)).toMatchObject({ 'src/a.js': '1\ntwo\nthree\n' });
    const gap = [file('g', 'a\n\nb\n')];
    expect(applied('```diff\n--- a/g\n+++ b/g\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n```', gap)).toEqual({ g: 'a\n\nc\n' });
  });
  it('is refused whole, with file and place', () => {
    const cases: readonly (readonly [string, object])[] = [
      ['I would change nothing.', { code: 'no_candidate', message: 'the answer has no diff' }],
      [
        '```diff\n--- a/src/a.js\n+++ b/src/a.js\n@@ -1 +1 @@\n-one',
        { code: 'apply_failed', message: 'the diff is not closed: the answer ends before the end of its fence' },
      ],
      [
        '--- a/src/a.js\n+++ b/src/a.js\n@@ -7,1 +7,1 @@\n-four\n+4\n',
        {
          code: 'apply_failed',
          message: 'the diff of "src/a.js" does not fit: lines to remove or keep are not there as written (hunks at line 7)',
        },
      ],
      ['--- a/none\n+++ b/none\n@@ -1 +1 @@\n-x\n+y\n', { code: 'apply_failed', message: 'there is no file "none"' }],
      [
        '--- /dev/null\n+++ b/src/a.js\n@@ -0,0 +1 @@\n+x\n',
        { code: 'apply_failed', message: '"src/a.js" is to be created, but it is there' },
      ],
      [
        'diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n',
        { code: 'apply_failed', message: 'mode "120000" is not that of a file: links and modules cannot be made' },
      ],
      [
        'diff --git a/src/a.js b/src/a.js\nindex 1..2 100644\nBinary files a/src/a.js and b/src/a.js differ\n',
        { code: 'apply_failed', message: '"b/src/a.js" is a binary change, which a diff of text does not carry' },
      ],
      [
        'diff --git a/b.png b/b.png\nnew file mode 100644\nindex 0000000..1111111\nGIT binary patch\nliteral 3\nKcmZQ%W?%pS00000\n\n',
        { code: 'apply_failed', message: 'it has a binary patch, which a diff of text does not carry' },
      ],
      ['--- a/src/a.js\n+++ b/src/a.js\nno hunk\n', { code: 'apply_failed', message: 'no hunk follows the names of "b/src/a.js"' }],
      [
        '--- a/src/a.js\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n',
        { code: 'apply_failed', message: '"src/a.js" is to be deleted, but the diff leaves lines in it' },
      ],
    ];
    for (const [answer, error] of cases) expect(applied(answer, base)).toEqual(error);
  });
  it('two files, the second of which does not fit, change nothing', () => {
    const result = apply(
      '--- a/src/a.js\n+++ b/src/a.js\n@@ -1 +1 @@\n-one\n+1\n--- a/crlf.txt\n+++ b/crlf.txt\n@@ -1 +1 @@\n-zero\n+0\n',
      base,
    );
    expect(result.ok).toBe(false);
  });
});

describe('hostile answers', () => {
  const base = [file('a', 'x\n')];
  const long = 200_000;
  it('never throw', () => {
    const piece = fc.constantFrom(
      '--- a/a\n',
      '+++ b/a\n',
      '@@ -1 +1 @@\n',
      '-x\n',
      '+y\n',
      ' x\n',
      '\n',
      'diff --git a/a b/a\n',
      'rename from a\n',
      'rename to b\n',
      '```diff\n',
      '```\n',
      '\\ No newline at end of file\n',
      '\r\n',
      'new file mode 100755\n',
      '@@ -0,0 +99999999999999999999 @@\n',
    );
    // Refused or applied; whatever is applied is a whole tree of files.
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const result = apply(pieces.join(''), base);
        expect(result.ok ? result.value.every(({ path: name }) => name !== '') : result.error.message !== '').toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });
  it('take time in proportion to their length', () => {
    const start = performance.now();
    for (const answer of [
      `--- a/a\n+++ b/a\n@@ -1,9 +1,9 @@\n${'\n'.repeat(long)}x`,
      `--- a/a\n+++ b/a\n${'@@ -1 +1 @@\n'.repeat(long / 10)}`,
      `diff --git ${'a/"\\'.repeat(long / 4)}\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n`,
      '```diff\n'.repeat(long / 8),
      '--- a/a\n'.repeat(long / 8),
    ])
      apply(answer, base);
    expect(performance.now() - start).toBeLessThan(10_000);
  });
  it('recounting is the identity on diffs that are right', () => {
    fc.assert(
      fc.property(tree, tree, (one, two) => {
        const diff = gitDiff(one, two);
        expect(
          recounted(diff)
            .replaceAll(/@@ -(\d+),1 \+/g, '@@ -$1 +')
            .replaceAll(/ \+(\d+),1 @@/g, ' +$1 @@'),
        ).toBe(diff.replaceAll(/^(@@ .*? @@).*$/gm, '$1'));
      }),
      { numRuns: 25 },
    );
  });
});
