// `pawl replay` and `pawl branch` as they are typed, over a whole engine with the real verifier.
import { rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { engineHere, smallTaskHere } from '../../support/engine/in-test.ts';
import { pawl } from '../../support/engine/pawl-on-engine.ts';
import { openPast } from './support.ts';

const Shown = z.object({ id: z.string(), header: z.object({ parent: z.string().nullable(), seed: z.number() }) });
const Failure = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

test('a run, its replays, a branch of it, and what is refused', async () => {
  const engine = await engineHere();
  const task = await smallTaskHere({ attempts: 24 });
  const made = await pawl(engine, 'run', task, '--seed', '3', '--slots', '2', '--json');
  const { id } = Shown.parse(JSON.parse(made.out));
  await rm(task, { recursive: true });

  const decisions = await pawl(engine, 'replay', id, '--decisions');
  expect(decisions.out).toMatch(/decisions +matches: every stored record is what its sources give/);
  expect(decisions.code).toBe(0);
  const verifier = await pawl(engine, 'replay', id.slice(0, 20), '--verifier', '--json');
  const again = z
    .object({ run: z.string(), ok: z.boolean(), bundles: z.array(z.object({ result: z.string() })) })
    .parse(JSON.parse(verifier.out));
  expect(again).toMatchObject({ run: id, ok: true });
  expect(again.bundles.length).toBeGreaterThan(1);
  expect(verifier.code).toBe(0);
  const last = await pawl(engine, 'replay', id, '--verifier', '--from', String(again.bundles.length - 1));
  expect(last.out).toMatch(/1 match, 0 drift, 0 flake/);

  const branched = await pawl(engine, 'branch', `${id}/1`, '--attempts', '6', '--json');
  const { header, id: branch } = Shown.parse(JSON.parse(branched.out));
  expect(header).toMatchObject({ seed: 3, parent: (await engine.client.call('run.bundle', { run: id, seq: 1 })).bundle.id });
  expect(branched.err).toMatch(/Branching from bundle 1/);
  expect((await pawl(engine, 'replay', branch, '--decisions', '--json')).code).toBe(0);

  const refused = async (...argv: string[]) => {
    const { code, out } = await pawl(engine, ...argv, '--json');
    return `${code} ${Failure.parse(JSON.parse(out)).error.message}`;
  };
  expect(await refused('replay', id)).toMatch(/^2 choose one of/);
  expect(await refused('replay', id, '--decisions', '--verifier')).toMatch(/^2 choose one of/);
  expect(await refused('replay', id, '--proposals')).toMatch(/^2 .*model server/);
  expect(await refused('replay', id, '--verifier', '--from', '99')).toMatch(/^1 .*no bundle 99/);
  expect(await refused('branch', 'deadbeef')).toMatch(/^1 no bundle begins/);
});

test('an edited run fails its replay, in words and as JSON', async () => {
  const engine = await engineHere();
  const task = await smallTaskHere({ attempts: 8 });
  const { id } = Shown.parse(JSON.parse((await pawl(engine, 'run', task, '--json')).out));
  const db = openPast(engine.dataDir);
  db.prepare('UPDATE transition SET slot = slot + 7 WHERE key = (1 << 32 | 3)').run();
  db.close();
  const told = await pawl(engine, 'replay', id, '--decisions');
  expect(told.code).toBe(1);
  expect(told.out).toMatch(/transition 3 +slot +\d+ +\d+/);
  const json = await pawl(engine, 'replay', id, '--decisions', '--json');
  expect(json.code).toBe(1);
  expect(JSON.parse(json.out)).toMatchObject({ ok: false, mismatches: [{ where: 'transition 3', field: 'slot' }] });
  expect(await engine.client.call('replay.status', { run: id })).toMatchObject({ state: 'differs', mismatches: 1 });
});
