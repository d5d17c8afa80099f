// Where a key leads: pure functions from a run's columns and a position to another position. null = nothing in that direction.
// Modelled on a chess move list: the certified chain is the main line, the rejected attempts on a base are its variations.
import { outcomes } from '#shared/domain/transition.ts';
import { notLoaded, type RunData } from './run-data.ts';

export type Direction = 1 | -1;
export type Hidden = ReadonlySet<number>;

const commitCode = outcomes.indexOf('commit');
const nearKinds = new Set([outcomes.indexOf('incomparable'), outcomes.indexOf('not_selected'), outcomes.indexOf('unstable')]);

/** First position from `n` on (excluded) that `test` accepts; what is not loaded is stepped over. */
function find(data: RunData, n: number, direction: Direction, test: (n: number) => boolean): number | null {
  for (let at = n + direction; at >= 1 && at <= data.count; at += direction) if (test(at)) return at;
  return null;
}

const visible = (data: RunData, hidden: Hidden) => (n: number) => !hidden.has(data.outcome(n));

/** The next transition whose outcome is not hidden. */
export const step = (data: RunData, n: number, direction: Direction, hidden: Hidden): number | null =>
  find(data, n, direction, visible(data, hidden));

/** The first or last transition that is not hidden. */
export const end = (data: RunData, direction: Direction, hidden: Hidden): number | null =>
  direction === 1 ? find(data, data.count + 1, -1, visible(data, hidden)) : find(data, 0, 1, visible(data, hidden));

/** Number of bundles in the chain that were committed by transition `n` or earlier, genesis included. */
function bundlesUpTo(data: RunData, n: number): number {
  let low = 1;
  let high = data.chainLength;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (data.chainTransition(middle) <= n) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The next commit. Read from the chain, so it needs no rows. */
export function commitStep(data: RunData, n: number, direction: Direction): number | null {
  const seq = direction === 1 ? bundlesUpTo(data, n) : bundlesUpTo(data, n - 1) - 1;
  return seq >= 1 && seq < data.chainLength ? data.chainTransition(seq) : null;
}

/** Transitions tried on bundle `seq`: from the round after its commit to the round of the next one. null where there are none. */
export function variationsOf(data: RunData, seq: number): { readonly from: number; readonly to: number } | null {
  const search = (wanted: number): number => {
    // Bases never go back, so the first transition on a base of at least `wanted` is found by halving.
    let low = 1;
    let high = data.count + 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (data.baseSeq(middle) >= wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  const from = search(seq);
  const to = search(seq + 1) - 1;
  return from <= to ? { from, to } : null;
}

/** The place of a rejected transition among its siblings: its rank from 1 and their number, commits left out. null for a commit. */
export function variationPlace(data: RunData, n: number): { readonly index: number; readonly total: number } | null {
  if (data.outcome(n) === commitCode) return null;
  const range = variationsOf(data, data.baseSeq(n));
  if (!range) return null;
  const committed = data.chainTransition(data.baseSeq(n) + 1);
  const inside = committed >= range.from && committed <= range.to;
  return { index: n - range.from + 1 - (inside && committed < n ? 1 : 0), total: range.to - range.from + 1 - (inside ? 1 : 0) };
}

/** The commit that `n` was tried on; null on the seed. */
export function leaveVariation(data: RunData, n: number): number | null {
  const transition = data.chainTransition(data.baseSeq(n));
  return transition >= 1 ? transition : null;
}

/** The first transition tried on what `n` committed; null when `n` is no commit or nothing followed. */
export function enterVariations(data: RunData, n: number, hidden: Hidden): number | null {
  const seq = data.bundleSeq(n);
  const range = seq < 0 ? null : variationsOf(data, seq);
  if (!range) return null;
  const first = find(data, range.from - 1, 1, visible(data, hidden));
  return first !== null && first <= range.to ? first : null;
}

/** The next transition that changed obligation `i` against its own base. */
export const changeStep = (data: RunData, n: number, direction: Direction, i: number, hidden: Hidden): number | null =>
  find(data, n, direction, (at) => {
    const rank = data.rank(at);
    return rank !== null && rank[i] !== data.baseRank(at)[i] && !hidden.has(data.outcome(at));
  });

/** The next transition with the outcome of `n`. */
export function kindStep(data: RunData, n: number, direction: Direction): number | null {
  const kind = data.outcome(n);
  return kind === notLoaded ? null : find(data, n, direction, (at) => data.outcome(at) === kind);
}

/** The bundle where obligation `i` first had the value it has in the base of `n`. The chain never worsens, so it is found by halving. */
export function bisect(data: RunData, n: number, i: number): { readonly seq: number; readonly transition: number; readonly value: number } {
  const value = data.baseRank(n)[i] ?? 0;
  let low = 0;
  let high = data.baseSeq(n);
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((data.chainRank(middle)[i] ?? 0) <= value) high = middle;
    else low = middle + 1;
  }
  return { seq: low, transition: data.chainTransition(low), value };
}

export type NearMiss = { readonly n: number; readonly outcome: number; readonly better: number; readonly worse: number };
const nearWindow = 256;

/** Candidates on the same base that gained something and were not kept: fewest losses first, then most gains, then the closest in time. */
export function nearMisses(data: RunData, n: number, most: number): NearMiss[] {
  const range = variationsOf(data, data.baseSeq(n));
  if (!range) return [];
  const found: NearMiss[] = [];
  for (let at = Math.max(range.from, n - nearWindow); at <= Math.min(range.to, n + nearWindow); at++) {
    const rank = at === n || !nearKinds.has(data.outcome(at)) ? null : data.rank(at);
    if (!rank) continue;
    const base = data.baseRank(at);
    let better = 0;
    let worse = 0;
    for (const [i, value] of rank.entries()) {
      const before = base[i] ?? value;
      if (value < before) better++;
      else if (value > before) worse++;
    }
    if (better > 0) found.push({ n: at, outcome: data.outcome(at), better, worse });
  }
  found.sort((a, b) => a.worse - b.worse || b.better - a.better || Math.abs(a.n - n) - Math.abs(b.n - n));
  return found.slice(0, most);
}

/** The commit of the round of `n`; null when the round committed nothing. */
export function winnerOfRound(data: RunData, n: number): number | null {
  const round = data.round(n);
  for (const direction of [1, -1] as const) {
    for (let at = n; at >= 1 && at <= data.count && data.round(at) === round; at += direction)
      if (data.outcome(at) === commitCode) return at;
  }
  return null;
}
