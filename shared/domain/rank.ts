// The order that decides everything: ranks are compared coordinate by coordinate, smaller is better, and nothing is weighed against
// anything else. Semantics, section 2. This file imports no memory, features or prompts (I13).
import { assertNever } from '../lib/assert.ts';
import { err, ok, type Result } from '../lib/result.ts';
import type { Sha } from './ids.ts';
import type { Rank } from './verdict.ts';

/** How a candidate's rank stands to the head's: exclusive and exhaustive. */
export type Relation = 'dominates' | 'tie' | 'regression' | 'incomparable';

/** A rank together with the contract it was measured under. Ranks are comparable only under one contract (I11). */
export interface RankUnder {
  readonly contract: Sha;
  readonly rank: Rank;
}

/** What a coordinate may hold: `cap` is its worst value; `key`, where given, names it in messages. */
export interface Coordinate {
  readonly cap: number;
  readonly key?: string;
}

/** Ranks of two different contracts were compared: a mistake of the caller, never an answer. */
export class ContractMismatchError extends Error {
  override readonly name = 'ContractMismatchError';
  readonly candidate: Sha;
  readonly head: Sha;

  constructor(candidate: Sha, head: Sha) {
    super(`ranks of different contracts cannot be compared: candidate under ${candidate}, head under ${head}`);
    this.candidate = candidate;
    this.head = head;
  }
}

const show = (value: unknown): string => {
  if (Object.is(value, -0)) return '-0';
  return typeof value === 'number' || typeof value === 'boolean' || value === null ? String(value) : `a value of type ${typeof value}`;
};

/**
 * Checks a claimed rank against the contract's coordinates, all of them and before anything is compared: an array of exactly one safe
 * integer per obligation, 0 <= r_i <= cap_i. Returns a fresh dense copy, or a message that names the first coordinate (from 0) at fault.
 * Holes are found with Object.hasOwn because `Array.prototype.every` skips them and structured clone keeps them; -0 is refused because it
 * is not what any honest verifier counts and JSON would turn it into 0.
 */
export function validateRank(value: unknown, obligations: readonly Coordinate[]): Result<Rank, string> {
  if (!Array.isArray(value)) return err(`a rank is an array, this is ${show(value)}`);
  if (obligations.length === 0) return err('the contract has no obligations');
  if (value.length !== obligations.length) return err(`the rank has ${value.length} coordinates, the contract ${obligations.length}`);
  const rank: Rank = [];
  for (const [i, { cap, key }] of obligations.entries()) {
    const name = key === undefined ? `coordinate ${i}` : `coordinate ${i} (${key})`;
    if (!Object.hasOwn(value, i)) return err(`${name} is missing (a hole)`);
    const r: unknown = value[i];
    if (typeof r !== 'number' || !Number.isSafeInteger(r) || r < 0 || Object.is(r, -0))
      return err(`${name} is ${show(r)}, must be an integer from 0`);
    if (r > cap) return err(`${name} is ${r}, above its cap ${cap}`);
    rank.push(r);
  }
  return ok(rank);
}

/**
 * The product order: `dominates` (none worse, one better), `tie` (equal), `regression` (none better, one worse), `incomparable` (one better
 * and one worse). Both ranks must have passed `validateRank`. Throws when their lengths differ.
 */
export function relate(candidate: Rank, head: Rank): Relation {
  if (candidate.length !== head.length)
    throw new RangeError(`ranks of ${candidate.length} and ${head.length} coordinates cannot be compared`);
  let better = false;
  let worse = false;
  for (const [i, c] of candidate.entries()) {
    const h = head[i] ?? Number.NaN;
    if (c < h) better = true;
    else if (c > h) worse = true;
    // Neither smaller, greater nor equal: not a number, which validateRank would have refused.
    else if (c !== h) throw new RangeError(`coordinate ${i} is not comparable: candidate ${c}, head ${h}`);
    if (better && worse) return 'incomparable';
  }
  return better ? 'dominates' : worse ? 'regression' : 'tie';
}

/** `relate` for ranks that carry their contract; throws ContractMismatchError when the contracts differ. */
export function relateUnder(candidate: RankUnder, head: RankUnder): Relation {
  if (candidate.contract !== head.contract) throw new ContractMismatchError(candidate.contract, head.contract);
  return relate(candidate.rank, head.rank);
}

/** The relation seen from the other side: `relate(b, a) === mirror(relate(a, b))`. */
export function mirror(relation: Relation): Relation {
  switch (relation) {
    case 'dominates':
      return 'regression';
    case 'regression':
      return 'dominates';
    case 'tie':
    case 'incomparable':
      return relation;
    default:
      return assertNever(relation, 'relation');
  }
}

/** Sum of the rank. Every commit lowers it by at least 1. Throws when the sum is not a safe integer. */
export function potential(rank: Rank): number {
  let sum = 0;
  for (const r of rank) sum += r;
  if (!Number.isSafeInteger(sum) || sum < 0)
    throw new RangeError(`the potential of a rank of ${rank.length} coordinates is ${sum}, not a safe integer`);
  return sum;
}

/** Upper bound on the commits that can still follow a head with this rank; it bounds commits, not attempts. */
export function commitsLeftBound(rank: Rank): number {
  return potential(rank);
}
