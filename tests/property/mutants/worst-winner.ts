import { selectionOrder } from '#shared/domain/select.ts';
import { rulesWith } from './rules-with.ts';

/** The selection runs backwards: the smallest step wins. Order-independent, but not Pareto-minimal. */
export const worstWinner = rulesWith('worst-winner', { choose: (dominating) => selectionOrder(dominating).at(-1) });
