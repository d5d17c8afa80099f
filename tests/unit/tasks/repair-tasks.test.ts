// The repair tasks and the two small ones: what their seeds lack, that zero rank exists, what their verifiers notice, and how far the
// built-in search sees. Solutions lie in tests/fixtures/tasks and not in the task folders.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { ensure } from '#shared/lib/assert.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { loadTask, type LoadedTask } from '#electron/core/tasks/load-task.ts';
import { commandVerifier } from './command-task.ts';
import { pureJsVerifier } from './pure-js.ts';
import { pythonVerifier } from './python-task.ts';
import { neighbours, searchOnTask } from './search-on-task.ts';
import type { TaskReport } from './task-report.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const fixtures = path.join(root, 'tests/fixtures/tasks');
const folderOf = (id: string): string => (id === 'repair-untuned' ? path.join(fixtures, id) : path.join(root, 'resources/tasks', id));
const load = async (id: string): Promise<LoadedTask> => {
  const loaded = await loadTask(folderOf(id));
  if (!loaded.ok) throw new Error(loaded.error.message);
  return loaded.value;
};
const solutionOf = (task: LoadedTask): readonly TreeFile[] =>
  task.seedFiles.map((file) => ({
    ...file,
    bytes: readFileSync(path.join(fixtures, `${task.info.id}-solution`, path.basename(file.path))),
  }));
const edited = (files: readonly TreeFile[], name: string, from: string, to: string): readonly TreeFile[] =>
  files.map((file) => {
    if (file.path !== name) return file;
    const text = new TextDecoder().decode(file.bytes);
    expect(text).toContain(from);
    return { ...file, bytes: new TextEncoder().encode(text.replace(from, to)) };
  });
const violated = ({ values }: TaskReport): Record<string, number> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value > 0));

const hasPython = spawnSync('python3', ['--version']).status === 0;
const hasShell = spawnSync('sh', ['-c', 'exit 0']).status === 0;
// oxlint-disable-next-line no-console -- a skip must be seen
if (!hasPython) console.warn('SKIPPED: python3 is not installed, repair-intervals and shell-report were not tested');

type Verifier = {
  readonly reportOf: (files: readonly TreeFile[]) => Promise<TaskReport>;
  readonly rankOf: (files: readonly TreeFile[]) => Promise<number[]>;
  readonly close?: () => void;
};
const opened: Verifier[] = [];
afterAll(() => opened.forEach((verifier) => verifier.close?.()));
const open = async (id: string): Promise<{ task: LoadedTask; verifier: Verifier }> => {
  const task = await load(id);
  const verifier =
    task.contract.verifier.kind === 'pure-js'
      ? await pureJsVerifier(task)
      : id === 'repair-intervals'
        ? pythonVerifier(task, folderOf(id))
        : commandVerifier(task, folderOf(id));
  opened.push(verifier);
  return { task, verifier };
};

/** What the seed of each task violates: binary obligations by their keys, counts by their values. */
const one = (keys: string, counts: Readonly<Record<string, number>> = {}): Readonly<Record<string, number>> => ({
  ...Object.fromEntries(keys.split(' ').map((key) => [key, 1])),
  ...counts,
});
const seeds: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'repair-csv': one(
    'last_quoted line_ends quotes_in_quotes quotes_in_quotes_2 spaces trim_quoted after_quotes after_quotes_2 comments byte_order_mark_2 ' +
      'write_plain write_plain_2 write_quotes write_dialect_2 write_objects write_objects_2',
    { round_trip: 72 },
  ),
  'repair-untuned': one(
    'compare_pre compare_numbers sort bump_minor bump_pre bounds caret caret_zero caret_patch tilde either best best_none',
  ),
  'repair-intervals': one(
    'touching empty contains_ends total total_once intersection intersection_many complement_edges difference difference_many parse ' +
      'parse_single parse_blank parse_separator parse_errors format_separator',
    { algebra: 52 },
  ),
  'shell-report': one('failed summary failures_order slowest slowest_order no_argument two_arguments unknown'),
  'covering-design': { distinct: 2, uses: 1, pairs: 15 },
};

describe.each(Object.keys(seeds))('%s', (id) => {
  const skip = !hasPython && (id === 'repair-intervals' || id === 'shell-report');
  it.skipIf(skip || (id === 'shell-report' && !hasShell))('begins where its bugs put it, with a rank within its caps', async () => {
    const { task, verifier } = await open(id);
    const report = await verifier.reportOf(task.seedFiles);
    expect(violated(report)).toEqual(seeds[id]);
    expect(Object.keys(report.values)).toEqual(task.contract.obligations.map(({ key }) => key));
    for (const { key, cap } of task.contract.obligations) {
      const value = ensure(report.values[key], key);
      expect(value).toBeLessThanOrEqual(cap);
      expect(report.details[key] === '').toBe(value === 0);
    }
  });

  it.skipIf(skip || id === 'covering-design')('has a solution', async () => {
    const { task, verifier } = await open(id);
    const report = await verifier.reportOf(solutionOf(task));
    expect(violated(report)).toEqual({});
    expect(Object.values(report.details).join('')).toBe('');
  });
});

describe('the repairs', () => {
  it.each(['repair-csv', 'repair-intervals', 'repair-untuned'])(
    '%s: one edit reaches at least 2,000 trees',
    { timeout: 60_000 },
    async (id) => {
      expect(neighbours(await load(id), 7_000, 2_000)).toBe(2_000);
    },
  );

  it('have at least 14 binary obligations each, and run candidate code apart from the verifier', async () => {
    for (const id of ['repair-csv', 'repair-intervals', 'repair-untuned']) {
      const { contract } = await load(id);
      expect(contract.obligations.filter(({ kind }) => kind === 'binary').length).toBeGreaterThanOrEqual(14);
      expect(contract.verifier).toMatchObject({ runsCandidate: true, isolation: 'separate' });
    }
  });
});

