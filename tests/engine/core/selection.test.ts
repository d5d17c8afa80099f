// Choosing among finished runs: potential, rank, then the tests that finalists have added, run on each other's trees.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SelectionItem } from '#shared/contract/selection.ts';
import type { MadeCrosscheck, NamedSelection } from '#shared/domain/selection.ts';
import { hashJson } from '#shared/lib/hash.ts';
import { careful, crosscheckTask, negativeTest, sloppy, totalTest, writerBySeed } from '../../support/engine/crosscheck-task.ts';
import { type Engine, startEngine, temporaryFolder } from '../../support/engine/engine-fixture.ts';
import { refusal, smallTaskHere } from '../../support/engine/in-test.ts';
import { replayed, runToEnd } from '../../support/engine/ended-run.ts';

// One engine for all of them: what is chosen changes no run.
let engine: Engine;
const cleanups: (() => Promise<void>)[] = [];
beforeAll(async () => {
  const folder = await temporaryFolder();
  cleanups.push(() => folder.remove());
  engine = await startEngine(folder.path);
  cleanups.push(() => engine.close());
});
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

type Files = Readonly<Record<string, string>>;

/** Runs of the fixture, one for each entry, with the seeds from 1 on. */
async function finished(trees: readonly Files[], change?: (toml: string) => string): Promise<string[]> {
  const task = await crosscheckTask(change);
  try {
    const command = writerBySeed(Object.fromEntries(trees.map((files, i) => [i + 1, files])));
    const runs: string[] = [];
    for (const [i] of trees.entries()) {
      const ended = await runToEnd(engine, {
        task: task.path,
        proposer: 'command',
        command: { command, timeoutMs: 20_000 },
        slots: 1,
        seed: i + 1,
        attempts: 1,
      });
      runs.push(ended.run);
    }
    return runs;
  } finally {
    await task.remove();
  }
}

async function select(runs: string[], crosscheck = true): Promise<{ items: SelectionItem[]; chosen: NamedSelection }> {
  const items: SelectionItem[] = [];
  for await (const item of engine.client.stream('run.select', { runs, crosscheck })) items.push(item);
  const last = items.at(-1);
  if (last?.kind !== 'selection') throw new Error('nothing was chosen');
  return { items, chosen: last.selection };
}

const made = ({ selection }: NamedSelection): MadeCrosscheck => {
  if (selection.crosscheck.kind === 'none') throw new Error(`no cross-check: ${selection.crosscheck.message}`);
  return selection.crosscheck;
};
const reason = ({ selection }: NamedSelection) => (selection.crosscheck.kind === 'none' ? selection.crosscheck.reason : 'made');

const good: Files = { 'src/list.js': careful, 'tests/negative.js': negativeTest };
const bad: Files = { 'src/list.js': sloppy, 'tests/total.js': totalTest };

