import { rulesWith } from './rules-with.ts';

/** The order of obligations is a priority: the first coordinate that differs decides. */
export const lexicographic = rulesWith('lexicographic', {
  relate(candidate, head) {
    for (const [i, c] of candidate.entries()) {
      const h = head[i] ?? Number.NaN;
      if (c !== h) return c < h ? 'dominates' : 'regression';
    }
    return 'tie';
  },
});
