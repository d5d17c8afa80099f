// A decision put together from exchangeable parts: what a mutant does not replace is the real thing.
import { relate, validateRank } from '#shared/domain/rank.ts';
import { selectionOrder } from '#shared/domain/select.ts';
import type { Candidate, Rules } from '../rule-suite.ts';

export interface Parts {
  readonly relate: Rules['relate'];
  readonly valid: (rank: unknown, caps: readonly number[]) => boolean;
  /** The candidate to take among those that dominate, in slot order; there is at least one. */
  readonly choose: (dominating: readonly Candidate[]) => Candidate | undefined;
}

/** The rules with the given parts replaced. */
export function rulesWith(name: string, replaced: Partial<Parts>): Rules {
  const parts: Parts = {
    relate,
    valid: (rank, caps) =>
      validateRank(
        rank,
        caps.map((cap) => ({ cap })),
      ).ok,
    choose: (dominating) => selectionOrder(dominating)[0],
    ...replaced,
  };
  return {
    name,
    relate: parts.relate,
    decide(head, candidates, caps) {
      const dominating = candidates.filter((c) => parts.valid(c.rank, caps) && parts.relate(c.rank, head.rank) === 'dominates');
      return dominating.length === 0 ? null : (parts.choose(dominating)?.tree ?? null);
    },
  };
}