describe('two finalists tie and one of them fails a test of the other', () => {
  test('it is not picked, whatever the order of the runs; everything is recorded and nothing of a run has changed', async () => {
    const { client, core } = engine;
    const [first = '', second = ''] = await finished([bad, good]);
    const before = await Promise.all([first, second].map((run) => client.call('run.get', { run })));
    expect(before.map(({ stop, head }) => [stop, head?.potential])).toEqual([
      ['zero_rank', 0],
      ['zero_rank', 0],
    ]);

    const { items, chosen } = await select([first, second]);
    const { selection, sha } = chosen;
    expect(sha).toBe(hashJson(selection));
    expect(selection).toMatchObject({ order: [1, 0], decidedBy: 'crosscheck', contract: before[0]?.contract });
    expect(selection.runs.map(({ run, seed, end }) => [run, seed, end?.bundle])).toEqual(
      before.map(({ id, seed, head }) => [id, seed, head?.id]),
    );
    const { finalists, cells, results } = made(chosen);
    expect(finalists.map(({ runs, tests, failedTests, ofTests }) => [runs, tests.map(({ path }) => path), failedTests, ofTests])).toEqual([
      [[0], ['tests/total.js'], 1, 1],
      [[1], ['tests/negative.js'], 0, 1],
    ]);
    // The seed's own test is no added one.
    expect(results).toEqual([
      { author: 0, path: 'tests/total.js', counts: true, on: ['fails_on_base_passes_now', 'fails_on_base_passes_now'] },
      { author: 1, path: 'tests/negative.js', counts: true, on: ['fails', 'fails_on_base_passes_now'] },
    ]);
    expect(items.filter(({ kind }) => kind === 'progress').at(-1)).toEqual({ kind: 'progress', done: 6, of: 6 });

    // Base and both finalists for each author, each with the report that was judged and the tree that it speaks of.
    expect(cells.map(({ author, target, result }) => [author, target, result.kind === 'ranked' ? result.rank : result])).toEqual([
      [0, null, [1]],
      [0, 0, [0]],
      [0, 1, [0]],
      [1, null, [1]],
      [1, 0, [1]],
      [1, 1, [0]],
    ]);
    for (const { tree, contract, executions } of cells) {
      const [execution] = executions;
      const report: unknown = JSON.parse(new TextDecoder().decode((await core.blob(execution?.report ?? '')) ?? new Uint8Array()));
      expect(report).toMatchObject({ nonce: execution?.nonce, tree, contract });
    }
    // On its author's tree a test runs beside exactly that tree.
    expect([cells[1]?.tree, cells[5]?.tree]).toEqual(finalists.map(({ tree }) => tree));

    const again = await select([second, first]);
    expect(again.chosen.selection).toMatchObject({ order: [0, 1], decidedBy: 'crosscheck' });
    expect(await client.call('run.selections', { run: first })).toEqual([chosen, again.chosen]);
    expect(await client.call('run.selections', { run: second })).toHaveLength(2);
    expect(await Promise.all([first, second].map((run) => client.call('run.get', { run })))).toEqual(before);
    for (const run of [first, second]) expect(await replayed(engine, run)).toMatchObject({ ok: true, mismatches: [] });
  });

  test('a test that never failed tells them apart as well, and what an author fails itself counts for nobody', async () => {
    const never = `import { largest } from '../src/list.js';\nexport default () => largest([-1]) === -1;\n`;
    const runs = await finished([
      { 'src/list.js': sloppy, 'tests/wrong.js': 'export default () => false;\n', 'tests/broken.js': 'export default (' },
      { 'src/list.js': careful, 'tests/never.js': never },
    ]);
    const { chosen } = await select(runs);
    expect(chosen.selection).toMatchObject({ order: [1, 0], decidedBy: 'crosscheck' });
    expect(made(chosen).results).toEqual([
      { author: 0, path: 'tests/broken.js', counts: false, on: ['fails', 'fails'] },
      { author: 0, path: 'tests/wrong.js', counts: false, on: ['fails', 'fails'] },
      { author: 1, path: 'tests/never.js', counts: true, on: ['fails', 'never_failed'] },
    ]);
  });

  test('tests that pass everywhere leave it to the trees', async () => {
    const runs = await finished([
      { 'src/list.js': sloppy, 'tests/total.js': totalTest },
      { 'src/list.js': careful, 'tests/total.js': totalTest },
    ]);
    const { chosen } = await select(runs);
    const trees = made(chosen).finalists.map(({ tree }) => tree);
    expect(chosen.selection.decidedBy).toBe('tree');
    expect(chosen.selection.order).toEqual((trees[0] ?? '') < (trees[1] ?? '') ? [0, 1] : [1, 0]);
  });
});

test('hostile tests and trees end where their sandbox ends: loops, memory, patched built-ins, files of the verifier', async () => {
  const hostile = {
    'tests/a-loop.js': `import { largest } from '../src/list.js';\nexport default () => { if (largest([-1]) !== -1) for (;;); return true; };\n`,
    'tests/b-memory.js': `import { largest } from '../src/list.js';\nexport default () => { const all = []; while (largest([-1]) !== -1) all.push(new Array(1e6).fill(1)); return true; };\n`,
    'tests/c-patch.js': `JSON.stringify = () => 'true'; Array.prototype.reduce = () => -1;\nexport default () => 'not true';\n`,
    'tests/d-look.js': `export default () => typeof pawl === 'undefined' && typeof std === 'undefined' && typeof process === 'undefined';\n`,
    'tests/e-import.js': `export { verify as default } from '../../verifier/check.js';\n`,
  };
  const runs = await finished([{ 'src/list.js': sloppy }, { 'src/list.js': careful, ...hostile }]);
  const { chosen } = await select(runs);
  expect(chosen.selection).toMatchObject({ order: [1, 0], decidedBy: 'crosscheck' });
  expect(made(chosen).results.map(({ path, counts, on }) => [path.slice(6, 7), counts, ...on])).toEqual([
    ['a', true, 'fails', 'never_failed'],
    ['b', true, 'fails', 'never_failed'],
    ['c', false, 'fails', 'fails'],
    ['d', true, 'never_failed', 'never_failed'],
    ['e', false, 'fails', 'fails'],
  ]);
});

