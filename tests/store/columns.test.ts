// Columns are the rows, merged: checked against a fold over the rows of random runs.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { outcomes } from '#shared/domain/transition.ts';
import type { BucketColumns, RowColumns, TransitionRow } from '#shared/contract/run.ts';
import { getColumns } from '#electron/store/read/columns.ts';
import { pageTransitions } from '#electron/store/read/transitions.ts';
import { database, round, start } from './support/database.ts';
import { createScenario, type Scenario, type SlotSpec } from './support/scenario.ts';

const value = fc.integer({ min: 0, max: 3 });
const spec = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('ranked' as const), rank: fc.tuple(value, value, value) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('no_verdict' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('head' as const, 'invalid' as const, 'aborted' as const) }) },
);
const rounds = fc.array(fc.array(spec, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 });

const m = 3;
const sum = (rank: readonly number[]): number => rank.reduce((a, b) => a + b, 0);

const rowsAsColumns = (from: number, rows: readonly TransitionRow[]): RowColumns => ({
  kind: 'rows',
  from,
  count: rows.length,
  m,
  outcome: Uint8Array.from(rows, ({ outcome }) => outcomes.indexOf(outcome)),
  round: Uint32Array.from(rows, ({ round }) => round),
  slot: Uint16Array.from(rows, ({ slot }) => slot),
  baseSeq: Uint32Array.from(rows, ({ baseSeq }) => baseSeq),
  bundleSeq: Int32Array.from(rows, ({ bundleSeq }) => bundleSeq ?? -1),
  duplicateOf: Int32Array.from(rows, ({ outcome, duplicateOf }) => (outcome === 'duplicate' ? (duplicateOf ?? -1) : -1)),
  ranks: Int32Array.from(rows.flatMap(({ rank }) => rank ?? [-1, -1, -1])),
});

const rowsAsBuckets = (from: number, rows: readonly TransitionRow[], resolution: number, chain: Scenario['chain']): BucketColumns => {
  const parts = Array.from({ length: Math.ceil(rows.length / resolution) }, (_, b) => rows.slice(b * resolution, (b + 1) * resolution));
  const potentials = (part: readonly TransitionRow[]) => part.flatMap(({ rank }) => (rank === null ? [] : [sum(rank)]));
  const headAfter = (part: readonly TransitionRow[]) => {
    const last = part.at(-1)?.n ?? 0;
    return chain.findLast(({ transition }) => transition === null || transition <= last)?.potential ?? -1;
  };
  const changed = (part: readonly TransitionRow[], c: number, sign: number) =>
    part.filter(({ rank, baseSeq }) => rank !== null && Math.sign((rank[c] ?? 0) - (chain[baseSeq]?.rank[c] ?? 0)) === sign).length;
  const perObligation = (sign: number) => Uint32Array.from(parts.flatMap((part) => [0, 1, 2].map((c) => changed(part, c, sign))));
  return {
    kind: 'buckets',
    from,
    count: parts.length,
    m,
    resolution,
    outcomes: Uint32Array.from(parts.flatMap((part) => outcomes.map((o) => part.filter(({ outcome }) => outcome === o).length))),
    potentialMin: Int32Array.from(parts, (part) => (potentials(part).length === 0 ? -1 : Math.min(...potentials(part)))),
    potentialMax: Int32Array.from(parts, (part) => Math.max(-1, ...potentials(part))),
    headPotential: Int32Array.from(parts, headAfter),
    better: perObligation(-1),
    worse: perObligation(1),
  };
};

test('columns at every resolution equal the rows', () => {
  const db = database();
  let i = 0;
  fc.assert(
    fc.property(
      rounds,
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 40 }),
      fc.constantFrom(1, 4, 16),
      (all, from, to, resolution) => {
        const s = createScenario({ i: i++, caps: [3, 3, 3], genesis: [3, 2, 3] });
        start(db, s);
        for (const [k, slots] of all.entries()) {
          const specs = slots.map((slot, j): SlotSpec =>
            slot.kind === 'ranked' || slot.kind === 'no_verdict' ? { ...slot, text: `text ${k} ${j}` } : slot,
          );
          round(db, s, specs);
        }
        const rows = pageTransitions(db, { run: s.run, after: from - 1, limit: Math.max(0, to - from + 1) });
        const expected = resolution === 1 ? rowsAsColumns(from, rows) : rowsAsBuckets(from, rows, resolution, s.chain);
        expect(getColumns(db, { run: s.run, from, to, resolution })).toEqual(expected);
      },
    ),
    { numRuns: 60 },
  );
});

test('an empty range, an unknown run and too many columns', () => {
  const db = database();
  const s = createScenario({ caps: [3], genesis: [3] });
  start(db, s);
  expect(getColumns(db, { run: s.run, from: 1, to: 100, resolution: 1 })).toMatchObject({ kind: 'rows', count: 0, m: 1 });
  expect(getColumns(db, { run: s.run, from: 5, to: 3, resolution: 4 })).toMatchObject({ kind: 'buckets', count: 0 });
  expect(() => getColumns(db, { run: 'run_none', from: 1, to: 3, resolution: 4 })).toThrow(/there is no run/);
  expect(() => getColumns(db, { run: s.run, from: 0, to: 3, resolution: 4 })).toThrow(/no columns from 0/);
});
