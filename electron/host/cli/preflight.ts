// `pawl preflight`: what a run of a task would begin with, measured and not stored.
import type { TaskPreflight, TaskPreflightInput } from '#shared/contract/preflight.ts';
import { exitCodes, type CliIo, type CommonOptions } from './io.ts';
import { table } from './table.ts';
import { withEngine } from './with-engine.ts';

/** Exit code 0 when a run would start, 1 when it would not. */
export async function preflight(io: CliIo, options: CommonOptions, input: TaskPreflightInput): Promise<number> {
  const result = await withEngine(io, options, ['unavailable'], ({ client }) => client.call('task.preflight', input));
  await io.out(options.json ? `${JSON.stringify(result)}\n` : preflightText(result));
  return result.stable ? exitCodes.ok : exitCodes.failed;
}

/** The measurements for people. */
export function preflightText({ task, runs, stable, verdict, genesis, obligations, verifier, forecast }: TaskPreflight): string {
  const unstable = obligations.filter((each) => !each.stable);
  const outcome = stable
    ? 'stable: a run would start'
    : verdict.kind === 'ranked'
      ? `unstable: ${unstable.map(({ key }) => key).join(', ')}; a run needs --quarantine KEY or --median KEY for each, or a verifier that is fixed`
      : `no rank: ${verdict.code}: ${verdict.message}`;
  const head = table([
    ['task', `${task.title} (${task.id})`],
    ['contract', task.contractSha],
    ['seed', outcome],
    [
      'measured',
      `${runs} times${verifier === null ? '' : `, ${Math.round(verifier.medianMs)} ms in the middle, ${Math.round(verifier.p95Ms)} ms at the 95th percentile`}`,
    ],
    ['potential', genesis === null ? 'none' : genesis.potential],
    ['forecast', `${forecast.attempts} attempts, limited by ${forecast.dimension}${forecast.few ? ': hardly a run' : ''}`],
  ]);
  const rows = obligations.map(({ key, aggregate, values, stable }) => [
    key,
    aggregate,
    stable ? 'stable' : 'unstable',
    [...new Set(values)].join(' ') || '-',
  ]);
  return `${head}\n${table([['obligation', 'aggregate', 'state', 'values'], ...rows])}`;
}
