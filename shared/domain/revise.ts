// A new version of a contract in which unstable obligations no longer decide by a single measurement. Semantics, section 4.
import { err, ok, type Result } from '../lib/result.ts';
import type { UnstableObligation } from './aggregate.ts';
import { contractSha } from './bundle-id.ts';
import { type Contract, ContractBody } from './contract.ts';

export interface Revision {
  /** Keys of obligations that become advisory: shown, never deciding. */
  readonly quarantine: readonly string[];
  /** Keys of obligations whose measurements are aggregated by their median. */
  readonly median: readonly string[];
}

export interface RevisionProblem {
  readonly field: 'quarantine' | 'median';
  readonly key: string;
  readonly message: string;
}

/**
 * The contract with `quarantine` taken out of its obligations and made advisory (less is better) and `median` aggregated by the median, as
 * version + 1 with `previous` = the old contract. Without any choice it is the same contract. The order of the choices does not matter.
 * Refused: a key that is no obligation, a quarantine of one that is not fully visible, a key that is named for both, one that is aggregated
 * by its median already, a quarantine of all.
 */
export function reviseContract(contract: Contract, { quarantine, median }: Revision): Result<Contract, RevisionProblem> {
  const out = new Set(quarantine);
  const noisy = new Set(median);
  if (out.size === 0 && noisy.size === 0) return ok(contract);
  const known = new Map(contract.obligations.map((o) => [o.key, o]));
  for (const [field, keys] of [['quarantine', out] as const, ['median', noisy] as const]) {
    for (const key of keys) {
      if (known.has(key)) continue;
      const message = contract.advisory.some((a) => a.key === key)
        ? `${key} is advisory already and decides nothing`
        : `${key} is no obligation of this task; it has: ${[...known.keys()].join(', ')}`;
      return err({ field, key, message });
    }
  }
  // An advisory value has no visibility of its own, and the verifier's whole output is shown once no obligation is left that must not be seen.
  for (const key of out) {
    const { visibility = 'full' } = known.get(key) ?? {};
    if (visibility === 'full') continue;
    const message = `${key} is not fully visible to the proposer (${visibility}), and what is advisory is; take its median or make the verifier repeatable`;
    return err({ field: 'quarantine', key, message });
  }
  for (const key of noisy) {
    if (out.has(key)) return err({ field: 'median', key, message: `${key} is named for quarantine too; keep one of the two` });
    if (known.get(key)?.aggregate === 'median') return err({ field: 'median', key, message: `${key} is aggregated by its median already` });
  }
  const kept = contract.obligations.flatMap((obligation, i) =>
    out.has(obligation.key) ? [] : [{ obligation, from: contract.from[i] ?? null }],
  );
  if (kept.length === 0) {
    const key = contract.obligations[0]?.key ?? '';
    return err({ field: 'quarantine', key, message: 'every obligation would be advisory and nothing would decide; leave at least one' });
  }
  const { sha, ...body } = contract;
  const revised = ContractBody.parse({
    ...body,
    version: contract.version + 1,
    previous: sha,
    obligations: kept.map(({ obligation }) => (noisy.has(obligation.key) ? { ...obligation, aggregate: 'median' } : obligation)),
    from: kept.map(({ from }) => from),
    advisory: [...contract.advisory, ...contract.obligations.flatMap(({ key }) => (out.has(key) ? [{ key, better: 'lower' }] : []))],
  });
  return ok({ ...revised, sha: contractSha(revised) });
}

const maxShown = 20;

/** The obligations that are not stable, the values that each took, and the two choices that go on, one obligation a line. */
export function unstableText(unstable: readonly UnstableObligation[]): string {
  const shown = (values: readonly number[]) =>
    values.length <= maxShown ? values.join(', ') : `${values.slice(0, maxShown).join(', ')}, and ${values.length - maxShown} more`;
  return unstable
    .map(
      ({ key, values }) =>
        `${key} took the values ${shown(values)}: --quarantine ${key} makes it advisory, --median ${key} takes its median`,
    )
    .join('\n');
}
