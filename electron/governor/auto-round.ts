// The task's automatic commands on the candidates of a round. They run when everything is decided and tell a later proposer something;
// what they say cannot change an outcome, and a command that fails, hangs or is ended by a stop changes nothing either.
import type { AutoOutput } from '#shared/domain/auto-evidence.ts';
import type { Contract } from '#shared/domain/contract.ts';
import type { AutoService, VerifyRequest } from '#electron/verifiers/api.ts';
import type { Attempt } from './attempt.ts';
import { mapBounded } from './bounded.ts';

export type AutoRound = {
  readonly service: AutoService | undefined;
  readonly concurrency: number;
  readonly contract: Contract;
  readonly attempts: readonly Attempt[];
  readonly request: (candidate: { readonly tree: string; readonly files: VerifyRequest['files'] }) => VerifyRequest;
};

/** Outputs by slot, for the slots whose candidates were measured; all commands of a tree in the contract's order. */
export async function runAutos(
  { service, concurrency, contract, attempts, request }: AutoRound,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, readonly AutoOutput[]>> {
  if (contract.auto.length === 0) return new Map();
  if (service === undefined) throw new Error('the contract has automatic commands, and nothing here can run them');
  const measured = attempts.flatMap(({ planned, standing }) =>
    standing.kind === 'unknown' ? [{ slot: planned.slot, candidate: standing.candidate }] : [],
  );
  const all = await mapBounded(measured, concurrency, async ({ slot, candidate }) => {
    const outputs: AutoOutput[] = [];
    for (const auto of contract.auto) {
      if (signal.aborted) break;
      outputs.push(await service.runAuto(request(candidate), auto, signal));
    }
    return [slot, outputs] as const;
  });
  return new Map(all);
}
