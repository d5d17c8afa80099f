// The rules as the engine uses them, behind the interface of the rule suite.
import { decideRound, finishRound } from '#shared/domain/decide.ts';
import { relate } from '#shared/domain/rank.ts';
import { sha256Text } from '#shared/lib/hash.ts';
import type { Rules } from './rule-suite.ts';

const contract = sha256Text('contract');

export const realRules: Rules = {
  name: 'the real rules',
  relate,
  decide(head, candidates, caps) {
    const decision = decideRound({
      head: { id: sha256Text('head'), contract, rank: head.rank, tree: sha256Text(head.tree) },
      obligations: caps.map((cap) => ({ cap })),
      slots: candidates.map(({ tree, rank }, slot) => ({
        slot,
        tree: sha256Text(tree),
        contract,
        verdict: { kind: 'ranked', rank, runs: [], stable: true, advisory: {}, details: {} },
        verdictSource: 'fresh',
        duplicateOf: null,
        aborted: false,
      })),
    });
    const { winner } = finishRound(decision, decision.contenders[0] ?? null, []);
    return winner === null ? null : (candidates[winner]?.tree ?? null);
  },
};
