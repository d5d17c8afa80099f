// The sample task end to end: real loader, runner, verifier, store and search, on two data folders and with different machines' timing.
import { expect, test } from 'vitest';
import { fileURLToPath } from 'node:url';
import { hashJson } from '#shared/lib/hash.ts';
import { type Engine, startEngine, temporaryFolder } from '../../support/engine/engine-fixture.ts';

const task = fileURLToPath(new URL('../../../resources/tasks/exam-timetable', import.meta.url));

const runToEnd = async ({ client }: Engine): Promise<string> => {
  const { run, status } = await client.call('run.start', { task, proposer: 'search', slots: 4, seed: 7, attempts: 48 });
  expect(status).toBe('running');
  for await (const _ of client.stream('run.watch', { run }));
  return run;
};

test('two engines on two data folders certify the same chain, and stored ids recompute', async () => {
  const chains: { ids: string[]; trees: (string | null)[]; outcomes: string[] }[] = [];
  for (let i = 0; i < 2; i++) {
    const folder = await temporaryFolder();
    const engine = await startEngine(folder.path);
    try {
      const run = await runToEnd(engine);
      const { client } = engine;
      const rows = await client.call('run.page', { run, after: 0, limit: 100 });
      const { ids, count } = await client.call('run.chain', { run });
      chains.push({ ids, trees: rows.map(({ tree }) => tree), outcomes: rows.map(({ outcome }) => outcome) });
      expect(rows).toHaveLength(48);
      expect(count).toBeGreaterThan(1);
      const { bundle } = await client.call('run.bundle', { run, seq: count - 1 });
      const { id, run: _run, verdict: _verdict, summaryText: _text, transition: _transition, ...body } = bundle;
      expect(hashJson(body)).toBe(id);
    } finally {
      await engine.close();
      await folder.remove();
    }
  }
  expect(chains[1]).toEqual(chains[0]);
});
