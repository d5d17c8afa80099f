import { relate } from '#shared/domain/rank.ts';
import { rulesWith } from './rules-with.ts';

/** Every coordinate has to improve: most real progress is refused. */
export const allStrict = rulesWith('all-strict', {
  relate(candidate, head) {
    const relation = relate(candidate, head);
    if (relation !== 'dominates') return relation;
    return candidate.every((c, i) => c < (head[i] ?? Number.NaN)) ? 'dominates' : 'tie';
  },
});
