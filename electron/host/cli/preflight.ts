// `pawl preflight`: what a run of a task would begin with, measured and not stored.
import type { TaskPreflight, TaskPreflightInput } from '#shared/contract/preflight.ts';
import { runsOf } from '#shared/domain/aggregate.ts';
import { unstableText } from '#shared/domain/revise.ts';
import { errorDocument, exitCodes, plain, type CliIo, type CommonOptions } from './io.ts';
import { table } from './table.ts';
import { candidateText, tamperEvidentOnly } from './where-candidates-run.ts';
import { withEngine } from './with-engine.ts';

/** Exit code 0 when a run would start, 1 when it would not. */
export async function preflight(io: CliIo, options: CommonOptions, input: TaskPreflightInput): Promise<number> {
  const result = await withEngine(io, options, ['closed', 'unavailable'], ({ client }) => client.call('task.preflight', input));
  const facts = { contractBody: result.task.contract, header: input.unsandboxed === true ? { unsandboxed: input.unsandboxed } : {} };
  const document = { ...result, tamperEvidentOnly: tamperEvidentOnly(facts) };
  const found = runsOf(result.verdict).find(({ sandbox }) => sandbox !== undefined)?.sandbox;
  if (!options.json) await io.out(preflightText(result, candidateText(facts, found)));
  else if (result.stable) await io.out(`${JSON.stringify(document)}\n`);
  else {
    const field = result.obligations.find((each) => !each.stable)?.key ?? null;
    await io.out(`${JSON.stringify({ ...document, ...errorDocument('unstable', outcomeText(result), null, field) })}\n`);
  }
  return result.stable ? exitCodes.ok : exitCodes.failed;
}

function outcomeText({ stable, verdict, obligations }: TaskPreflight): string {
  if (stable) return 'stable: a run would start';
  if (verdict.kind !== 'ranked') return `no rank: ${verdict.code}: ${verdict.message}`;
  return `unstable: ${obligations.flatMap((each) => (each.stable ? [] : each.key)).join(', ')}; a run needs a choice for each, or a verifier that is fixed`;
}

/** The measurements for people. `candidate` says where candidate code runs; null when none does. */
function preflightText(result: TaskPreflight, candidate: string | null): string {
  const { task, runs, genesis, obligations, advisory, verifier, forecast } = result;
  const unstable = obligations.filter((each) => !each.stable);
  const head = table([
    ['task', `${task.title} (${task.id})`],
    [
      'contract',
      `${task.contractSha}${task.contract.previous === null ? '' : ` (version ${task.contract.version}, by the choices made here)`}`,
    ],
    ...(candidate === null ? [] : [['candidate', candidate]]),
    ['seed', outcomeText(result)],
    [
      'measured',
      `${runs === 1 ? 'once' : `${runs} times`}${verifier === null ? '' : `, ${Math.round(verifier.medianMs)} ms in the middle, ${Math.round(verifier.p95Ms)} ms at the 95th percentile`}`,
    ],
    ['genesis', genesis === null ? 'none' : `potential ${genesis.potential}`],
    ['forecast', `${forecast.attempts} attempts, limited by ${forecast.dimension}${forecast.few ? ': hardly a run' : ''}`],
  ]);
  const seen = (values: readonly (number | null)[]) => [...new Set(values)].map((value) => value ?? 'none').join(' ') || '-';
  const rows = obligations.map(({ key, aggregate, values, stable: holds }, i) => [
    key,
    aggregate,
    holds ? 'stable' : 'unstable',
    genesis?.rank[i] ?? '-',
    seen(values),
  ]);
  const shown = advisory.map(({ key, values }) => [key, 'advisory', '-', '-', seen(values)]);
  const choices = unstable.length === 0 ? '' : `\n${plain(unstableText(unstable))}\n`;
  return `${head}\n${table([['obligation', 'aggregate', 'state', 'genesis', 'values'], ...rows, ...shown])}${choices}`;
}
