// `pawl audit` and `audit.run` over a whole engine with the real verifier and the real proposers.
import { expect, test } from 'vitest';
import { AuditReport } from '#shared/contract/audit.ts';
import { ensure } from '#shared/lib/assert.ts';
import type { Engine } from '../../support/engine/engine-fixture.ts';
import { pawl, pawlAround } from '../../support/engine/pawl-on-engine.ts';
import { engineHere, smallTaskHere } from '../../support/engine/in-test.ts';
import { runToEnd } from '../../support/engine/ended-run.ts';
import { openPast } from '../replay/support.ts';
import { ruleIn, rulesWith } from './support.ts';

async function audited({ client }: Engine, run: string): Promise<AuditReport> {
  for await (const item of client.stream('audit.run', { run })) if (item.kind === 'report') return item.report;
  throw new Error('no report');
}

test('a run of the search in words and as one document; exit codes', async () => {
  const engine = await engineHere();
  const { run } = await runToEnd(engine, { task: await smallTaskHere({ attempts: 24 }), proposer: 'search', slots: 2, seed: 3 });

  const told = await pawl(engine, 'audit', run.slice(0, 20));
  expect(told.code).toBe(0);
  expect(told.out).toMatch(/^run +run_/);
  expect(told.out).toMatch(/^ 3 {2}held {11}Read before rewrite\n {4}\d+ responses quote the bytes/m);
  expect(told.out).toMatch(/^ 6 {2}not checkable {2}Intent tests beat cosmetic ones\n/m);
  expect(told.out).toMatch(/^14 {2}held/m);
  expect(told.out).toMatch(/held \d+, violated 0, not checkable \d+ of 14 rules\. This is no score/);
  expect(told.out).not.toMatch(/\d+\/14/);
  // No line without a break of its own in a terminal.
  expect(told.out.split('\n').every((line) => line.length <= 100)).toBe(true);

  const json = await pawl(engine, 'audit', run, '--json');
  expect(json.code).toBe(0);
  const report = AuditReport.parse(JSON.parse(json.out));
  expect(report).toMatchObject({ format: 'pawl.audit/1', run, transitions: 24, open: false });
  expect(report.rules.map(({ rule }) => rule)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);

  // Nothing was written: no replay is remembered because of an audit.
  expect(await engine.client.call('replay.status', { run })).toMatchObject({ state: 'never' });

  const db = openPast(engine.dataDir);
  db.prepare('UPDATE transition SET outcome = CASE outcome WHEN 2 THEN 1 ELSE 2 END WHERE key = (1 << 32 | 3)').run();
  db.close();
  const violated = await pawl(engine, 'audit', run);
  expect(violated.code).toBe(3);
  expect(violated.out).toMatch(
    /^ 8 {2}violated {7}Deterministic logic in code\n {4}1 stored field of its records is not what the sources give\.\n {4}- transition 3: outcome: stored \w+, recomputed \w+$/m,
  );
  const document = await pawl(engine, 'audit', run, '--json');
  expect(document.code).toBe(3);
  expect(rulesWith(AuditReport.parse(JSON.parse(document.out)), 'violated')).toEqual([8]);
});

