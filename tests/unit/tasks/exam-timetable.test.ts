// The sample task: its data are what the generator makes, its two verifiers agree, zero rank exists, and the built-in search gets there.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { newQuickJSWASMModule } from 'quickjs-emscripten';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ensure } from '#shared/lib/assert.ts';
import { potential, relate } from '#shared/domain/rank.ts';
import { selectionOrder } from '#shared/domain/select.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { loadTask, type LoadedTask } from '#electron/core/tasks/load-task.ts';
import { proposeBySearch, SearchOperator, type SearchProposal } from '#electron/proposers/search.ts';
import { checkCandidate } from '#electron/verifiers/candidate.ts';
import { makeExamTimetable } from '../../fixtures/tasks/make-exam-timetable.ts';

const folder = fileURLToPath(new URL('../../../resources/tasks/exam-timetable/', import.meta.url));
const read = (name: string): string => readFileSync(path.join(folder, name), 'utf8');
const instance = read('verifier/instance.json');
const seed = read('artifact/timetable.json');
const made = makeExamTimetable();
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const treeOf = (text: string): readonly TreeFile[] => [{ path: 'timetable.json', mode: 'file', bytes: new TextEncoder().encode(text) }];

const Report = z.strictObject({
  nonce: z.string(),
  tree: z.string(),
  contract: z.string(),
  values: z.record(z.string(), z.int().min(0)),
  advisory: z.strictObject({}),
  details: z.record(z.string(), z.string()),
});
type Report = z.infer<typeof Report>;

const echo = { nonce: 'n1', tree: 't1', contract: 'c1' };
const input = (timetable: string) => ({ files: { 'artifact/timetable.json': timetable, 'verifier/instance.json': instance }, ...echo });
// The task's own code, not a candidate's.
const verify: unknown = runInNewContext(`${read('verifier/check.js')};verify`);
const report = (timetable: string): Report => {
  if (typeof verify !== 'function') throw new Error('check.js defines no verify()');
  return Report.parse(structuredClone(verify(input(timetable))));
};

let task: LoadedTask;
beforeAll(async () => {
  const loaded = await loadTask(folder);
  if (!loaded.ok) throw new Error(loaded.error.message);
  task = loaded.value;
});
const rankOf = (timetable: string): number[] => {
  const { values } = report(timetable);
  return task.contract.obligations.map(({ key }) => ensure(values[key], `a value for ${key}`));
};
const check = (candidate: readonly TreeFile[]) =>
  checkCandidate({ contract: task.contract, base: treeOf(seed), candidate, schema: ensure(task.schemaFile, 'a schema').bytes });
const propose = (base: readonly TreeFile[], draw: number, runSeed: number): SearchProposal =>
  proposeBySearch({
    seed: runSeed,
    draw,
    baseTree: '0'.repeat(64),
    files: base,
    writable: ['timetable.json'],
    operators: SearchOperator.options,
  });

/** Timetables that pass the schema: walks of the search away from `start`, every step kept, so that they get worse and worse. */
const walk = (start: string, steps: number, runSeed: number): string[] => {
  const found: string[] = [];
  let at = treeOf(start);
  for (let draw = 0; found.length < steps; draw++) {
    const proposal = propose(at, draw, runSeed);
    if (proposal.kind === 'none' || !check(proposal.files).ok) continue;
    at = proposal.files;
    found.push(decode(ensure(at[0], 'a file').bytes));
  }
  return found;
};

