// A check that is silenced says why, on the same line; a directive that silences nothing is an error of the linter itself (`npm run lint`).
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');

const directive = /\/[/*]\s*(?:(?:oxlint|eslint)-disable(?:-next-line|-line)?|@ts-(?:expect-error|ignore|nocheck)|oxfmt-ignore)(?=\s|$)/;
const throughUnknown = /\bas\s+unknown\s+as\b/;
/** Two words at least: `-- why` after the names of the rules. */
const reason = /\s--\s+[^\s*]+\s+[^\s*]+/;

/** Numbers of the lines of a source that silence a check, or cast around the types, without a reason on the line. */
const unexplained = (text: string): number[] =>
  text.split('\n').flatMap((line, i) => ((directive.test(line) || throughUnknown.test(line)) && !reason.test(line) ? [i + 1] : []));

const isSource = (name: string): boolean => /\.[cm]?[jt]sx?$/.test(name);
const sources = [
  ...readdirSync(root).filter(isSource),
  ...['shared', 'electron', 'renderer', 'tests'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && isSource(entry.name))
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name))),
  ),
];

test('every suppression of a check has its reason on its line', () => {
  expect(sources.length).toBeGreaterThan(300);
  const found = sources.flatMap((file) => unexplained(readFileSync(path.join(root, file), 'utf8')).map((line) => `${file}:${line}`));
  expect(found).toEqual([]);
});

test('the walk sees what it must refuse, and leaves alone what has a reason', () => {
  // Put together here, or the walk would find them in this file.
  const sample = (text: string): string => text.replace('OFF', 'disable').replace('TS', 'ts').replace('THROUGH', 'unknown');
  const bad = [
    '// oxlint-OFF-next-line no-console',
    '/* oxlint-OFF no-console */',
    '{/* oxlint-OFF-next-line jsx-a11y/no-autofocus */}',
    'call(); // eslint-OFF-line no-console',
    '// oxlint-OFF-next-line no-console -- ',
    '// oxlint-OFF-next-line no-console -- needed',
    '/* oxlint-OFF no-console -- */',
    '// @TS-ignore',
    '// @TS-expect-error wrong',
    'const x = y as THROUGH as Z;',
  ];
  for (const line of bad) expect(unexplained(`// a\n${sample(line)}\n`), `refused: ${line}`).toEqual([2]);
  const good = [
    '// oxlint-OFF-next-line no-console -- a skip must be seen',
    '/* oxlint-OFF no-console -- a skip must be seen */',
    '// oxlint-enable no-console',
    'const x = y as THROUGH as Z; // -- both ends are this file',
    '// the comment oxlint-OFFd means nothing',
  ];
  for (const line of good) expect(unexplained(sample(line)), `let through: ${line}`).toEqual([]);
});
