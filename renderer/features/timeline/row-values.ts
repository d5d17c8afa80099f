// What stands beside each row of the matrix: the values of the selected transition, against the bundle it was tried on.
import type { RunData } from '#renderer/state/run-data.ts';
import { outcomes } from '#shared/domain/transition.ts';
import { decided } from './summary.ts';

/** `before` is the base of the selected transition, `after` its candidate; null where it has no rank that counts. Values by index of the obligation. */
export type RowValues = {
  readonly selected: number;
  readonly before: Int32Array;
  readonly after: Int32Array | null;
  readonly head: Int32Array | null;
};

/** The values of transition n; null while nothing is certified or n is not loaded. With n = 0, those of the head. */
export function rowValues(data: RunData, n: number, head: Int32Array | null): RowValues | null {
  if (head === null) return null;
  if (n < 1) return { selected: 0, before: head, after: null, head };
  const code = data.outcome(n);
  if (code >= outcomes.length) return null;
  return { selected: n, before: data.baseRank(n), after: decided.has(code) ? data.rank(n) : null, head };
}
