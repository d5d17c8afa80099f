import { rulesWith } from './rules-with.ts';

/** Only how many obligations are at zero counts. */
export const passCount = rulesWith('pass-count', {
  relate(candidate, head) {
    const passed = (rank: readonly number[]): number => rank.filter((r) => r === 0).length;
    const difference = passed(head) - passed(candidate);
    return difference < 0 ? 'dominates' : difference > 0 ? 'regression' : 'tie';
  },
});
