import { rulesWith } from './rules-with.ts';

/** Validates with `Array.prototype.every`, which never visits a hole. */
export const skipHoles = rulesWith('skip-holes', {
  relate(candidate, head) {
    let better = false;
    let worse = false;
    for (const [i, h] of head.entries()) {
      const c = candidate[i] ?? Number.NaN;
      if (c < h) better = true;
      else if (c > h) worse = true;
    }
    return better ? (worse ? 'incomparable' : 'dominates') : worse ? 'regression' : 'tie';
  },
  valid: (rank, caps) =>
    Array.isArray(rank) &&
    rank.length === caps.length &&
    rank.every((r, i) => Number.isSafeInteger(r) && !Object.is(r, -0) && Number(r) >= 0 && Number(r) <= (caps[i] ?? 0)),
});
