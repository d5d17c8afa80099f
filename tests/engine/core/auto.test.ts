// Automatic commands of a task: evidence bound to a tree, without authority.
import { appendFile, cp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type EndedRun, readEnded, replayed, runToEnd } from '../../support/engine/ended-run.ts';
import { engineHere, folderHere, smallTaskHere } from '../../support/engine/in-test.ts';
import { z } from 'zod';
import { type Engine, startEngine, temporaryFolder } from '../../support/engine/engine-fixture.ts';
import { freshReads, openPast, replay } from '../replay/support.ts';
import { commandRegistrations, materialiseCommand } from '#electron/proposers/command.ts';

const withAuto = async (lines: string): Promise<string> => {
  const task = await smallTaskHere({ numbers: [3, 0, 4, 1], attempts: 16 });
  await appendFile(path.join(task, 'task.toml'), lines);
  return task;
};

const start = { proposer: 'search' as const, slots: 4, seed: 2 };

test('what they say is in the memory, with the tree, and every decision is the same with and without them', async () => {
  const engine = await engineHere();
  const { client } = engine;
  const plain = await runToEnd(engine, { ...start, task: await smallTaskHere({ numbers: [3, 0, 4, 1], attempts: 16 }) });
  const task = await withAuto(`
[[auto]]
name = "size"
command = ["sh", "-c", "cat artifact/numbers.json; ls verifier; echo left is fine >&2; exit 3"]
[[auto]]
name = "hangs"
command = ["sleep", "600"]
timeout_ms = 100
[[auto]]
name = "missing"
command = ["no-such-program-anywhere"]
`);
  const ended = await runToEnd(engine, { ...start, task });
  const facts = ({ rows }: typeof ended) => rows.map(({ outcome, tree, rank, verdictSource }) => ({ outcome, tree, rank, verdictSource }));
  expect(facts(ended)).toEqual(facts(plain));
  expect(ended.trees).toEqual(plain.trees);
  expect(ended.detail.contractBody.auto.map(({ name }) => name)).toEqual(['size', 'hangs', 'missing']);

  const rejected = ended.rows.find(({ outcome, verdictSource }) => outcome === 'regression' && verdictSource === 'fresh');
  const { memory, transition } = await client.call('run.transition', { run: ended.run, n: rejected?.n ?? 0 });
  const tree = transition.tree?.slice(0, 12) ?? '';
  const excerpt = memory?.excerpt ?? '';
  // The verifier's words first, then each command; nothing of the verifier was at hand.
  expect(excerpt).toMatch(/^left: left is \[/);
  expect(excerpt).toContain(`[auto] size on tree ${tree}: exit 3\n{`);
  expect(excerpt).toContain('none\nleft is fine');
  expect(excerpt).not.toContain('check.js');
  expect(excerpt).toContain(`[auto] hangs on tree ${tree}: took too long`);
  expect(excerpt).toContain(`[auto] missing on tree ${tree}: exit 127`);
  expect(await replayed(engine, ended.run)).toMatchObject({ ok: true, mismatches: [] });
});

/** Halves the numbers, one an attempt, and asks for what `asks` says (JSON for the file that PAWL_REGISTER names). */
const program = (asks: string): string => {
  const source = `
    const fs = require('fs');
    const { numbers } = JSON.parse(fs.readFileSync('numbers.json', 'utf8'));
    const at = numbers.findIndex((x) => x > 0);
    if (Number(process.env.PAWL_DRAW) % 2 === 1) numbers[at] = 9; else numbers[at] = 0;
    fs.writeFileSync('numbers.json', JSON.stringify({ numbers }));
    console.log(fs.readFileSync(process.env.PAWL_AUTO, 'utf8'));
    const asks = ${asks};
    if (asks !== null) fs.writeFileSync(process.env.PAWL_REGISTER, typeof asks === 'string' ? asks : JSON.stringify(asks));`;
  return `${JSON.stringify(process.execPath)} -e '${source.replaceAll("'", `'"'"'`)}'`;
};

const allowing = `
[[auto]]
name = "size"
command = ["wc", "-c", "artifact/numbers.json"]
[[auto_allow]]
command = ["head", "-c", "*", "artifact/numbers.json"]
timeout_ms = 5000
`;

const proposing = (asks: string) => ({
  proposer: 'command' as const,
  command: { command: program(asks), timeoutMs: 20_000 },
  slots: 1,
  seed: 1,
});
const first = { name: 'first bytes', command: ['head', '-c', '3', 'artifact/numbers.json'] };
/** Where there is no sandbox, what a proposer has asked for does not run and says so. */
const sandboxed = { ending: expect.stringMatching(/^(exit 0|not run: .*)$/) };

const detailsOf = async ({ client }: Engine, { run, rows }: EndedRun) =>
  Promise.all(rows.map(({ n }) => client.call('run.transition', { run, n })));

test('a program registers a command through a file; it runs on its candidates, in the sandbox, and stands on every attempt', async () => {
  const engine = await engineHere();
  const task = await withAuto(allowing);
  const asks = `process.env.PAWL_DRAW === '1' ? ${JSON.stringify([first, { name: 'all', command: ['cat', '/etc/passwd'] }])} : null`;
  const ended = await runToEnd(engine, { ...proposing(asks), task, attempts: 4 });
  const details = await detailsOf(engine, ended);
  expect(details.map(({ registrations }) => registrations.map(({ name, refusal }) => [name, refusal]))).toEqual([
    [
      ['first bytes', null],
      ['all', 'not_allowed'],
    ],
    [],
    [],
    [],
  ]);
  for (const { autos, transition } of details) {
    expect(autos.map(({ name, tree, at, ending }) => ({ name, tree, at, ending }))).toEqual([
      { name: 'size', tree: transition.tree, at: 'candidate', ending: 'exit 0' },
      { name: 'first bytes', tree: transition.tree, at: 'candidate', ...sandboxed },
    ]);
    expect(autos[0]?.output).toMatch(/numbers\.json/);
    expect(autos[1]?.ending === 'exit 0' ? autos[1].output : '{"n').toBe('{"n');
  }
  // Also of the one that was committed, which leaves no memory.
  expect(details.map(({ transition }) => transition.outcome)).toContain('commit');
  expect(details[0]?.memory?.excerpt).toContain('[auto] all not registered: not_allowed\n[auto] size on tree ');
  // What the program was told, before and after.
  const told = async (n: number): Promise<unknown> => {
    const response = await engine.core.blob(details[n - 1]?.transition.response ?? '');
    const { output, format } = z
      .looseObject({ format: z.string(), output: z.looseObject({ text: z.string() }) })
      .parse(JSON.parse(new TextDecoder().decode(response ?? undefined)));
    return [format, JSON.parse(output.text)];
  };
  const allow = [['head', '-c', '*', 'artifact/numbers.json']];
  const size = { name: 'size', command: ['wc', '-c', 'artifact/numbers.json'], registered: false };
  expect(await told(1)).toEqual(['pawl.command/2', { format: 'pawl.auto.list/1', allow, commands: [size] }]);
  expect(await told(2)).toEqual([
    'pawl.command/1',
    { format: 'pawl.auto.list/1', allow, commands: [size, { ...first, registered: true }] },
  ]);

  const events = details[0]?.events.map((line) => z.looseObject({ type: z.string() }).parse(JSON.parse(line)).type);
  expect(events).toEqual(['round', 'proposal', 'register', 'register', 'verdict', 'auto', 'decision']);
  // Names and words of a proposer stand in the chain only as commitments.
  expect(details.flatMap(({ events: lines }) => lines).join('\n')).not.toMatch(/first bytes|passwd|numbers\.json/);
  expect(await replayed(engine, ended.run)).toMatchObject({ ok: true, mismatches: [], missing: [] });

  // The record of it asks for the same, in a run of its own.
  const again = await runToEnd(engine, { task, proposer: 'recorded', record: ended.run, slots: 1, seed: 1, attempts: 4 });
  expect(again.trees).toEqual(ended.trees);
  const twice = await detailsOf(engine, again);
  expect(twice.map(({ autos }) => autos.map(({ name }) => name))).toEqual(details.map(({ autos }) => autos.map(({ name }) => name)));
  expect(await replayed(engine, again.run)).toMatchObject({ ok: true });
});

test('what is no request is refused and recorded as that; a link or a long file is not read', async () => {
  const engine = await engineHere();
  const task = await withAuto(allowing);
  const cases: [asks: string, requests: unknown[]][] = [
    ['"no json"', [{ name: '', command: [], refusal: 'malformed' }]],
    ['"[{\\"name\\":\\"x\\"}]"', [{ name: '', command: [], refusal: 'malformed' }]],
    ['"x".repeat(70000)', [{ name: '', command: [], refusal: 'malformed' }]],
    ['(fs.symlinkSync("/etc/passwd", process.env.PAWL_REGISTER), null)', [{ name: '', command: [], refusal: 'malformed' }]],
    ['[{ name: "a\\nb", command: ["head"] }]', [{ name: 'a\nb', command: ['head'], refusal: 'malformed' }]],
    ['[]', []],
  ];
  for (const [asks, requests] of cases) {
    const ended = await runToEnd(engine, { ...proposing(asks), task, attempts: 1 });
    const [detail] = await detailsOf(engine, ended);
    expect([asks, detail?.registrations]).toEqual([asks, requests]);
    expect(await replayed(engine, ended.run)).toMatchObject({ ok: true });
  }
});

test('a run that goes on in another engine has what was registered before; a branch begins without', async () => {
  const folder = await temporaryFolder();
  const gate = path.join(await folderHere(), 'go');
  const task = await withAuto(allowing);
  const wait = `while (process.env.PAWL_DRAW === '3' && !fs.existsSync(${JSON.stringify(gate)})) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);`;
  const asks = `(() => { ${wait} return process.env.PAWL_DRAW === '1' ? ${JSON.stringify([first])} : null; })()`;
  let engine = await startEngine(folder.path);
  try {
    const { run } = await engine.client.call('run.start', { ...proposing(asks), task, attempts: 5 });
    await expect.poll(async () => (await engine.client.call('run.get', { run })).transitions, { timeout: 20_000 }).toBe(2);
    await engine.close();
    engine = await startEngine(folder.path);
    await writeFile(gate, '');
    await engine.client.call('run.resume', { run });
    for await (const _ of engine.client.stream('run.watch', { run }));
    const ended = await readEnded(engine, run);
    const details = await detailsOf(engine, ended);
    for (const { autos, transition } of details)
      expect(autos.map(({ name }) => name)).toEqual(transition.outcome === 'aborted' ? [] : ['size', 'first bytes']);
    expect(details.map(({ transition }) => transition.outcome)).toContain('aborted');
    expect(details.map(({ registrations }) => registrations.length)).toEqual(details.map((_, i) => (i === 0 ? 1 : 0)));
    expect(await replayed(engine, run)).toMatchObject({ ok: true });
    const branch = await runToEnd(engine, { from: { run, seq: 0 }, proposer: 'command', slots: 1, seed: 1, attempts: 2 });
    // Its first draw asks again: that is its own.
    expect((await detailsOf(engine, branch)).map(({ registrations }) => registrations.length)).toEqual([1, 0]);
    expect(await replayed(engine, branch.run)).toMatchObject({ ok: true });
  } finally {
    await engine.close();
    await folder.remove();
  }
});

test('outputs that are removed or forged behind the store change no decision, and a replay names them', async () => {
  const folder = await temporaryFolder();
  const task = await withAuto(allowing);
  const engine = await startEngine(folder.path);
  const ended = await runToEnd(engine, { ...proposing(JSON.stringify([first])), task, attempts: 4 });
  await engine.close();
  const edits: [edit: string, where: RegExp][] = [
    ['DELETE FROM auto_output', /^automatic commands of transition/],
    ['DELETE FROM auto_registration', /^automatic commands of transition/],
    ["UPDATE auto_registration SET refusal = 'too_many'", /^automatic commands of transition/],
    ['UPDATE auto_output SET tree = (SELECT tree FROM bundle WHERE key & 4294967295 = 0)', /^automatic commands of transition/],
    [
      "UPDATE blob SET bytes = CAST(replace(CAST(bytes AS TEXT), 'exit 0', 'exit 1') AS BLOB) WHERE CAST(bytes AS TEXT) LIKE '%pawl.auto/1%'",
      /^(blob|transition|automatic commands|salt|event|memory|rows of the run)/,
    ],
  ];
  try {
    for (const [edit, where] of edits) {
      const copy = await temporaryFolder();
      try {
        await cp(folder.path, copy.path, { recursive: true });
        const db = openPast(copy.path);
        const { changes } = db.prepare(edit).run();
        expect([edit, changes > 0]).toEqual([edit, true]);
        db.close();
        const reads = freshReads(copy.path);
        const reader = { materialise: materialiseCommand, registrations: commandRegistrations };
        const report = await replay(reads.store, ended.run, reader).finally(() => reads.close());
        const places = [...report.mismatches, ...report.missing].map((found) => found.where);
        expect([edit, report.ok]).toEqual([edit, false]);
        for (const place of places) expect(place).toMatch(where);
        // Every decision comes out as it was: no bundle, rank or outcome is named, and the whole chain was made again.
        expect(places.filter((place) => /^(bundle|verdict|run|verifier)/.test(place))).toEqual([]);
        expect([...report.mismatches].filter(({ field }) => /outcome|rank|verdict|bundle/.test(field))).toEqual([]);
        expect(report.bundles).toBe(ended.trees.length);
      } finally {
        await copy.remove();
      }
    }
  } finally {
    await folder.remove();
  }
});
