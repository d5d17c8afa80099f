import { rulesWith } from './rules-with.ts';

/** Only the worst obligation counts. */
export const maxOnly = rulesWith('max-only', {
  relate(candidate, head) {
    const difference = Math.max(...candidate) - Math.max(...head);
    return difference < 0 ? 'dominates' : difference > 0 ? 'regression' : 'tie';
  },
});