describe('the data', () => {
  it('is what the generator makes', () => {
    for (const [name, text] of Object.entries(made.files)) expect(read(name)).toBe(text);
  });

  it('lets a timetable without faults exist', () => {
    expect(check(treeOf(made.solution)).ok).toBe(true);
    expect(rankOf(made.solution)).toEqual(task.contract.obligations.map(() => 0));
    expect(Object.values(report(made.solution).details).join('')).toBe('');
  });

  it('begins with a draft that passes the schema and has faults of every kind, but loses no exam', () => {
    expect(check(treeOf(seed)).ok).toBe(true);
    const { values, details } = report(seed);
    const faultless = Object.keys(values).filter((key) => values[key] === 0);
    expect(faultless).toEqual(['complete']);
    expect(potential(rankOf(seed))).toBeGreaterThan(300);
    expect(Object.keys(details).filter((key) => details[key] === '')).toEqual(['complete']);
  });

  it('is ranked within the caps of the contract, by exactly its obligations', () => {
    const caps = Object.fromEntries(task.contract.obligations.map(({ key, cap }) => [key, cap]));
    expect(z.record(z.string(), z.int()).parse(runInNewContext(`${read('verifier/check.js')};({ ...CAPS })`))).toEqual(caps);
    expect(Object.keys(report(seed).values)).toEqual(Object.keys(caps));
  });

  it('says in the instruction what the instance says', () => {
    const text = read('instruction.md');
    const { exams, rooms, students, slots, days, large, order } = made.instance;
    expect(text).toContain(`${exams.length} exams over two weeks`);
    expect(text).toContain(`${students} students`);
    expect(text).toContain(`All ${slots.length} slots`);
    expect(rooms).toHaveLength(7);
    expect(text).toContain(`exam with ${large.students} or more students is written by ${days[large.last_day]}`);
    for (const [before, after] of order)
      expect(text).toContain(`${exams[before]?.title} ${before === order[0]?.[0] ? 'comes ' : ''}before ${exams[after]?.title}`);
  });
});

