// Any program as a proposer: the tree that it leaves is the candidate, and it is as untrusted as any.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunStart } from '#shared/contract/run.ts';
import { findByEnvironment } from '#electron/verifiers/process-tree.ts';
import type { Engine } from '../../support/engine/engine-fixture.ts';
import { engineHere, folderHere, smallTaskHere } from '../../support/engine/in-test.ts';
import { type EndedRun, replayed, runToEnd } from '../../support/engine/ended-run.ts';

const node = JSON.stringify(process.execPath);

/** A program that `node -e` runs in the scratch copy; `numbers` is what the file holds. */
const program = (body: string): string => {
  const source = `const fs = require('fs'); const { numbers } = JSON.parse(fs.readFileSync('numbers.json', 'utf8')); const save = (list) => fs.writeFileSync('numbers.json', JSON.stringify({ numbers: list })); ${body}`;
  return `${node} -e '${source.replaceAll("'", `'"'"'`)}'`;
};

const runWith = async (engine: Engine, command: string, more: Partial<RunStart> & { timeoutMs?: number } = {}): Promise<EndedRun> => {
  const { timeoutMs = 20_000, ...start } = more;
  return runToEnd(engine, {
    task: await smallTaskHere({ numbers: [3, 2, 4, 1] }),
    proposer: 'command',
    command: { command, timeoutMs },
    slots: 1,
    seed: 5,
    attempts: 1,
    ...start,
  });
};

const verdictOf = async ({ client }: Engine, { run }: EndedRun, n = 1) => (await client.call('run.transition', { run, n })).verdict;

describe('a program that behaves', () => {
  test('lowers one number an attempt until none is left; header, memory and instruction are as said', async () => {
    const engine = await engineHere();
    const trace = await folderHere();
    const command = program(`
      const at = numbers.findIndex((x) => x > 0);
      const slot = process.env.PAWL_SLOT, n = process.env.PAWL_N;
      fs.copyFileSync(process.env.PAWL_MEMORY, ${JSON.stringify(trace)} + '/memory-' + n);
      fs.copyFileSync(process.env.PAWL_INSTRUCTION, ${JSON.stringify(trace)} + '/instruction-' + n);
      console.log('attempt', n, 'slot', slot, 'seed', process.env.PAWL_SEED);
      numbers[at] = slot === '0' ? 0 : 9;
      save(numbers);`);
    const ended = await runWith(engine, command, { slots: 2, attempts: 20 });
    expect(ended.rows.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 4 }, () => ['commit', 'regression']).flat());
    expect(ended.detail).toMatchObject({ stop: 'zero_rank', proposer: 'command' });
    expect(ended.detail.header.proposer).toMatchObject({
      kind: 'command',
      version: 1,
      options: { command, timeoutMs: 20_000, sandboxed: false, tokens: 'not metered' },
    });
    expect(ended.detail.budget.used).toMatchObject({ attempts: 8, requests: 8 });

    expect((await readdir(trace)).length).toBe(16);
    expect(await readFile(path.join(trace, 'instruction-3'), 'utf8')).toBe('Make the numbers small.\n');
    const memoryOf = async (n: number): Promise<unknown> => JSON.parse(await readFile(path.join(trace, `memory-${n}`), 'utf8'));
    expect(await memoryOf(1)).toEqual({ format: 'pawl.memory/1', entries: [] });
    expect(await memoryOf(3)).toMatchObject({
      format: 'pawl.memory/1',
      entries: [{ n: 2, outcome: 'regression', worse: [{ key: 'left', before: 5, after: 11 }], better: [] }],
    });
    expect(await memoryOf(4)).toEqual(await memoryOf(3));
    const { transition } = await engine.client.call('run.transition', { run: ended.run, n: 3 });
    expect(transition.retrieved).toHaveLength(1);
    const response = await engine.core.blob(transition.response ?? '');
    expect(JSON.parse(new TextDecoder().decode(response ?? new Uint8Array()))).toMatchObject({
      format: 'pawl.command/1',
      ending: 'exited',
      exitCode: 0,
      output: { text: 'attempt 3 slot 0 seed 5\n' },
      changed: [{ path: 'numbers.json', mode: 'file' }],
      removed: [],
    });
    expect(await replayed(engine, ended.run)).toMatchObject({ ok: true, mismatches: [], transitions: 8 });

    // What programs answered can be given again without them.
    const again = await runToEnd(engine, {
      task: await smallTaskHere({ numbers: [3, 2, 4, 1] }),
      proposer: 'recorded',
      record: ended.run,
      slots: 2,
      seed: 1,
      attempts: 20,
    });
    expect(again.trees).toEqual(ended.trees);
  });

  test('one that changes nothing made a duplicate, and one that fails left its tree all the same', async () => {
    const engine = await engineHere();
    expect((await runWith(engine, 'true')).rows).toMatchObject([{ outcome: 'duplicate' }]);
    expect((await runWith(engine, program('numbers[0] = 0; save(numbers); process.exit(3)'))).rows).toMatchObject([{ outcome: 'commit' }]);
  });
});

