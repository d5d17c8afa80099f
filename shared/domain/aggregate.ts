// Several measurements of one tree as one verdict. Semantics, section 4: `worst` is the largest value of a coordinate, `median` its median;
// a coordinate that is to be stable (`worst`) and takes two values makes the whole verdict unstable. No memory, features or prompts (I13).
import { ensure } from '../lib/assert.ts';
import type { Contract } from './contract.ts';
import type { Obligation } from './obligation.ts';
import { validateRank } from './rank.ts';
import type { Rank, RunRef, Verdict } from './verdict.ts';

type Aggregated = Pick<Obligation, 'aggregate'>;
type Ranked = Extract<Verdict, { kind: 'ranked' }>;

/** What of a contract says how its measurements are put together. */
export type MeasuredContract = Pick<Contract, 'obligations' | 'advisory'>;

/** An obligation whose value differed from one measurement to the next. */
export interface UnstableObligation {
  readonly key: string;
  readonly title: string;
  /** In the order of the measurements. */
  readonly values: readonly number[];
}

const column = (ranks: readonly Rank[], i: number): number[] => ranks.map((rank) => ensure(rank[i], `coordinate ${i} of a rank`));

/** The middle value; of an even number of them the larger of the two in the middle, which is the one that promises less. */
const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return ensure(sorted[Math.floor(sorted.length / 2)], 'median of no values');
};

/**
 * One rank of several measurements: per coordinate the largest value, or the (upper) median where the obligation says so. The ranks have
 * passed `validateRank`. Throws RangeError without a rank, or when one does not fit the obligations.
 */
export function aggregateRuns(obligations: readonly Aggregated[], ranks: readonly Rank[]): Rank {
  if (ranks.length === 0) throw new RangeError('no measurements to aggregate');
  for (const { length } of ranks) {
    if (length !== obligations.length) throw new RangeError(`a rank has ${length} coordinates, the contract ${obligations.length}`);
  }
  return obligations.map(({ aggregate }, i) => {
    const values = column(ranks, i);
    return aggregate === 'median' ? median(values) : values.reduce((a, b) => Math.max(a, b));
  });
}

/** The obligations that have to be stable (`aggregate` is not `median`) and took more than one value, in coordinate order. */
export function unstableObligations(
  obligations: readonly Pick<Obligation, 'key' | 'title' | 'aggregate'>[],
  ranks: readonly Rank[],
): UnstableObligation[] {
  return obligations.flatMap(({ key, title, aggregate }, i) => {
    const values = column(ranks, i);
    return aggregate === 'median' || new Set(values).size < 2 ? [] : [{ key, title, values }];
  });
}

/** The executions behind a verdict. */
export const runsOf = (verdict: Verdict): readonly RunRef[] => (verdict.kind === 'invalid' ? [] : verdict.runs);

/** A verdict as the decision may use it: a ranked one whose rank is malformed is `no_verdict/malformed`. */
export function checkedVerdict(verdict: Verdict, obligations: readonly Pick<Obligation, 'cap' | 'key'>[]): Verdict {
  if (verdict.kind !== 'ranked') return verdict;
  const rank = validateRank(verdict.rank, obligations);
  return rank.ok ? { ...verdict, rank: rank.value } : { kind: 'no_verdict', code: 'malformed', message: rank.error, runs: verdict.runs };
}

/**
 * The verdict of several measurements in their order, one of which is itself. The first that is no well-formed rank stands for all of them;
 * else the aggregate, `stable` unless an obligation that has to be stable took two values. An advisory value is the worst that was seen; a
 * detail is that of the first measurement that found the aggregate. The runs of all measurements are named. Throws RangeError without any.
 */
export function aggregateVerdicts({ obligations, advisory }: MeasuredContract, verdicts: readonly Verdict[]): Verdict {
  const checked = verdicts.map((verdict) => checkedVerdict(verdict, obligations));
  const runs = verdicts.flatMap(runsOf);
  const ranked: Ranked[] = [];
  for (const verdict of checked) {
    if (verdict.kind === 'invalid') return verdict;
    if (verdict.kind === 'no_verdict') return { ...verdict, runs };
    ranked.push(verdict);
  }
  const [first] = ranked;
  if (first === undefined) throw new RangeError('no measurements to aggregate');
  if (ranked.length === 1) return first;
  const ranks = ranked.map(({ rank }) => rank);
  const rank = aggregateRuns(obligations, ranks);
  const details: Record<string, string> = {};
  for (const { key } of advisory) addDetail(details, key, first);
  for (const [i, { key }] of obligations.entries()) addDetail(details, key, ranked.find((v) => v.rank[i] === rank[i]) ?? first);
  const worst: Record<string, number> = {};
  for (const { key, better } of advisory) {
    const values = ranked.flatMap((v) => (Object.hasOwn(v.advisory, key) ? [ensure(v.advisory[key], key)] : []));
    if (values.length > 0) worst[key] = values.reduce((a, b) => (better === 'lower' ? Math.max(a, b) : Math.min(a, b)));
  }
  const stable = ranked.every((v) => v.stable) && unstableObligations(obligations, ranks).length === 0;
  return { kind: 'ranked', rank, runs, stable, advisory: worst, details };
}

function addDetail(details: Record<string, string>, key: string, { details: from }: Ranked): void {
  const text = Object.hasOwn(from, key) ? from[key] : undefined;
  if (text !== undefined) details[key] = text;
}