describe('repair-csv', () => {
  it('ranks code that does not load, does not end or answers with something else', { timeout: 60_000 }, async () => {
    const { task, verifier } = await open('repair-csv');
    const solution = solutionOf(task);
    // Code that does not load gives no limit a chance; code that does not end meets one in every call.
    const worst = task.contract.obligations.map(({ cap }) => cap);
    const unloaded = task.contract.obligations.map(({ key, cap }) => (key === 'endless' ? 0 : cap));
    expect(await verifier.rankOf(edited(solution, 'src/csv.js', 'export', 'exprot'))).toEqual(unloaded);
    expect(await verifier.rankOf(edited(solution, 'src/dialect.js', 'const defaults', 'for (;;); const defaults'))).toEqual(worst);
    const number = violated(
      await verifier.reportOf(edited(solution, 'src/parse.js', 'return rows;', 'return rows.map((row) => row.map(Number));')),
    );
    expect(number).toMatchObject({ plain: 1, quoted: 1, round_trip: 112 });
    expect(number).not.toHaveProperty('write_plain');
    expect(violated(await verifier.reportOf(edited(solution, 'src/parse.js', 'at += 2;', 'at += 1;')))).toMatchObject({
      quotes_in_quotes: 1,
    });
  });
});

describe('repair-intervals', () => {
  const cases = { timeout: 60_000 };
  it.skipIf(!hasPython)('goes on after a process that died, and ranks code that does not load or does not end', cases, async () => {
    const { task, verifier } = await open('repair-intervals');
    const solution = solutionOf(task);
    const died = violated(
      await verifier.reportOf(edited(solution, 'intervals/basic.py', '    count = 0\n', '    __import__("os")._exit(0)\n')),
    );
    expect(died).toEqual({ total: 1, total_once: 1 });
    const worst = task.contract.obligations.map(({ cap }) => cap);
    expect(await verifier.rankOf(edited(solution, 'intervals/text.py', 'from', 'form'))).toEqual(worst);
    const endless = violated(await verifier.reportOf(edited(solution, 'intervals/basic.py', 'low = middle + 1', 'low = middle')));
    expect(Object.keys(endless).filter((key) => !key.startsWith('contains'))).toEqual([]);
    expect(endless).toMatchObject({ contains_last: 1 });
  });

  it.skipIf(!hasPython)('takes equal values of other types for wrong', cases, async () => {
    const { task, verifier } = await open('repair-intervals');
    const solution = solutionOf(task);
    const lists = edited(solution, 'intervals/basic.py', 'merged.append((start, end))', 'merged.append([start, end])');
    expect(violated(await verifier.reportOf(lists))).toMatchObject({ sorted: 1 });
    const floats = edited(solution, 'intervals/basic.py', 'count = 0', 'count = 0.0');
    expect(violated(await verifier.reportOf(floats))).toEqual({ total: 1, total_once: 1 });
    const ones = edited(solution, 'intervals/basic.py', 'return True', 'return 1');
    expect(violated(await verifier.reportOf(ones))).toEqual({ contains_inside: 1, contains_ends: 1, contains_last: 1 });
    const equal = edited(
      solution,
      'intervals/basic.py',
      'return merged',
      'return type("E", (list,), {"__eq__": lambda s, o: True})(merged)',
    );
    expect(violated(await verifier.reportOf(equal))).toMatchObject({ sorted: 1, union: 1 });
  });

  it.skipIf(!hasPython)('reports the same when it is started as a person starts it', cases, async () => {
    const { task, verifier } = await open('repair-intervals');
    const byHand = commandVerifier(task, folderOf('repair-intervals'));
    expect(await byHand.reportOf(task.seedFiles)).toEqual(await verifier.reportOf(task.seedFiles));
    expect(violated(await byHand.reportOf(solutionOf(task)))).toEqual({});
  });

  it.skipIf(!hasPython)('starts the candidate through PAWL_RUN where there is one', cases, async () => {
    const folder = folderOf('repair-intervals');
    const run = spawnSync('python3', ['-I', '-B', 'verifier/check.py'], {
      cwd: folder,
      encoding: 'utf8',
      // Only what comes after -- is the candidate's command; echo shows it and answers nothing.
      env: { PATH: process.env['PATH'], PAWL_RUN: '/bin/echo', PAWL_CANDIDATE: path.join(folder, 'artifact') },
    });
    expect(run.stderr).toBe('');
    expect(run.stdout).toContain('no answer');
  });
});

describe('the built-in search', () => {
  // The whole way, with five seeds and on repair-intervals too, takes minutes: `npm run soak`.
  it('begins to repair repair-csv with seed 5 and four slots', { timeout: 60_000 }, async () => {
    const { task, verifier } = await open('repair-csv');
    const run = await searchOnTask(task, verifier.rankOf, { seed: 5, attempts: 60 });
    const before = Object.values(seeds['repair-csv'] ?? {}).reduce((sum, value) => sum + value, 0);
    // After three commits, nine tenths of the violations are gone.
    expect(run.potential).toBeLessThan(before / 10);
    expect(run.commits).toBeGreaterThanOrEqual(3);
    expect(run.counts['regression']).toBeGreaterThan(20);
  });

  it('covers all pairs, with seed 1 and four slots', { timeout: 60_000 }, async () => {
    const design = await open('covering-design');
    const run = await searchOnTask(design.task, design.verifier.rankOf, { seed: 1 });
    expect(run.potential).toBe(0);
    expect(run.commits).toBeGreaterThan(5);
  });
});
