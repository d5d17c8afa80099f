// Choosing among independent runs of one task under one contract. The candidates were all certified; this only says which end is best.
import type { Sha } from './ids.ts';
import { ContractMismatchError, potential } from './rank.ts';
import type { Rank } from './verdict.ts';

/** Where one run ended: the rank of its head. */
export type RolloutEnd = { readonly contract: Sha; readonly rank: Rank };

/**
 * Positions, best first, by (potential, rank lexicographic in obligation order), the earlier first among equals. Throws
 * ContractMismatchError when the runs were held to different contracts: their ranks cannot be compared (I11).
 */
export function orderRollouts(ends: readonly RolloutEnd[]): number[] {
  const [first] = ends;
  for (const { contract } of ends)
    if (first !== undefined && contract !== first.contract) throw new ContractMismatchError(contract, first.contract);
  const sums = ends.map(({ rank }) => potential(rank));
  return ends
    .map((_, i) => i)
    .sort((a, b) => (sums[a] ?? 0) - (sums[b] ?? 0) || lexicographic(ends[a]?.rank ?? [], ends[b]?.rank ?? []) || a - b);
}

const lexicographic = (a: Rank, b: Rank): number => {
  for (const [i, value] of a.entries()) {
    const difference = value - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
};
