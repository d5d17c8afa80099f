// Automatic commands of a task: evidence bound to a tree, without authority.
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { replayed, runToEnd } from '../../support/engine/ended-run.ts';
import { engineHere, smallTaskHere } from '../../support/engine/in-test.ts';

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
