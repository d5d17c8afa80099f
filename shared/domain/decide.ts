// The decision of one round, as a pure function of the head and the verdicts. Semantics, sections 2 to 5 and 11. No model output, memory,
// feature or prompt can reach it: this file and what it imports must not import them (I13, checked by a test).
//
// A round is decided in two steps, because a would-be commit may have to be confirmed by more verifier runs (section 4): `decideRound`
// says which slots are settled and in which order the others contend; the engine confirms contenders in that order until one holds;
// `finishRound` turns that into one outcome per slot. With one confirmation run and no cached verdict, the first contender wins as it is.
import { assertNever, ensure } from '../lib/assert.ts';
import type { Sha } from './ids.ts';
import { type Coordinate, relateUnder, type Relation, validateRank } from './rank.ts';
import { selectionOrder } from './select.ts';
import type { Outcome, VerdictSource } from './transition.ts';
import type { Rank, Verdict } from './verdict.ts';

export interface RoundHead {
  readonly id: Sha;
  readonly contract: Sha;
  readonly rank: Rank;
  readonly tree: Sha;
}

/** One attempt of the round, after parsing and verification. */
export interface SlotInput {
  readonly slot: number;
  /** null: nothing that could be materialised came out of the response. */
  readonly tree: Sha | null;
  /** The contract that `verdict` was measured under; the head's, or comparing is an error. */
  readonly contract: Sha;
  /** null only for a duplicate or an aborted slot. */
  readonly verdict: Verdict | null;
  readonly verdictSource: VerdictSource;
  /** Number n of the earlier transition with the same tree, 0 for the head's own tree, null for a tree not seen in this round. */
  readonly duplicateOf: number | null;
  readonly aborted: boolean;
}

export interface RoundInput {
  readonly head: RoundHead;
  /** The contract's obligations in coordinate order; every rank is checked against their caps again here. */
  readonly obligations: readonly Coordinate[];
  /** In any order; slot numbers are unique. */
  readonly slots: readonly SlotInput[];
}

/** An outcome that needs no confirmation. */
export type SettledOutcome = Exclude<Outcome, 'commit' | 'not_selected'>;

export interface DecidedSlot extends SlotInput {
  /** null without a ranked verdict, and for duplicates and aborted slots. */
  readonly relation: Relation | null;
  /** null: the slot dominates the head and contends. */
  readonly settled: SettledOutcome | null;
}

export interface RoundDecision {
  readonly head: RoundHead;
  readonly obligations: readonly Coordinate[];
  /** In slot order. `verdict` is the effective one: a ranked verdict with a malformed rank stands here as `no_verdict/malformed`. */
  readonly slots: readonly DecidedSlot[];
  /** Slot numbers of all candidates that dominate the head, best first (`selectionOrder`): the order in which to confirm them. */
  readonly contenders: readonly number[];
}

/** What confirming one contender came to. */
export interface Confirmation {
  readonly slot: number;
  readonly contract: Sha;
  /** The aggregate of all runs, measured afresh. */
  readonly verdict: Verdict;
  /** The runs disagreed, or the paired check against the base failed: refused although the aggregate may still dominate. */
  readonly unstable: boolean;
}

export interface FinalSlot extends SlotInput {
  readonly relation: Relation | null;
  readonly outcome: Outcome;
}

export interface FinishedRound {
  readonly head: RoundHead;
  /** The slot that commits; its `verdict` certifies the new bundle. */
  readonly winner: number | null;
  /** In slot order, exactly one outcome each, `commit` for the winner only. */
  readonly slots: readonly FinalSlot[];
}

/** The records given to the decision contradict each other: a mistake of the caller or a forged record, never an outcome. */
export class DecisionInputError extends Error {
  override readonly name = 'DecisionInputError';
}

const effective = (verdict: Verdict, obligations: readonly Coordinate[]): Verdict => {
  if (verdict.kind !== 'ranked') return verdict;
  const rank = validateRank(verdict.rank, obligations);
  return rank.ok ? { ...verdict, rank: rank.value } : { kind: 'no_verdict', code: 'malformed', message: rank.error, runs: verdict.runs };
};

interface Judged {
  readonly verdict: Verdict;
  readonly relation: Relation | null;
  readonly settled: SettledOutcome | null;
}

const judge = (given: Verdict, contract: Sha, head: RoundHead, obligations: readonly Coordinate[]): Judged => {
  const verdict = effective(given, obligations);
  switch (verdict.kind) {
    case 'invalid':
      return { verdict, relation: null, settled: 'invalid' };
    case 'no_verdict':
      // The run was ended by a stop: that says nothing about the verifier, so it is not a missing verdict.
      return { verdict, relation: null, settled: verdict.code === 'aborted' ? 'aborted' : 'no_verdict' };
    case 'ranked': {
      const relation = relateUnder({ contract, rank: verdict.rank }, head);
      if (!verdict.stable) return { verdict, relation, settled: 'unstable' };
      return { verdict, relation, settled: relation === 'dominates' ? null : relation };
    }
    default:
      return assertNever(verdict, 'verdict');
  }
};