test('what is refused, and what was ended', async () => {
  const engine = await engineHere();
  const { run } = await runToEnd(engine, { task: await smallTaskHere({ attempts: 4 }), proposer: 'search', slots: 2, seed: 3 });
  expect(await pawl(engine, 'audit')).toMatchObject({ code: 2 });
  expect(await pawl(engine, 'audit', 'run_0000', '--json')).toMatchObject({ code: 1, out: expect.stringMatching(/^\{"error":/) });
  // Ctrl-C before anything came: no audit, and not the code of a violated rule.
  const ended = await pawlAround({ onInterrupt: (interrupt) => interrupt() }, engine, 'audit', run, '--json');
  expect(ended).toMatchObject({ code: 1, out: expect.stringMatching(/^\{"error":\{"code":"cancelled"/) });
  const help = await pawl(engine, 'help');
  expect(help.out).toMatch(/audit <run>/);
});

test('a program: its tokens, its tools and what it read are not recorded; memory stands beside the instruction', async () => {
  const engine = await engineHere();
  const task = await smallTaskHere({ numbers: [3, 2, 4, 1], budget: 'completion_tokens = 1000' });
  const edits = ['echo >> numbers.json', "sed -i 's/^  1$/  0/' numbers.json", "sed -i 's/^  4,$/  3,/' numbers.json"];
  const command = { command: `case $PAWL_N in ${edits.map((edit, i) => `${i + 1}) ${edit};;`).join(' ')} esac`, timeoutMs: 20_000 };
  const { run, rows } = await runToEnd(engine, { task, proposer: 'command', command, slots: 1, seed: 1, attempts: 3 });
  expect(rows.map(({ outcome }) => outcome)).toEqual(['tie', 'commit', 'commit']);
  const report = await audited(engine, run);
  expect(rulesWith(report, 'violated')).toEqual([]);
  expect(ruleIn(report, 1)).toMatchObject({
    status: 'held',
    because: { code: 'request_pinned', requests: 3, withMemory: expect.any(Number) },
  });
  expect(ruleIn(report, 3)).toMatchObject({ status: 'not_checkable', because: { code: 'reads_not_recorded', whole: 3 } });
  expect(ruleIn(report, 9)).toMatchObject({ status: 'not_checkable', because: { code: 'tokens_not_metered' } });
  expect(ruleIn(report, 10)).toMatchObject({ status: 'not_checkable', because: { code: 'tools_not_recorded' } });
});

test('a record, a person and a resumption', async () => {
  const engine = await engineHere();
  const task = await smallTaskHere({ attempts: 40 });
  const original = await runToEnd(engine, { task, proposer: 'search', slots: 2, seed: 3, attempts: 6 });
  const again = await runToEnd(engine, { task, proposer: 'recorded', record: original.run, slots: 2, seed: 1, attempts: 6 });
  const recorded = await audited(engine, again.run);
  expect(rulesWith(recorded, 'violated')).toEqual([]);
  expect(ruleIn(recorded, 3)).toMatchObject({ status: 'not_checkable', because: { code: 'reads_elsewhere', responses: 6 } });

  const { client } = engine;
  const { run } = await client.call('run.start', { task, proposer: 'search', slots: 2, seed: 1 });
  await client.call('run.stop', { run });
  const base = (await client.call('run.chain', { run })).count - 1;
  const { n } = await client.call('run.propose', { run, base, files: [{ path: 'numbers.json', text: '{"numbers":[9,9,9,9,9,9,9,9]}\n' }] });
  const report = await audited(engine, run);
  expect(rulesWith(report, 'violated')).toEqual([]);
  expect(ruleIn(report, 3)).toMatchObject({
    status: 'not_checkable',
    because: { code: 'reads_not_recorded', whole: 1 },
    records: [{ from: n }],
  });
  expect(ruleIn(report, 11)).toMatchObject({ status: 'held', because: { code: 'chain_whole', resumes: 1 } });
});

test('an overlay is held to the contract before it, where that is stored', async () => {
  const engine = await engineHere();
  const task = await smallTaskHere({ attempts: 4 });
  const start = { task, proposer: 'search' as const, slots: 2, seed: 3 };
  const overlaid = await runToEnd(engine, { ...start, quarantine: ['right'] });
  const alone = await audited(engine, overlaid.run);
  expect(ruleIn(alone, 14)).toMatchObject({ status: 'not_checkable', because: { code: 'previous_not_stored', version: 2 } });
  expect(ruleIn(alone, 6)).toMatchObject({ status: 'held', because: { code: 'advisory_apart', keys: 1 } });

  const plain = await runToEnd(engine, start);
  expect(ruleIn(await audited(engine, plain.run), 14)).toMatchObject({ status: 'held', because: { code: 'core_only', obligations: 2 } });
  expect(ruleIn(await audited(engine, overlaid.run), 14)).toMatchObject({
    status: 'held',
    because: { code: 'overlay_named', quarantined: 1, median: 0 },
    records: [
      { kind: 'contract', id: overlaid.detail.contract, note: 'right' },
      { kind: 'contract', id: plain.detail.contract },
    ],
  });
});

test('a branch says which verdicts it takes from the runs it comes from', async () => {
  const engine = await engineHere();
  const parent = await runToEnd(engine, { task: await smallTaskHere({ attempts: 24 }), proposer: 'search', slots: 2, seed: 3 });
  const branch = await runToEnd(engine, { from: { run: parent.run, seq: 1 }, proposer: 'search', slots: 2, seed: 4, attempts: 8 });
  const report = await audited(engine, branch.run);
  expect(rulesWith(report, 'violated')).toEqual([]);
  const { because } = ensure(report.rules[6], 'rule 7');
  expect(because).toMatchObject({ code: 'verdicts_from_reports', ancestors: expect.any(Number) });
  expect(because.code === 'verdicts_from_reports' && because.ancestors).toBeGreaterThan(0);
});
