// The tests of an instance: which runner they are of, which files they are in, and the obligations that they become.
import { hash } from 'node:crypto';
import { compareUtf8 } from '#shared/lib/text.ts';
import { testId } from '#electron/verifiers/adapters/test-pattern.ts';
import type { ObligationEntry } from '../task-source.ts';

export type Group = 'FAIL_TO_PASS' | 'PASS_TO_PASS';

/** A file's tests become one count where an instance has more tests than this (semantics, section 2). */
export const maxSingleTests = 5_000;

export type ListedTest = { readonly group: Group; readonly id: string };

/** What is run: pytest with `files` (in which tests without a file of their own are looked for), or unittest with the name to load of each test id. */
export type TestPlan =
  | { readonly runner: 'pytest'; readonly files: readonly string[] }
  | { readonly runner: 'unittest'; readonly names: Readonly<Record<string, string>> };

/** `path/test_a.py::TestBox::test_open[1]`: the path, or null for another form. */
export function fileOf(id: string): string | null {
  const at = id.indexOf('::');
  return at > 0 && id.slice(0, at).endsWith('.py') ? id.slice(0, at) : null;
}

/** `test_open (tests.test_box.TestBox)`, from Python 3.11 on `test_open (tests.test_box.TestBox.test_open)`: the name to load; else null. */
export function unittestName(id: string): string | null {
  const found = /^([A-Za-z_]\w*) \(([A-Za-z_][\w.]*)\)$/.exec(id);
  if (found === null) return null;
  const [, name = '', place = ''] = found;
  return place.endsWith(`.${name}`) ? place : `${place}.${name}`;
}

const isBareName = (id: string): boolean => /^[A-Za-z_]\w*(?:\[.*)?$/.test(id);

/**
 * How `tests` are run; `testFiles` are the Python files of the instance's test patch. The error is the first id that no runner here knows.
 * Ids that are nothing but a function's name (as of SymPy) are pytest's as well: they are looked for in the files of the patch.
 */
export function planOf(tests: readonly ListedTest[], testFiles: readonly string[]): TestPlan | { readonly unknown: string } {
  const names = tests.flatMap(({ id }) => {
    const name = unittestName(id);
    return name === null ? [] : [[id, name] as const];
  });
  if (names.length === tests.length) return { runner: 'unittest', names: Object.fromEntries(names) };
  const unknown = tests.find(({ id }) => fileOf(id) === null && !(isBareName(id) && testFiles.length > 0));
  if (unknown !== undefined) return { unknown: unknown.id };
  const files = tests.map(({ id }) => fileOf(id));
  const all = new Set([...files.filter((file) => file !== null), ...(files.includes(null) ? testFiles : [])]);
  return { runner: 'pytest', files: [...all].sort(compareUtf8) };
}

/** FAIL_TO_PASS first, each id once; an id of both lists counts as FAIL_TO_PASS. `twice`: how often one was left out. */
export function listTests(lists: Readonly<Record<Group, readonly string[]>>): { readonly tests: ListedTest[]; readonly twice: number } {
  const seen = new Set<string>();
  const tests: ListedTest[] = [];
  for (const group of ['FAIL_TO_PASS', 'PASS_TO_PASS'] as const) {
    for (const id of lists[group]) {
      if (seen.has(id)) continue;
      seen.add(id);
      tests.push({ group, id });
    }
  }
  return { tests, twice: lists.FAIL_TO_PASS.length + lists.PASS_TO_PASS.length - tests.length };
}

const prefixes: Readonly<Record<Group, string>> = { FAIL_TO_PASS: 'f2p', PASS_TO_PASS: 'p2p' };

// Keys have letters, digits and _ . : / [ ] - only; what is replaced or cut is told apart by a hash.
const keyOf = (group: Group, name: string): string => {
  const plain = name.replace(/[^A-Za-z0-9_.:/[\]-]/g, '_');
  const key = plain === name && name.length <= 180 ? name : `${plain.slice(0, 170)}-${hash('sha256', name, 'hex').slice(0, 8)}`;
  return `${prefixes[group]}/${key}`;
};

/** `id` as a pattern that names nothing else (electron/verifiers/adapters/test-pattern.ts). */
const asPattern = (id: string): string => testId(id).replace(/[*?\\]|^\[/g, '\\$&');

const titleOf = (text: string): string => testId(text).slice(0, 500).toWellFormed();

const single = ({ group, id }: ListedTest): ObligationEntry => ({
  key: keyOf(group, id),
  title: titleOf(`${group}: ${id}`),
  kind: 'binary',
  cap: 1,
  from: `${group}::${asPattern(id)}`,
});

/**
 * One obligation a test, FAIL_TO_PASS first. With more than `maxSingleTests`, the tests of a file (for unittest: of a class) that must go
 * on passing are one count, and so are those that must begin to pass where they alone are too many.
 */
export function obligationsOf(tests: readonly ListedTest[]): { readonly entries: ObligationEntry[]; readonly counted: boolean } {
  if (tests.length <= maxSingleTests) return { entries: tests.map(single), counted: false };
  const goals = tests.filter(({ group }) => group === 'FAIL_TO_PASS');
  const kept = tests.filter(({ group }) => group === 'PASS_TO_PASS');
  return { entries: [...(goals.length > maxSingleTests ? together(goals) : goals.map(single)), ...together(kept)], counted: true };
}

/** The file or class of a test, and the pattern of all tests in it; null for a test that is named by nothing else. */
function placeOf(id: string): { readonly name: string; readonly pattern: string } | null {
  const file = fileOf(id);
  if (file !== null) return { name: file, pattern: `${asPattern(file)}::*` };
  const loaded = unittestName(id);
  if (loaded === null) return null;
  const name = loaded.slice(0, loaded.lastIndexOf('.'));
  return { name, pattern: id.endsWith(`(${name})`) ? `* (${name})` : `* (${name}.*)` };
}

function together(tests: readonly ListedTest[]): ObligationEntry[] {
  const counts = new Map<string, { readonly name: string; readonly pattern: string; readonly group: Group; count: number }>();
  const alone: ObligationEntry[] = [];
  for (const test of tests) {
    const place = placeOf(test.id);
    if (place === null) alone.push(single(test));
    else {
      const known = counts.get(place.pattern);
      if (known === undefined) counts.set(place.pattern, { ...place, group: test.group, count: 1 });
      else known.count++;
    }
  }
  const counted = [...counts.values()].map(({ group, name, pattern, count }): ObligationEntry => ({
    key: keyOf(group, name),
    title: titleOf(`${group}: tests of ${name} that fail`),
    kind: 'count',
    cap: count,
    from: `${group}::[min=${count}] ${pattern}`,
  }));
  return [...counted, ...alone];
}
