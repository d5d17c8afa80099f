// A run that looks like one, made from a seed: rounds of four slots, all ten outcomes, a chain that only falls.
import type { RunData } from '#renderer/state/run-data.ts';
import { outcomes, type Outcome } from '#shared/domain/transition.ts';
import { obligationOf } from '../support/contract.ts';

export type FakeRow = {
  readonly outcome: Outcome;
  readonly baseSeq: number;
  readonly rank: readonly number[] | null;
  readonly slot: number;
  readonly round: number;
};

const names = [
  'overlap_pairs',
  'touching_ends',
  'empty_input',
  'reversed_bounds',
  'nested',
  'negative_bounds',
  'stable_order',
  'type_errors',
];

/** A store that holds these rows and this chain; `loaded(n)` false = the row is not there yet. */
export function fakeData(
  keys: readonly string[],
  chain: readonly { readonly transition: number; readonly rank: readonly number[] }[],
  rows: readonly FakeRow[],
  loaded: (n: number) => boolean = () => true,
) {
  const ranks = rows.map((r) => (r.rank ? Int32Array.from(r.rank) : null));
  const chainRanks = chain.map((c) => Int32Array.from(c.rank));
  const asked: [number, number][] = [];
  const row = (n: number) => (loaded(n) ? rows[n - 1] : undefined);
  const data: RunData & { readonly asked: readonly [number, number][] } = {
    run: 'run_fake',
    m: keys.length,
    obligations: keys.map((key) => obligationOf(key, { title: key, cap: 100_000 })),
    count: rows.length,
    outcome: (n) => {
      const found = row(n);
      return found ? outcomes.indexOf(found.outcome) : 255;
    },
    round: (n) => row(n)?.round ?? 0,
    slot: (n) => row(n)?.slot ?? 0,
    baseSeq: (n) => row(n)?.baseSeq ?? 0,
    bundleSeq: (n) => (row(n)?.outcome === 'commit' ? (row(n)?.baseSeq ?? 0) + 1 : -1),
    duplicateOf: (n) => (row(n)?.outcome === 'duplicate' ? 0 : -1),
    rank: (n) => (loaded(n) ? (ranks[n - 1] ?? null) : null),
    baseRank: (n) => chainRanks[row(n)?.baseSeq ?? 0] ?? new Int32Array(keys.length),
    chainLength: chain.length,
    chainRank: (seq) => chainRanks[seq] ?? new Int32Array(keys.length),
    chainTransition: (seq) => chain[seq]?.transition ?? -1,
    ensure: (from, to) => {
      asked.push([from, to]);
    },
    asked,
  };
  return data;
}

/** A run of `count` transitions over the first `m` of eight (or more, numbered) obligations that begins at `genesis` each. */
export function fakeRun(count: number, m = 8, genesis = [9, 6, 0, 7, 8, 5, 4, 2], seed = 11): ReturnType<typeof fakeData> {
  let state = seed;
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const keys = Array.from({ length: m }, (_, i) => names[i] ?? `tests/unit/test_intervals.py::test_case_${i}`);
  let head = keys.map((_, i) => genesis[i % genesis.length] ?? 1);
  const start = head.reduce((a, b) => a + b, 0);
  const chain: { transition: number; rank: number[] }[] = [{ transition: -1, rank: [...head] }];
  const rows: FakeRow[] = [];
  const slots = 4;
  for (let round = 0; rows.length < count; round++) {
    const base = [...head];
    const baseSeq = chain.length - 1;
    let won = false;
    for (let slot = 0; slot < slots && rows.length < count; slot++) {
      const rank = [...base];
      const x = random();
      const open = base.flatMap((v, i) => (v > 0 ? [i] : []));
      const i = open[Math.floor(random() * open.length)];
      const other = Math.floor(random() * m);
      const total = base.reduce((a, b) => a + b, 0);
      const behind = total > start * (0.08 + 0.9 * (1 - rows.length / count));
      let outcome: Outcome = 'tie';
      if (x < 0.16 && behind && i !== undefined) {
        rank[i] = Math.max(0, (rank[i] ?? 0) - (random() < 0.2 ? 2 : 1));
        outcome = won ? 'not_selected' : 'commit';
      } else if (x < 0.4) {
        rank[other] = (rank[other] ?? 0) + 1 + (random() < 0.25 ? 1 + Math.floor(random() * 6) : 0);
        outcome = 'regression';
      } else if (x < 0.6 && i !== undefined && i !== other) {
        rank[i] = (rank[i] ?? 0) - 1;
        rank[other] = (rank[other] ?? 0) + 1;
        outcome = 'incomparable';
      } else if (x < 0.74) outcome = 'tie';
      else if (x < 0.83) outcome = 'duplicate';
      else if (x < 0.9) outcome = 'invalid';
      else if (x < 0.94) outcome = 'unstable';
      else if (x < 0.975) outcome = 'no_verdict';
      else outcome = 'aborted';
      const ranked =
        outcome === 'commit' || outcome === 'tie' || outcome === 'regression' || outcome === 'incomparable' || outcome === 'not_selected';
      rows.push({ outcome, baseSeq, rank: ranked ? rank : null, slot, round: round + 1 });
      if (outcome === 'commit') {
        won = true;
        head = rank;
        chain.push({ transition: rows.length, rank });
      }
    }
  }
  return fakeData(keys, chain, rows);
}
