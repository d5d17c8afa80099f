// Why an attempt got its outcome, as facts. The words are made in the renderer's dictionaries and in the command line.
import type { Obligation } from './obligation.ts';
import { potential, relate, type Relation } from './rank.ts';
import type { Outcome } from './transition.ts';
import type { Rank } from './verdict.ts';

export interface ObligationChange {
  readonly key: string;
  readonly title: string;
  readonly before: number;
  readonly after: number;
}

export interface OutcomeReason {
  readonly outcome: Outcome;
  /** null without a rank of the candidate; so are the counts below it. */
  readonly relation: Relation | null;
  /** In coordinate order. */
  readonly improved: readonly ObligationChange[];
  readonly worsened: readonly ObligationChange[];
  readonly unchanged: number | null;
  /** Obligations at 0 in the candidate. */
  readonly zero: number | null;
  readonly potentialBefore: number;
  readonly potentialAfter: number | null;
}

export interface OutcomeFacts {
  /** In coordinate order. */
  readonly obligations: readonly Pick<Obligation, 'key' | 'title'>[];
  /** Rank of the attempt's own base. */
  readonly before: Rank;
  /** The candidate's rank; null without a ranked verdict. */
  readonly after: Rank | null;
  readonly outcome: Outcome;
}

/** What changed obligation by obligation, against the attempt's own base. Throws when a rank does not fit the obligations. */
export function explainOutcome({ obligations, before, after, outcome }: OutcomeFacts): OutcomeReason {
  if (before.length !== obligations.length)
    throw new RangeError(`the base has ${before.length} coordinates, the contract ${obligations.length}`);
  const potentialBefore = potential(before);
  if (after === null) {
    return { outcome, relation: null, improved: [], worsened: [], unchanged: null, zero: null, potentialBefore, potentialAfter: null };
  }
  const relation = relate(after, before);
  const improved: ObligationChange[] = [];
  const worsened: ObligationChange[] = [];
  let zero = 0;
  for (const [i, { key, title }] of obligations.entries()) {
    const b = before[i] ?? Number.NaN;
    const a = after[i] ?? Number.NaN;
    if (a === 0) zero++;
    if (a < b) improved.push({ key, title, before: b, after: a });
    else if (a > b) worsened.push({ key, title, before: b, after: a });
  }
  const unchanged = obligations.length - improved.length - worsened.length;
  return { outcome, relation, improved, worsened, unchanged, zero, potentialBefore, potentialAfter: potential(after) };
}
