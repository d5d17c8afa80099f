import { rulesWith } from './rules-with.ts';

/** The first slot that dominates wins, as if the first to finish were taken. */
export const firstSlot = rulesWith('first-slot', { choose: (dominating) => dominating[0] });
