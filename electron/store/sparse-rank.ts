// A verdict's rank as it is stored: the difference to the genesis rank of its era, a flat JSON array of (coordinate, difference) pairs.
// Most candidates change few of many obligations. Semantics, section 10.
import type { Rank } from '#shared/domain/verdict.ts';
import { StoreError } from './errors.ts';

/** Throws a StoreError when the ranks differ in length. */
export function encodeRank(rank: Rank, genesis: Rank): string {
  if (rank.length !== genesis.length)
    throw new StoreError('constraint', `a rank of ${rank.length} coordinates under a contract of ${genesis.length}`);
  const pairs: number[] = [];
  for (const [i, g] of genesis.entries()) {
    const d = (rank[i] ?? Number.NaN) - g;
    if (d !== 0) pairs.push(i, d);
  }
  return JSON.stringify(pairs);
}

const damaged = (text: string): never => {
  throw new StoreError('corrupt', `a stored rank is damaged: ${text.slice(0, 80)}`);
};

/** The (coordinate, difference) pairs, flat and in order of the coordinate. Throws a StoreError on anything else. */
export function parsePairs(text: string): number[] {
  let pairs: unknown;
  try {
    pairs = JSON.parse(text);
  } catch {
    return damaged(text);
  }
  if (!Array.isArray(pairs) || pairs.length % 2 !== 0 || !pairs.every((x): x is number => Number.isSafeInteger(x))) return damaged(text);
  return pairs;
}

/** Restores the rank. Throws a StoreError when a coordinate does not exist. */
export function decodeRank(text: string, genesis: Rank): Rank {
  const pairs = parsePairs(text);
  const rank = [...genesis];
  for (let i = 0; i < pairs.length; i += 2) {
    const at = pairs[i] ?? -1;
    const old = rank[at];
    if (old === undefined) return damaged(text);
    rank[at] = old + (pairs[i + 1] ?? 0);
  }
  return rank;
}
