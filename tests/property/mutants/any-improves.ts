import { relate } from '#shared/domain/rank.ts';
import { rulesWith } from './rules-with.ts';

/** One better coordinate is enough, whatever the others do. */
export const anyImproves = rulesWith('any-improves', {
  relate(candidate, head) {
    const relation = relate(candidate, head);
    return relation === 'incomparable' ? 'dominates' : relation;
  },
});
