// Which of several candidates that dominate the head is tried first. Semantics, section 5, step 5. Imports no memory, features or prompts.
import type { Sha } from './ids.ts';
import { potential } from './rank.ts';
import type { Rank } from './verdict.ts';

export interface Selectable {
  readonly rank: Rank;
  readonly tree: Sha;
}

const compare = (a: Selectable & { readonly sum: number }, b: Selectable & { readonly sum: number }): number => {
  if (a.sum !== b.sum) return a.sum - b.sum;
  for (const [i, x] of a.rank.entries()) {
    const y = b.rank[i] ?? Number.NaN;
    if (x !== y) return x - y;
  }
  return a.tree < b.tree ? -1 : 1;
};

/**
 * The candidates, best first: by potential, then by rank lexicographically in obligation order, then by tree hash. The order is total, so
 * the result does not depend on the order of the input. A candidate with the smallest potential is Pareto-minimal among all of them.
 * Throws when two candidates share a tree or when ranks differ in length.
 */
export function selectionOrder<T extends Selectable>(candidates: readonly T[]): T[] {
  const length = candidates[0]?.rank.length ?? 0;
  const trees = new Set<Sha>();
  for (const c of candidates) {
    if (trees.has(c.tree))
      throw new Error(`two candidates have the tree ${c.tree}: the later one is a duplicate and takes no part in the selection`);
    trees.add(c.tree);
    if (c.rank.length !== length)
      throw new RangeError(`candidates with ranks of ${length} and ${c.rank.length} coordinates cannot be ordered`);
  }
  return candidates
    .map((candidate) => ({ candidate, rank: candidate.rank, tree: candidate.tree, sum: potential(candidate.rank) }))
    .sort(compare)
    .map(({ candidate }) => candidate);
}
