// Why a transition became what it became: the facts, from the columns alone.
import { outcomes, type Outcome } from '#shared/domain/transition.ts';
import type { RunData } from './run-data.ts';
import { winnerOfRound } from './steps.ts';

export type ObligationRow = {
  readonly i: number;
  readonly name: string;
  readonly title: string;
  readonly before: number;
  readonly after: number;
};

/** What the columns say about one transition: available in the frame in which it is selected. */
export type Reason = {
  readonly n: number;
  readonly outcome: Outcome;
  readonly better: readonly ObligationRow[];
  readonly worse: readonly ObligationRow[];
  readonly unchanged: number;
  /** How many of the unchanged are at zero. */
  readonly zero: number;
  /** Sums of base and candidate; `after` is null without a rank. */
  readonly potential: { readonly before: number; readonly after: number | null };
  readonly ranked: boolean;
  readonly duplicateOf: number;
  readonly winner: number | null;
};

/** null while the columns of `n` are not loaded. */
export function reasonOf(data: RunData, n: number): Reason | null {
  const outcome = outcomes[data.outcome(n)];
  if (outcome === undefined) return null;
  const base = data.baseRank(n);
  const rank = data.rank(n);
  const better: ObligationRow[] = [];
  const worse: ObligationRow[] = [];
  let unchanged = 0;
  let zero = 0;
  let before = 0;
  let after = 0;
  for (const [i, obligation] of data.obligations.entries()) {
    const from = base[i] ?? 0;
    const to = rank?.[i] ?? from;
    before += from;
    after += to;
    const row = { i, name: obligation.key, title: obligation.title, before: from, after: to };
    if (to < from) better.push(row);
    else if (to > from) worse.push(row);
    else {
      unchanged++;
      if (to === 0) zero++;
    }
  }
  return {
    n,
    outcome,
    better,
    worse,
    unchanged,
    zero,
    potential: { before, after: rank ? after : null },
    ranked: rank !== null,
    duplicateOf: data.duplicateOf(n),
    winner: outcome === 'not_selected' ? winnerOfRound(data, n) : null,
  };
}
