import { relate } from '#shared/domain/rank.ts';
import { rulesWith } from './rules-with.ts';

/** "Not worse" is good enough: an equal rank commits. */
export const weakOrder = rulesWith('weak-order', {
  relate(candidate, head) {
    const relation = relate(candidate, head);
    return relation === 'tie' ? 'dominates' : relation;
  },
});