// Slots that contradict their own flags would let one tree be judged twice or a silent slot pass unseen.
const checkSlots = (head: RoundHead, slots: readonly SlotInput[]): void => {
  const seen = new Set<number>();
  const trees = new Map<Sha, number>();
  for (const s of slots) {
    if (seen.has(s.slot)) throw new DecisionInputError(`slot ${s.slot} is given twice`);
    seen.add(s.slot);
    if (s.aborted) continue;
    if (s.duplicateOf !== null) {
      if (s.tree === null) throw new DecisionInputError(`slot ${s.slot} is a duplicate without a tree`);
      if ((s.duplicateOf === 0) !== (s.tree === head.tree))
        throw new DecisionInputError(`slot ${s.slot}: duplicateOf is 0 if and only if the tree is the head's`);
      continue;
    }
    if (s.verdict === null) throw new DecisionInputError(`slot ${s.slot} has no verdict and is neither a duplicate nor aborted`);
    if (s.tree === null) {
      if (s.verdict.kind === 'ranked') throw new DecisionInputError(`slot ${s.slot} has a rank but no tree`);
      continue;
    }
    if (s.tree === head.tree) throw new DecisionInputError(`slot ${s.slot} has the head's tree but is not marked as a duplicate of it`);
    const earlier = trees.get(s.tree);
    if (earlier !== undefined)
      throw new DecisionInputError(`slot ${s.slot} has the tree of slot ${earlier} but is not marked as its duplicate`);
    trees.set(s.tree, s.slot);
  }
};

/**
 * The first step: what every slot came to against the head, and the order in which the dominating ones contend. Pure; the order in which
 * slots are given does not matter. A ranked verdict whose rank fails `validateRank` counts as `no_verdict/malformed`; one whose runs
 * disagreed is `unstable` whatever its aggregate. Throws DecisionInputError for contradictory slots, ContractMismatchError for a verdict of
 * another contract, and Error for a malformed head rank.
 */
export function decideRound(input: RoundInput): RoundDecision {
  const { head, obligations } = input;
  const headRank = validateRank(head.rank, obligations);
  if (!headRank.ok) throw new DecisionInputError(`the head's rank is malformed: ${headRank.error}`);
  const ordered = [...input.slots].sort((a, b) => a.slot - b.slot);
  checkSlots(head, ordered);
  const slots = ordered.map((s): DecidedSlot => {
    if (s.aborted) return { ...s, relation: null, settled: 'aborted' };
    if (s.duplicateOf !== null) return { ...s, relation: null, settled: 'duplicate' };
    return { ...s, ...judge(ensure(s.verdict, `verdict of slot ${s.slot}`), s.contract, head, obligations) };
  });
  const contenders = selectionOrder(
    slots.flatMap((s) =>
      s.settled === null && s.verdict?.kind === 'ranked' && s.tree !== null ? [{ slot: s.slot, rank: s.verdict.rank, tree: s.tree }] : [],
    ),
  ).map((c) => c.slot);
  return { head, obligations, slots, contenders };
}

/**
 * The second step: the outcome of every slot. `winner` is the first contender that held; `confirmations` say what measuring again came to,
 * at least one for each contender before the winner (for every contender if nothing won), and for a winner whose verdict came from the
 * cache, since a cached verdict may reject and never commit. Contenders behind the winner are `not_selected`.
 * Throws DecisionInputError when a better contender was passed over, the winner does not dominate, or a confirmation belongs to no
 * contender that was tried.
 */
export function finishRound(decision: RoundDecision, winner: number | null, confirmations: readonly Confirmation[]): FinishedRound {
  const { head, obligations, contenders } = decision;
  const position = winner === null ? contenders.length : contenders.indexOf(winner);
  if (position < 0) throw new DecisionInputError(`slot ${winner} does not contend and cannot win`);
  const given = new Map<number, Confirmation>();
  for (const c of confirmations) {
    const at = contenders.indexOf(c.slot);
    if (at < 0 || at > position) throw new DecisionInputError(`slot ${c.slot} was confirmed but never tried`);
    if (given.has(c.slot)) throw new DecisionInputError(`slot ${c.slot} was confirmed twice`);
    given.set(c.slot, c);
  }
  const slots = decision.slots.map((s): FinalSlot => {
    const { settled, ...slot } = s;
    if (settled !== null) return { ...slot, outcome: settled };
    const at = contenders.indexOf(s.slot);
    if (at > position) return { ...slot, outcome: 'not_selected' };
    const confirmation = given.get(s.slot);
    if (confirmation === undefined) {
      if (at < position) throw new DecisionInputError(`slot ${s.slot} ranks before the winner and was not confirmed`);
      if (s.verdictSource !== 'fresh')
        throw new DecisionInputError(`slot ${s.slot} would commit from the cache; it has to be measured afresh`);
      return { ...slot, outcome: 'commit' };
    }
    const judged = judge(confirmation.verdict, confirmation.contract, head, obligations);
    const result = confirmation.unstable && judged.verdict.kind === 'ranked' ? 'unstable' : judged.settled;
    const measured = { ...slot, verdict: judged.verdict, verdictSource: 'fresh' as const, relation: judged.relation };
    if (at === position) {
      if (result !== null) throw new DecisionInputError(`slot ${s.slot} was named the winner, but its confirmation is ${result}`);
      return { ...measured, outcome: 'commit' };
    }
    if (result === null)
      throw new DecisionInputError(
        `slot ${s.slot} held its confirmation and ranks before ${winner === null ? 'nothing' : `slot ${winner}`}`,
      );
    return { ...measured, outcome: result };
  });
  return { head, winner, slots };
}