describe('a program that does not', () => {
  test.each([
    ['a link', 'rm numbers.json; ln -s /etc/passwd numbers.json', 'bad_path', 'a link'],
    ['a link to a folder', 'ln -s / out', 'bad_path', 'a link'],
    ['a pipe', 'mkfifo pipe', 'bad_path', 'no regular file'],
    ['its folder as a link', 'cd ..; mv tree old; ln -s old tree', 'bad_path', 'replaced its working folder'],
    ['a name that is not UTF-8', `touch "$(printf '\\377')"`, 'bad_path', 'not UTF-8'],
    ['too many bytes', 'head -c 20000000 /dev/zero > numbers.json', 'too_large', 'bytes'],
    ['a file that it may not write', 'echo x > other.txt', 'protected_path', 'other.txt'],
    ['nothing', 'rm numbers.json', 'empty', 'no file'],
  ])('leaves %s: invalid', async (_, command, code, message) => {
    const engine = await engineHere();
    const ended = await runWith(engine, command);
    expect(ended.rows).toMatchObject([{ outcome: 'invalid', code }]);
    expect(await verdictOf(engine, ended)).toMatchObject({ message: expect.stringContaining(message) });
  });

  test('takes too long: ended with everything it started, its tree taken as it is', async () => {
    const engine = await engineHere();
    const mark = `mark-${process.pid}-${Date.now()}`;
    const command = `PAWL_TEST=${mark} setsid sleep 600 & PAWL_TEST=${mark} sleep 600 & ${program('numbers[0] = 0; save(numbers)')}; PAWL_TEST=${mark} sleep 600`;
    const ended = await runWith(engine, command, { timeoutMs: 3_000 });
    expect(ended.rows).toMatchObject([{ outcome: 'commit' }]);
    const { transition } = await engine.client.call('run.transition', { run: ended.run, n: 1 });
    const response = await engine.core.blob(transition.response ?? '');
    expect(JSON.parse(new TextDecoder().decode(response ?? new Uint8Array()))).toMatchObject({ ending: 'timeout', exitCode: null });
    expect(findByEnvironment(`PAWL_TEST=${mark}`, new Set())).toEqual([]);
    expect(await readdir(path.join(engine.dataDir, 'tmp', 'verify')).catch(() => [])).toEqual([]);
  });

  test('talks without end: the end of it is kept', async () => {
    const engine = await engineHere();
    const ended = await runWith(engine, 'head -c 3000000 /dev/zero | tr "\\0" x; echo the end');
    const { transition } = await engine.client.call('run.transition', { run: ended.run, n: 1 });
    const response = await engine.core.blob(transition.response ?? '');
    const { output } = JSON.parse(new TextDecoder().decode(response ?? new Uint8Array()));
    expect(output).toMatchObject({ bytes: 65_536, written: 3_000_008 });
    expect(output.text.endsWith('xx\nthe end\n') || output.text.endsWith('xxthe end\n')).toBe(true);
  });

  test('is ended when the run is stopped, and the attempt is aborted', async () => {
    const engine = await engineHere();
    const trace = await folderHere();
    const task = await smallTaskHere();
    const { client } = engine;
    const command = { command: `touch ${trace}/begun; sleep 600`, timeoutMs: 300_000 };
    const { run } = await client.call('run.start', { task, proposer: 'command', command, slots: 1, seed: 1 });
    await expect.poll(async () => readdir(trace), { timeout: 20_000 }).toEqual(['begun']);
    expect(await client.call('run.stop', { run })).toEqual({ stop: 'user' });
    expect(await client.call('run.page', { run, after: 0, limit: 10 })).toMatchObject([{ outcome: 'aborted' }]);
  });
});
