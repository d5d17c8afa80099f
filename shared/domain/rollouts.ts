// Choosing among independent runs of one task under one contract. The candidates were all certified; this only says which end is best.
import { compareUtf8 } from '../lib/text.ts';
import { compareScores, type FinalistScore } from './crosscheck.ts';
import type { Sha } from './ids.ts';
import { ContractMismatchError, potential } from './rank.ts';
import type { Rank } from './verdict.ts';

/** Where one run ended: the rank and the tree of its head. */
export type RolloutEnd = { readonly contract: Sha; readonly rank: Rank; readonly tree: Sha };

/** What put the first before the second. `only`: there was one. */
export type DecidedBy = 'only' | 'potential' | 'rank' | 'crosscheck' | 'tree' | 'order';

export type RolloutOrder = {
  /** Positions, best first. */
  readonly order: readonly number[];
  /** null without any. */
  readonly decidedBy: DecidedBy | null;
};

/**
 * Best first: by potential, by rank lexicographic in obligation order, by what the cross-check of the finalists said (`scores`, by tree;
 * null without one), by tree hash, and the earlier first among equals. Throws ContractMismatchError when the runs were held to different
 * contracts: their ranks cannot be compared (I11).
 */
export function orderRollouts(ends: readonly RolloutEnd[], scores: ReadonlyMap<Sha, FinalistScore> | null): RolloutOrder {
  const [head] = ends;
  for (const { contract } of ends)
    if (head !== undefined && contract !== head.contract) throw new ContractMismatchError(contract, head.contract);
  const all = ends.map((end, at) => ({ ...end, at, sum: potential(end.rank) }));
  type One = (typeof all)[number];
  const score = ({ tree }: One): FinalistScore => scores?.get(tree) ?? (scores === null ? equal : leftOut);
  const rules: readonly (readonly [by: DecidedBy, compare: (a: One, b: One) => number])[] = [
    ['potential', (a, b) => a.sum - b.sum],
    ['rank', (a, b) => lexicographic(a.rank, b.rank)],
    ['crosscheck', (a, b) => compareScores(score(a), score(b))],
    ['tree', (a, b) => compareUtf8(a.tree, b.tree)],
    ['order', (a, b) => a.at - b.at],
  ];
  const rule = (a: One, b: One) => rules.find(([, compare]) => compare(a, b) !== 0);
  all.sort((a, b) => rule(a, b)?.[1](a, b) ?? 0);
  const [first, second] = all;
  const decidedBy = first === undefined ? null : second === undefined ? 'only' : (rule(first, second)?.[0] ?? 'order');
  return { order: all.map(({ at }) => at), decidedBy };
}

const equal: FinalistScore = { failedAuthors: 0, failedTests: 0, ofTests: 0 };
// A finalist beyond those that are cross-checked comes after them.
const leftOut: FinalistScore = { ...equal, failedAuthors: Number.MAX_SAFE_INTEGER };

/** Positions of the runs that nothing but a cross-check could tell apart from the best: equal in potential and rank. In the order given. */
export function finalistsOf(ends: readonly RolloutEnd[]): number[] {
  const best = ends[orderRollouts(ends, null).order[0] ?? -1];
  if (best === undefined) return [];
  return ends.flatMap(({ rank }, i) => (lexicographic(rank, best.rank) === 0 ? [i] : []));
}

const lexicographic = (a: Rank, b: Rank): number => {
  for (const [i, value] of a.entries()) {
    const difference = value - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
};
