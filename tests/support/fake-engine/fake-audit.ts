// Audits of the invented runs: the real rules over invented facts, with the findings that a run was told to have.
import { RpcError } from '#shared/contract/errors.ts';
import type { auditContract, AuditItem } from '#shared/contract/audit.ts';
import { auditRun } from '#shared/domain/audit/audit.ts';
import type { AuditAttempt } from '#shared/domain/audit/facts.ts';
import { createFindingBook } from '#shared/domain/audit/findings.ts';
import type { Handlers } from '#shared/rpc/types.ts';
import type { FakeJob } from './fake-job.ts';

type Deps = { readonly jobs: () => readonly FakeJob[]; readonly beforeReplay: (() => Promise<void>) | undefined };

const slices = 4;

const attemptsOf = (job: FakeJob): AuditAttempt[] => {
  const attempts: AuditAttempt[] = [];
  for (let row = job.row(1); row !== undefined && row !== null; row = job.row(row.n + 1)) {
    const { n, round, outcome, rank, verdictSource } = row;
    const fresh = verdictSource === 'fresh';
    attempts.push({
      n,
      round,
      outcome,
      rank,
      request: outcome === 'aborted' ? null : { kind: 'pinned' },
      answer: outcome === 'aborted' ? { kind: 'none' } : { kind: 'quoting' },
      retrieved: 0,
      resent: 0,
      resentFreely: 0,
      executions: fresh ? 1 : 0,
      afterFault: 0,
      confirming: 0,
      ofBase: 0,
      lines: null,
      rewritten: [],
      advisory: [],
    });
  }
  return attempts;
};

export function fakeAudits({ jobs, beforeReplay }: Deps): Handlers<typeof auditContract> {
  async function* audit(run: string, signal: AbortSignal): AsyncGenerator<AuditItem, void, void> {
    const job = jobs().find(({ id }) => id === run);
    if (!job) throw new RpcError('not_found', `no run is called ${run}`);
    const { header, contractBody, contract, budget, transitions, rounds, counts } = job.detail();
    for (let i = 0; i <= slices; i++) {
      await beforeReplay?.();
      if (signal.aborted) throw new RpcError('cancelled', 'cancelled');
      if (i < slices) yield { kind: 'progress', transitions: Math.floor((transitions * i) / slices), of: transitions };
    }
    const findings = createFindingBook();
    for (const found of job.options.mismatches ?? []) findings.add({ kind: 'differs', ...found });
    for (const found of job.options.missing ?? []) findings.add({ kind: 'missing', ...found });
    const bundles = counts.commit + 1;
    const events = transitions + rounds + 3;
    const rules = auditRun({
      declared: { header, contract: { ...contractBody, sha: contract } },
      previous: null,
      findings,
      attempts: attemptsOf(job),
      seed: { executions: 1, afterFault: 0, ranked: true },
      used: budget.used,
      overshoot: budget.overshoot,
      rounds,
      bundles,
      events,
      resumes: 0,
      natives: 3 * transitions,
      host: counts.no_verdict,
      ancestors: 0,
    });
    yield {
      kind: 'report',
      report: { format: 'pawl.audit/1', run, transitions, rounds, bundles, events, open: job.live, rules, ms: 431 },
    };
  }
  return { 'audit.run': ({ run }, { signal }) => audit(run, signal) };
}