describe('why there is no cross-check', () => {
  const undeclared = (toml: string) => toml.replace(/\[crosscheck\].*(?=\[budget\])/s, '');

  test('the task declares none: ties go by tree', async () => {
    const { chosen } = await select(await finished([bad, good], undeclared));
    expect(chosen.selection.crosscheck).toEqual({ kind: 'none', reason: 'not_declared', message: 'the task declares none' });
    expect(chosen.selection.decidedBy).toBe('tree');
  });

  test('no tie, one tree, no tests, not asked for', async () => {
    const none: Files = { 'src/list.js': careful };
    const other: Files = { 'src/list.js': sloppy };
    const worse: Files = { 'src/list.js': 'export const total = () => 7;\nexport const largest = () => 0;\n' };
    const [a = '', b = '', c = '', d = ''] = await finished([none, none, other, worse]);
    const untied = await select([d, a]);
    expect([reason(untied.chosen), untied.chosen.selection.decidedBy]).toEqual(['one_finalist', 'potential']);
    const twins = await select([a, b]);
    expect([reason(twins.chosen), twins.chosen.selection.decidedBy, twins.chosen.selection.order]).toEqual(['one_tree', 'order', [0, 1]]);
    expect(reason((await select([a, c])).chosen)).toBe('no_tests');
    expect(reason((await select([a, c], false)).chosen)).toBe('not_asked');
    const alone = await select([d]);
    expect([reason(alone.chosen), alone.chosen.selection.decidedBy]).toEqual(['one_finalist', 'only']);
  });
});

describe('what cannot be chosen from', () => {
  test('runs of another task, a run twice, a run that is not there, a live one', async () => {
    const { client } = engine;
    const [run = ''] = await finished([good]);
    const other = await runToEnd(engine, { task: await smallTaskHere(), proposer: 'search', slots: 4, seed: 1, attempts: 4 });
    const refused = async (runs: string[]) => {
      const items = client.stream('run.select', { runs, crosscheck: true });
      return refusal(items.next());
    };
    expect(await refused([run, other.run])).toMatchObject({ code: 'conflict', message: expect.stringContaining('another contract') });
    expect(await refused([run, run])).toMatchObject({ code: 'bad_input', message: expect.stringContaining('named twice') });
    expect(await refused([run, 'run_01890000-0000-7000-8000-000000000000'])).toMatchObject({ code: 'not_found' });
    const { run: live } = await client.call('run.start', {
      task: await smallTaskHere(),
      proposer: 'command',
      command: { command: 'sleep 60', timeoutMs: 60_000 },
      slots: 1,
      seed: 1,
    });
    expect(await refused([live])).toMatchObject({ code: 'conflict', message: expect.stringContaining('is live') });
    await client.call('run.stop', { run: live });
    expect(await client.call('run.selections', { run })).toEqual([]);
  });

  test('a cross-check that is cancelled keeps nothing', async () => {
    const loop = `export default () => { for (;;); };\n`;
    const slow = Object.fromEntries(Array.from({ length: 18 }, (_, i) => [`tests/${i}.js`, loop]));
    const runs = await finished([bad, { ...good, ...slow }]);
    const abort = new AbortController();
    const items = engine.client.stream('run.select', { runs, crosscheck: true }, { signal: abort.signal });
    await items.next();
    abort.abort();
    expect(
      await refusal(
        (async () => {
          for await (const _ of items);
        })(),
      ),
    ).toMatchObject({ code: 'cancelled' });
    expect(await engine.client.call('run.selections', { run: runs[0] ?? '' })).toEqual([]);
  });
});
