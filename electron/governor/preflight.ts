// Measuring the seed before the budget starts: several times, on an allowance of its own. Semantics, section 4.
import { aggregateVerdicts, checkedVerdict, unstableObligations, type UnstableObligation } from '#shared/domain/aggregate.ts';
import type { Contract } from '#shared/domain/contract.ts';
import type { Sha } from '#shared/domain/ids.ts';
import type { Rank, Verdict } from '#shared/domain/verdict.ts';
import type { Verification, VerifierService, VerifyRequest } from '#electron/verifiers/api.ts';
import { measure, type Measurement } from './measure.ts';
import { verifyDeadlineMs } from './reservation.ts';

export type Preflight = {
  /** In their order; fewer than asked for when one gave no rank. */
  readonly measurements: readonly Measurement[];
  /** Of the measurements that gave a rank, in their order. */
  readonly ranks: readonly Rank[];
  /** All measurements as one: what the genesis is made of. `verdict.stable` is false where `unstable` names an obligation. */
  readonly seed: Verification;
  readonly unstable: readonly UnstableObligation[];
};

type Deps = { readonly verifiers: Pick<VerifierService, 'verify'>; readonly monotonicMs: () => number };

/**
 * Verifies the seed `runs` times, one after the other (side by side they could disturb each other), each again after faults of ours as the
 * contract says. A seed that seems to be at zero rank is measured as often as a commit would be. Ends at the first measurement without a
 * rank: nothing can be certified then. Never rejects.
 */
export async function preflight(deps: Deps, request: VerifyRequest, runs: number, signal: AbortSignal): Promise<Preflight> {
  const { contract } = request;
  const limits = { retries: contract.measurement.infraRetries, deadlineMs: verifyDeadlineMs(contract) };
  const measurements: Measurement[] = [];
  const ranks: Rank[] = [];
  while (measurements.length < wanted(contract, runs, ranks)) {
    const one = await measure(deps, request, limits, signal);
    measurements.push(one);
    const verdict = checkedVerdict(one.verdict, contract.obligations);
    if (verdict.kind !== 'ranked') break;
    ranks.push(verdict.rank);
  }
  const verdict = aggregateVerdicts(
    contract,
    measurements.map((m) => m.verdict),
  );
  return { measurements, ranks, seed: joined(verdict, measurements), unstable: unstableObligations(contract.obligations, ranks) };
}

const wanted = ({ measurement }: Contract, runs: number, ranks: readonly Rank[]): number =>
  ranks.length > 0 && ranks.every((rank) => rank.every((r) => r === 0)) ? Math.max(runs, measurement.confirmRuns) : runs;

function joined(verdict: Verdict, measurements: readonly Measurement[]): Verification {
  const blobs = new Map<Sha, Uint8Array>(measurements.flatMap((m) => m.blobs.map(({ sha, bytes }) => [sha, bytes] as const)));
  return { verdict, runs: measurements.flatMap((m) => m.runs), blobs: [...blobs].map(([sha, bytes]) => ({ sha, bytes })) };
}
