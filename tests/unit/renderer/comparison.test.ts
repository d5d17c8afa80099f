import { describe, expect, test } from 'vitest';
import { attemptsOf, compareRuns, lengthOf, stretchesFrom, type RunReader } from '#renderer/state/comparison.ts';
import { ensure } from '#shared/lib/assert.ts';
import { createFakeJob, type FakeJob } from '../../support/fake-engine/fake-job.ts';

/** A run of 80, a branch from its bundle 3, and one from bundle 2 of that. */
const root = createFakeJob({ count: 80, seed: 7 }, 1, new Map());
const child = createFakeJob({ count: 60, seed: 9 }, 2, new Map(), root.originAt(3));
const grandchild = createFakeJob({ count: 40, seed: 11 }, 3, new Map(), child.originAt(2));
const jobs = [root, child, grandchild];
const jobOf = (run: string): FakeJob =>
  ensure(
    jobs.find(({ id }) => id === run),
    run,
  );
const read: RunReader = {
  parent: (run) => Promise.resolve(jobOf(run).origin),
  madeBy: ({ run, seq }) => Promise.resolve(jobOf(run).bundle(seq).bundle.transition),
  page: (run, after, limit) =>
    Promise.resolve(Array.from({ length: limit }, (_, i) => jobOf(run).row(after + 1 + i)).filter((row) => row !== undefined)),
  transitions: (run) => Promise.resolve(jobOf(run).summary().transitions),
  chain: (run) => Promise.resolve(jobOf(run).chain()),
};
const rows = (job: FakeJob) => Array.from({ length: job.summary().transitions }, (_, i) => ensure(job.row(i + 1), `row ${i + 1}`));
const names = (job: FakeJob, keep: (baseSeq: number) => boolean) =>
  rows(job).flatMap((row) => (keep(row.baseSeq) ? [`${job.id} ${row.n}`] : []));

describe('the way from a common bundle', () => {
  test.each([0, 1, 3])('of the run itself, from bundle %i: its attempts on that bundle or a later one', async (seq) => {
    const way = await stretchesFrom(read, root.id, { run: root.id, seq });
    const found = await attemptsOf(read, way, 0, 1_000);
    expect(found.map(({ run, row }) => `${run} ${row.n}`)).toEqual(names(root, (base) => base >= seq));
    expect(lengthOf(way)).toBe(found.length);
  });

  test('of a branch of a branch: what was tried before each was left, then its own', async () => {
    const way = await stretchesFrom(read, grandchild.id, { run: root.id, seq: 1 });
    const found = await attemptsOf(read, way, 0, 1_000);
    const all = [...names(root, (base) => base >= 1 && base < 3), ...names(child, (base) => base < 2), ...names(grandchild, () => true)];
    expect(found.map(({ run, row }) => `${run} ${row.n}`)).toEqual(all);
    const part = await attemptsOf(read, way, 7, 30);
    expect(part.map(({ run, row }) => `${run} ${row.n}`)).toEqual(all.slice(7, 37));
  });

  test('a run that does not come from there is refused', async () => {
    await expect(stretchesFrom(read, root.id, { run: child.id, seq: 0 })).rejects.toThrow('does not come from');
  });
});

test('both heads begin at the common bundle and fall to where each run ended', async () => {
  const common = { run: root.id, seq: 3 };
  const start = root.bundle(3).bundle.potential;
  const { lengths, stairs, from } = await compareRuns(read, root.id, child.id, { common, first: null }, start);
  expect(lengths).toEqual([names(root, (base) => base >= 3).length, 60]);
  for (const [side, job] of [
    [stairs[0], root],
    [stairs[1], child],
  ] as const) {
    expect(side[0]).toEqual({ index: 0, potential: start });
    expect(side.at(-1)?.potential).toBe(job.summary().head?.potential);
    for (const [i, step] of side.slice(1).entries()) expect(step.potential).toBeLessThan(side[i]?.potential ?? 0);
  }
  expect(from).toBe(Math.max(...lengths) - 3);
});