describe('the verifier', () => {
  const sitting = { exam: 'CS2102 Databases', room: 'Annexe' };
  const timetable = (entries: readonly unknown[], unplaced: readonly unknown[] = []): string =>
    JSON.stringify({
      period: made.instance.period,
      unplaced,
      slots: Object.fromEntries(made.instance.slots.map(({ id }) => [id, entries])),
    });

  it.each([
    ['empty', timetable([])],
    [
      'filled with one exam many times in every slot',
      timetable(
        Array.from({ length: made.instance.exams.length }, () => sitting),
        Array.from({ length: made.instance.exams.length }, () => sitting),
      ),
    ],
  ])('ranks a timetable that is %s within the caps', (_, text) => {
    expect(check(treeOf(text)).ok).toBe(true);
    const rank = rankOf(text);
    for (const [i, { cap }] of task.contract.obligations.entries()) expect(rank[i]).toBeLessThanOrEqual(cap);
    expect(potential(rank)).toBeGreaterThan(0);
  });

  it('counts one fault where one was made', () => {
    const edited = (from: string, to: string): Report['values'] => {
      expect(made.solution).toContain(from);
      return report(made.solution.replace(from, to)).values;
    };
    const line = ensure(/\{ "exam": "CS2102 Databases", "room": "[^"]+" \}/.exec(made.solution), 'the exam')[0];
    expect(edited(line, line.replace(/"room": "[^"]+"/, '"room": "Great Hall"'))).toMatchObject({ computers: 1, complete: 0 });
    expect(edited(line, line.replace('CS2102 Databases', 'CS2101 Algorithms'))).toMatchObject({ complete: 2, placed: 1, computers: 1 });
  });

  it('answers the same inside QuickJS, with the echo it was given', async () => {
    const quickjs = await newQuickJSWASMModule();
    for (const text of [seed, made.solution, ...walk(seed, 5, 3)]) {
      const answer = quickjs.evalCode(
        `const pawl = ${JSON.stringify(input(text))};${read('verifier/check.js')};JSON.stringify(verify(pawl))`,
      );
      expect(Report.parse(JSON.parse(String(answer)))).toEqual(report(text));
      expect(report(text)).toMatchObject(echo);
    }
  });

  const python = spawnSync('python3', ['--version']).status === 0;
  const scratch = mkdtempSync(path.join(tmpdir(), 'pawl-exam-'));
  afterAll(() => rmSync(scratch, { recursive: true }));
  // oxlint-disable-next-line no-console -- a skip must be seen
  if (!python) console.warn('SKIPPED: python3 is not installed, check.py was not compared with check.js');
  it.skipIf(!python)('has a twin in Python that reports the same, word for word', { timeout: 60_000 }, () => {
    const texts = [seed, made.solution, ...walk(seed, 40, 1), ...walk(made.solution, 20, 2)];
    // One process for all of them: starting Python sixty times takes longer than everything else in this file.
    const driver = [
      'import json, sys',
      'sys.path.insert(0, "verifier")',
      'import check',
      'instance = json.load(open("verifier/instance.json", encoding="utf-8"))',
      'for line in sys.stdin: print(json.dumps(check.verify(json.loads(line), instance)))',
    ].join('\n');
    const run = spawnSync('python3', ['-B', '-c', driver], {
      cwd: folder,
      encoding: 'utf8',
      input: texts.map((text) => `${JSON.stringify(JSON.parse(text))}\n`).join(''),
      env: { ...process.env, PAWL_NONCE: echo.nonce, PAWL_TREE: echo.tree, PAWL_CONTRACT: echo.contract },
    });
    expect(run.stderr).toBe('');
    const reports = run.stdout
      .trimEnd()
      .split('\n')
      .map((line) => Report.parse(JSON.parse(line)));
    expect(reports).toEqual(texts.map(report));
    expect(new Set(reports.map(({ values }) => JSON.stringify(values))).size).toBeGreaterThan(50);
  });

  it.skipIf(!python)('has a twin that takes its candidate from PAWL_CANDIDATE and writes to PAWL_REPORT', () => {
    writeFileSync(path.join(scratch, 'timetable.json'), made.solution);
    const written = path.join(scratch, 'report.json');
    const run = spawnSync('python3', ['verifier/check.py'], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, PAWL_CANDIDATE: scratch, PAWL_REPORT: written, PAWL_NONCE: 'n1', PAWL_TREE: 't1', PAWL_CONTRACT: 'c1' },
    });
    expect(run).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(Report.parse(JSON.parse(readFileSync(written, 'utf8')))).toEqual(report(made.solution));
  });

  it.skipIf(!python)('prints the report of the draft when the twin is called by hand in the task folder', () => {
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PAWL_')));
    const run = spawnSync('python3', ['verifier/check.py'], { cwd: folder, encoding: 'utf8', env });
    expect(Report.parse(JSON.parse(run.stdout))).toEqual({ ...report(seed), nonce: '', tree: '', contract: '' });
  });
});

describe('the built-in search', () => {
  it('repairs the draft with seed 1 and four slots, and meets every outcome on the way', { timeout: 120_000 }, () => {
    const counts: Record<string, number> = {};
    const count = (outcome: string): void => void (counts[outcome] = (counts[outcome] ?? 0) + 1);
    let head = { rank: rankOf(seed), files: treeOf(seed), tree: task.seedTree };
    let draw = 0;
    while (potential(head.rank) > 0 && draw < 2_000) {
      const seen = new Set([head.tree]);
      const better: (typeof head)[] = [];
      for (let slot = 0; slot < 4; slot++) {
        const proposal = propose(head.files, ++draw, 1);
        const files = proposal.kind === 'edits' ? proposal.files : [];
        const checked = check(files);
        const text = decode(ensure(files[0], 'a file').bytes);
        // A tree by its text: equal texts are equal trees, also where the schema refuses them.
        const tree = checked.ok ? checked.value.tree : text;
        if (seen.has(tree)) {
          count('duplicate');
          continue;
        }
        seen.add(tree);
        if (!checked.ok) {
          count(`invalid/${checked.error.code}`);
          continue;
        }
        const rank = rankOf(text);
        const relation = relate(rank, head.rank);
        if (relation === 'dominates') better.push({ rank, files, tree });
        else count(relation);
      }
      const [winner, ...others] = selectionOrder(better);
      if (winner === undefined) continue;
      head = winner;
      count('commit');
      for (const _ of others) count('not_selected');
    }
    expect(potential(head.rank)).toBe(0);
    expect(Object.keys(counts).sort()).toEqual([
      'commit',
      'duplicate',
      'incomparable',
      'invalid/schema',
      'not_selected',
      'regression',
      'tie',
    ]);
    expect(counts['commit']).toBeGreaterThanOrEqual(24);
    expect(draw - ensure(counts['commit'], 'commits')).toBeGreaterThan(300);
  });
});
