// Two runs side by side from the bundle that both come from: which of their attempts count, and in which order. Pure over what it is given.
import type { BundleRef, RunDivergence } from '#shared/contract/replay.ts';
import type { ChainColumns, TransitionRow } from '#shared/contract/run.ts';

/** Attempts first..last of one run, in a row on the way from the common bundle; `last` < `first` = none. */
export type Stretch = { readonly run: string; readonly first: number; readonly last: number };
/** An attempt at its place after the common bundle, counted from 0. */
export type Attempt = { readonly run: string; readonly row: TransitionRow };

/** What is read of stored runs. */
export type RunReader = {
  readonly parent: (run: string) => Promise<BundleRef | null>;
  /** Transition that certified a bundle; null for a seed. */
  readonly madeBy: (ref: BundleRef) => Promise<number | null>;
  /** Rows with n > after, at most `limit`. */
  readonly page: (run: string, after: number, limit: number) => Promise<readonly TransitionRow[]>;
  readonly transitions: (run: string) => Promise<number>;
  readonly chain: (run: string) => Promise<ChainColumns>;
};

/** A round has at most so many slots, so the first attempt on a bundle is within this many rows of the one that made it. */
const maxSlots = 64;
const pageLimit = 200;

/** Number of the first attempt that was tried on bundle `seq` or a later one; one beyond the end when there is none. */
async function firstOn(read: RunReader, { run, seq }: BundleRef): Promise<number> {
  if (seq === 0) return 1;
  const made = (await read.madeBy({ run, seq })) ?? 0;
  const rows = await read.page(run, made, maxSlots);
  return rows.find((row) => row.baseSeq >= seq)?.n ?? made + rows.length + 1;
}

/** The way of `run` from a bundle that it comes from, as stretches of its ancestors' attempts and its own. Throws when it does not come from there. */
export async function stretchesFrom(read: RunReader, run: string, common: BundleRef): Promise<Stretch[]> {
  const way: { readonly run: string; readonly left: number | null }[] = [{ run, left: null }];
  for (let at = run; at !== common.run;) {
    const parent = await read.parent(at);
    if (parent === null) throw new RangeError(`run ${run} does not come from run ${common.run}`);
    way.unshift({ run: parent.run, left: parent.seq });
    at = parent.run;
  }
  return Promise.all(
    way.map(async (step, i) => ({
      run: step.run,
      first: i === 0 ? await firstOn(read, common) : 1,
      last: step.left === null ? await read.transitions(step.run) : (await firstOn(read, { run: step.run, seq: step.left })) - 1,
    })),
  );
}

/** How many attempts the stretches hold. */
export const lengthOf = (stretches: readonly Stretch[]): number =>
  stretches.reduce((sum, { first, last }) => sum + Math.max(0, last - first + 1), 0);

/** Attempts `from` .. `from + count - 1` after the common bundle, as far as there are any. */
export async function attemptsOf(read: RunReader, stretches: readonly Stretch[], from: number, count: number): Promise<Attempt[]> {
  const found: Attempt[] = [];
  let skip = from;
  for (const { run, first, last } of stretches) {
    const size = Math.max(0, last - first + 1);
    if (skip >= size) {
      skip -= size;
      continue;
    }
    for (let after = first + skip - 1; found.length < count && after < last;) {
      const rows = await read.page(run, after, Math.min(pageLimit, count - found.length, last - after));
      if (rows.length === 0) break;
      found.push(...rows.map((row) => ({ run, row })));
      after = rows.at(-1)?.n ?? last;
    }
    skip = 0;
    if (found.length >= count) break;
  }
  return found;
}

/** A step of the head's potential: from attempt `index` on (0 = right after the common bundle) it is `potential`. */
export type Step = { readonly index: number; readonly potential: number };

/** The staircase of the head from the common bundle on. */
async function staircaseOf(read: RunReader, stretches: readonly Stretch[], start: number): Promise<Step[]> {
  const steps: Step[] = [{ index: 0, potential: start }];
  let offset = 0;
  for (const { run, first, last } of stretches) {
    const { count, m, transition, ranks } = await read.chain(run);
    for (let seq = 0; seq < count; seq++) {
      const n = transition[seq] ?? -1;
      if (n < first || n > last) continue;
      let potential = 0;
      for (let i = 0; i < m; i++) potential += ranks[seq * m + i] ?? 0;
      steps.push({ index: offset + n - first + 1, potential });
    }
    offset += Math.max(0, last - first + 1);
  }
  return steps;
}

/** Where the list of a comparison begins and how much of it is shown: a few alike attempts, then what differs. */
const context = 3;
export const shownAttempts = 60;

/** Everything that a comparison shows. */
export type Comparison = {
  readonly from: number;
  readonly a: readonly Attempt[];
  readonly b: readonly Attempt[];
  readonly lengths: readonly [a: number, b: number];
  readonly stairs: readonly [a: readonly Step[], b: readonly Step[]];
};

/** Reads both sides around their first difference, or their ends when there is none. */
export async function compareRuns(
  read: RunReader,
  a: string,
  b: string,
  { common, first }: { readonly common: BundleRef; readonly first: RunDivergence['first'] },
  start: number,
): Promise<Comparison> {
  const [left, right] = await Promise.all([stretchesFrom(read, a, common), stretchesFrom(read, b, common)]);
  const lengths = [lengthOf(left), lengthOf(right)] as const;
  const at = first?.index ?? Math.max(...lengths);
  const from = Math.max(0, at - context);
  const [rowsA, rowsB, stairsA, stairsB] = await Promise.all([
    attemptsOf(read, left, from, shownAttempts),
    attemptsOf(read, right, from, shownAttempts),
    staircaseOf(read, left, start),
    staircaseOf(read, right, start),
  ]);
  return { from, a: rowsA, b: rowsB, lengths, stairs: [stairsA, stairsB] };
}
