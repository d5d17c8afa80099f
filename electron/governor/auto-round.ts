// The automatic commands on the candidates of a round. They run when everything is decided and tell a later proposer something.
import type { AutoOutput } from '#shared/domain/auto-evidence.ts';
import type { AutoCommand } from '#shared/domain/auto-registry.ts';
import type { Attempt } from './attempt.ts';
import { type AutoRunner, runCommands } from './auto-desk.ts';
import { mapBounded } from './bounded.ts';

/** Outputs by slot, for the slots whose candidates were measured; all commands of a tree in their order. */
export async function runAutos(
  runner: AutoRunner,
  commands: readonly AutoCommand[],
  attempts: readonly Attempt[],
  concurrency: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, readonly AutoOutput[]>> {
  if (commands.length === 0) return new Map();
  const measured = attempts.flatMap(({ planned, standing }) =>
    standing.kind === 'unknown' ? [{ slot: planned.slot, candidate: standing.candidate }] : [],
  );
  const all = await mapBounded(
    measured,
    concurrency,
    async ({ slot, candidate }) => [slot, await runCommands(runner, commands, candidate, 'candidate', signal)] as const,
  );
  return new Map(all);
}
