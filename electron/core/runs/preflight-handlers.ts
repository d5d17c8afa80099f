// The procedure `task.preflight`: what a run of a task would begin with. Stores nothing.
import type { preflightContract } from '#shared/contract/preflight.ts';
import { RpcError } from '#shared/contract/errors.ts';
import { potential } from '#shared/domain/rank.ts';
import type { Handlers } from '#shared/rpc/types.ts';
import type { VerifierService } from '#electron/verifiers/api.ts';
import { forecastOf, measureSeed, prepareTask, programOf, sandboxOrRefuse, seedOf, verifierTimes, runnerLost } from './seed.ts';

/** Attempts a round that the forecast assumes unless told. */
const usualSlots = 4;

export function createPreflightHandlers(deps: {
  readonly verifiers: VerifierService;
  /** Aborted when the engine closes. */
  readonly closing: AbortSignal;
}): Handlers<typeof preflightContract> {
  const { verifiers, closing } = deps;
  return {
    'task.preflight': async ({ path, runs, slots = usualSlots, unsandboxed = false, ...choices }, { signal }) => {
      const prepared = await prepareTask(path, choices);
      const { task, contract } = prepared;
      await sandboxOrRefuse(verifiers, contract, unsandboxed);
      const program = await programOf(verifiers, task);
      const asked = runs ?? contract.measurement.preflightRuns;
      const result = await measureSeed(
        verifiers,
        seedOf(prepared),
        { program, runs: asked, unsandboxed },
        AbortSignal.any([signal, closing]),
      );
      if (closing.aborted) throw new RpcError('closed', 'the engine is closing');
      if (signal.aborted) throw new RpcError('cancelled', 'cancelled while the seed was measured');
      if (verifiers.lost()) throw runnerLost('try again');
      const { verdict } = result.seed;
      const moved = new Set(result.unstable.map(({ key }) => key));
      const { sha, ...body } = contract;
      const stable = verdict.kind === 'ranked' && verdict.stable;
      return {
        task: { ...task.info, contractSha: sha, contract: body },
        runs: asked,
        stable,
        verdict,
        genesis: stable ? { rank: verdict.rank, potential: potential(verdict.rank) } : null,
        obligations: contract.obligations.map(({ key, title, aggregate }, i) => ({
          key,
          title,
          aggregate,
          values: result.ranks.flatMap((rank) => rank[i] ?? []),
          stable: !moved.has(key),
        })),
        advisory: contract.advisory.map(({ key }) => ({
          key,
          values: result.measurements.map(({ verdict: one }) => (one.kind === 'ranked' ? (one.advisory[key] ?? null) : null)),
        })),
        verifier: verifierTimes(result),
        forecast: forecastOf(contract, task.budget, slots, result),
      };
    },
  };
}
