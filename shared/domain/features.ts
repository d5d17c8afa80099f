// Evidence features of one attempt against the head it was tried on: facts for a proposer, without authority. Semantics, section 6.
import { potential } from './rank.ts';
import type { Features } from './memory.ts';
import type { Outcome } from './transition.ts';
import type { Rank, Verdict } from './verdict.ts';

const sixDecimals = (x: number): number => Math.round(1e6 * x) / 1e6;

/** x / (1 + x), rounded to 6 decimals: maps counts of any size into [0, 1] and keeps their order. */
export function compress(x: number): number {
  return sixDecimals(x / (1 + x));
}

/**
 * Pure and bounded: a function of the head's rank before any swap, the verdict (null for a duplicate or an aborted slot) and the outcome
 * (I12). Without a ranked verdict the "after" fields are null. Throws when a ranked verdict differs from the head in length.
 */
export function features(headRank: Rank, verdict: Verdict | null, outcome: Outcome): Features {
  const m = headRank.length;
  const sumBefore = potential(headRank);
  const base = {
    verdictKind: verdict?.kind ?? ('no_verdict' as const),
    m,
    sumBefore,
    sumBeforeCompressed: compress(sumBefore),
    committed: outcome === 'commit',
    zeroBefore: sumBefore === 0,
    outcome,
  };
  if (verdict?.kind !== 'ranked') {
    return {
      ...base,
      hasVerdict: false,
      sumAfter: null,
      sumAfterCompressed: null,
      improved: null,
      worsened: null,
      tied: null,
      improvedRatio: null,
      worsenedRatio: null,
      tiedRatio: null,
      zeroAfter: null,
    };
  }
  const after = verdict.rank;
  if (after.length !== m) throw new RangeError(`features: the verdict has ${after.length} coordinates, the head ${m}`);
  let improved = 0;
  let worsened = 0;
  for (const [i, a] of after.entries()) {
    const b = headRank[i] ?? Number.NaN;
    if (a < b) improved++;
    else if (a > b) worsened++;
  }
  const tied = m - improved - worsened;
  const sumAfter = potential(after);
  return {
    ...base,
    hasVerdict: true,
    sumAfter,
    sumAfterCompressed: compress(sumAfter),
    improved,
    worsened,
    tied,
    improvedRatio: sixDecimals(improved / m),
    worsenedRatio: sixDecimals(worsened / m),
    tiedRatio: sixDecimals(tied / m),
    zeroAfter: sumAfter === 0,
  };
}
