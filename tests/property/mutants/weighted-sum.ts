import { rulesWith } from './rules-with.ts';

/** Progress is a smaller weighted sum: a large gain buys a loss. The first coordinate weighs most. */
export const weightedSum = rulesWith('weighted-sum', {
  relate(candidate, head) {
    const weigh = (rank: readonly number[]): number => rank.reduce((sum, r, i) => sum + r * (rank.length - i), 0);
    const difference = weigh(candidate) - weigh(head);
    return difference < 0 ? 'dominates' : difference > 0 ? 'regression' : 'tie';
  },
});
