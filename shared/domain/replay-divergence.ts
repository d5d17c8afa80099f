// Where two runs that come from one certified bundle begin to differ.
import type { Sha } from './ids.ts';
import { sameJson } from './replay.ts';
import type { Outcome } from './transition.ts';
import type { Rank } from './verdict.ts';

/** An attempt as the comparison sees it. Draw numbers count from 1 in every run, so they say nothing across runs; what was drawn is the tree. */
export interface ComparedAttempt {
  readonly n: number;
  readonly tree: Sha | null;
  readonly outcome: Outcome;
  readonly rank: Rank | null;
}

export interface Divergence<T extends ComparedAttempt> {
  /** Attempts after the common bundle that are alike, so the index (from 0) of the first that is not. */
  readonly index: number;
  /** null: this side ends here. */
  readonly a: T | null;
  readonly b: T | null;
  readonly fields: readonly ('tree' | 'outcome' | 'rank')[];
}

/**
 * The first attempt after the common bundle in which the two sides differ, in tree, outcome or rank, or where one goes on and the other
 * ends; null when they are alike to their common end. Reads no further than that.
 */
export async function firstDivergence<T extends ComparedAttempt>(a: AsyncIterator<T>, b: AsyncIterator<T>): Promise<Divergence<T> | null> {
  for (let index = 0; ; index++) {
    const [left, right] = await Promise.all([a.next(), b.next()]);
    if (left.done === true && right.done === true) return null;
    if (left.done === true || right.done === true) {
      return { index, a: left.done === true ? null : left.value, b: right.done === true ? null : right.value, fields: [] };
    }
    const fields = (['tree', 'outcome', 'rank'] as const).filter((field) => !sameJson(left.value[field], right.value[field]));
    if (fields.length > 0) return { index, a: left.value, b: right.value, fields };
  }
}
