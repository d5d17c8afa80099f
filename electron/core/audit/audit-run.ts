// The audit of a run: its decisions are made again (V1), and each published rule is decided from what was made and what was found. It
// executes nothing and stores nothing.
import type { AuditItem } from '#shared/contract/audit.ts';
import { auditRun } from '#shared/domain/audit/audit.ts';
import { contractSha } from '#shared/domain/bundle-id.ts';
import { type Contract, ContractBody } from '#shared/domain/contract.ts';
import type { RunId, Sha } from '#shared/domain/ids.ts';
import type { Store } from '#electron/store/api.ts';
import { type ReplayDeps, replayDecisions } from '../replay/decision-replay.ts';
import { createCollector } from './collect.ts';

export type AuditDeps = Omit<ReplayDeps, 'store' | 'observer'> & { readonly store: ReplayDeps['store'] & Pick<Store, 'getContractBody'> };

/**
 * Audits a run as far as it is stored when the audit begins; a round that is under way is left out. Progress, then the report. Throws
 * not_found without the run, and cancelled when `signal` aborts.
 */
export async function* auditStored({ store, ...deps }: AuditDeps, run: RunId, signal: AbortSignal): AsyncGenerator<AuditItem, void, void> {
  const collector = createCollector();
  const replay = replayDecisions({ ...deps, store, observer: collector }, run, signal);
  let step = await replay.next();
  while (step.done !== true) {
    if (step.value.kind === 'progress') yield step.value;
    step = await replay.next();
  }
  const { transitions, rounds, bundles, events, recorded, open, ms } = step.value;
  const { host, ancestors } = recorded;
  const previous = await readContract(store, collector.previous());
  const rules = auditRun(collector.facts({ previous, bundles, events, host, ancestors }));
  yield { kind: 'report', report: { format: 'pawl.audit/1', run, transitions, rounds, bundles, events, open, rules, ms } };
}

/** A contract by its hash; null where there is none, or what stands there is not what its hash says. */
async function readContract(store: AuditDeps['store'], sha: Sha | null): Promise<Contract | null> {
  if (sha === null) return null;
  const body = ContractBody.safeParse(jsonOf(await store.getContractBody(sha)));
  return body.success && contractSha(body.data) === sha ? { ...body.data, sha } : null;
}

const jsonOf = (text: string | null): unknown => {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
};
