// `pawl replay`: recompute the decisions of a run, or run its verifier again. Neither changes anything certified.
import type { BundleReplay, DecisionReplayReport } from '#shared/contract/replay.ts';
import { RpcError } from '#shared/contract/errors.ts';
import type { EngineHandle } from '../engine.ts';
import { clearStep, interruptible, showStep } from './following.ts';
import { exitCodes, UsageError, type CliIo, type CommonOptions } from './io.ts';
import { table } from './table.ts';
import { candidateText, tamperEvidentOnly } from './where-candidates-run.ts';
import { withEngine } from './with-engine.ts';

export type ReplayWhat = {
  readonly decisions?: boolean | undefined;
  readonly verifier?: boolean | undefined;
  readonly proposals?: boolean | undefined;
  readonly from?: string | undefined;
};

/** Exit code 0 when everything matches, 1 otherwise. */
export async function replay(io: CliIo, options: CommonOptions, run: string, what: ReplayWhat): Promise<number> {
  const chosen = (['decisions', 'verifier', 'proposals'] as const).filter((kind) => what[kind] === true);
  const [kind] = chosen;
  if (kind === undefined || chosen.length > 1)
    throw new UsageError('choose one of --decisions (recompute), --verifier (run the verifier again), --proposals (ask the model again)');
  if (kind === 'proposals')
    throw new UsageError(
      '--proposals sends the stored requests to the model server again, and this version has no model proposer',
      '--proposals',
    );
  if (kind === 'decisions') {
    if (what.from !== undefined) throw new UsageError('--decisions replays the whole run; --from belongs to --verifier', '--from');
    return replayDecisions(io, options, run);
  }
  return replayVerifier(io, options, run, what.from);
}

async function replayDecisions(io: CliIo, options: CommonOptions, prefix: string): Promise<number> {
  const report = await withEngine(io, options, ['unavailable'], (engine) =>
    interruptible(io, async (signal) => {
      const { run } = await engine.client.call('run.resolve', { prefix });
      let found: DecisionReplayReport | null = null;
      for await (const item of engine.client.stream('replay.decisions', { run }, { window: 8, signal })) {
        if (item.kind === 'report') found = item.report;
        else showStep(io, `${item.transitions}/${item.of} transitions`);
      }
      clearStep(io);
      if (found === null) throw new RpcError('cancelled', 'the replay was ended before its report');
      return found;
    }),
  );
  await io.out(options.json ? `${JSON.stringify(report)}\n` : decisionsText(report));
  return report.ok ? exitCodes.ok : exitCodes.failed;
}

const shownAtMost = 50;

/** The report for people. */
function decisionsText(report: DecisionReplayReport): string {
  const { ok, mismatchCount, missingCount, recorded } = report;
  const verdict = ok
    ? 'matches: every stored record is what its sources give'
    : `differs: ${mismatchCount} fields are not what their sources give, ${missingCount} sources are missing`;
  const taken = [
    recorded.aborted > 0 ? `${recorded.aborted} aborted attempts` : null,
    recorded.host > 0 ? `${recorded.host} executions that the host ended` : null,
    recorded.ancestors > 0 ? `${recorded.ancestors} verdicts of the runs it branched from` : null,
  ].filter((part) => part !== null);
  const head = table([
    ['run', report.run],
    ['decisions', verdict],
    ['recomputed', `${report.transitions} transitions, ${report.bundles} bundles, ${report.verdicts} verdicts, ${report.events} events`],
    ['as recorded', taken.length === 0 ? 'nothing' : taken.join(', ')],
    ...(report.open ? [['open', 'a round is under way and not in the report']] : []),
    ['took', `${Math.round(report.ms)} ms`],
  ]);
  const rows = report.mismatches
    .slice(0, shownAtMost)
    .map(({ where, field, stored, recomputed }) => [where, field, stored ?? '-', recomputed ?? '-']);
  const lacking = report.missing.slice(0, shownAtMost).map(({ where, what }) => [where, what]);
  const more = (count: number) => (count > shownAtMost ? `and ${count - shownAtMost} more; --json lists up to a thousand\n` : '');
  return [
    head,
    rows.length === 0 ? '' : `\n${table([['where', 'field', 'stored', 'recomputed'], ...rows])}${more(mismatchCount)}`,
    lacking.length === 0 ? '' : `\n${table([['where', 'missing'], ...lacking])}${more(missingCount)}`,
  ].join('');
}

async function replayVerifier(io: CliIo, options: CommonOptions, prefix: string, from: string | undefined): Promise<number> {
  const { detail, bundles } = await withEngine(io, options, ['unavailable'], (engine) =>
    interruptible(io, async (signal) => {
      const { run: found } = await engine.client.call('run.resolve', { prefix });
      const first = from === undefined ? undefined : await seqOf(engine, found, from);
      const made: BundleReplay[] = [];
      const input = { run: found, ...(first === undefined ? {} : { from: first }) };
      for await (const item of engine.client.stream('replay.verifier', input, { window: 8, signal })) {
        if (item.kind === 'bundle') made.push(item.bundle);
        else showStep(io, `${item.bundles}/${item.of} bundles`);
      }
      clearStep(io);
      return { detail: await engine.client.call('run.get', { run: found }), bundles: made };
    }),
  );
  const ok = bundles.length > 0 && bundles.every(({ result }) => result === 'match');
  const run = detail.id;
  const label = tamperEvidentOnly(detail);
  await io.out(
    options.json
      ? `${JSON.stringify({ run, ok, tamperEvidentOnly: label, bundles })}\n`
      : verifierText(run, bundles, candidateText(detail)),
  );
  return ok ? exitCodes.ok : exitCodes.failed;
}

// A bundle of this run: its number, RUN/SEQ, or the beginning of its id.
async function seqOf({ client }: EngineHandle, run: string, ref: string): Promise<number> {
  if (/^\d{1,7}$/.test(ref)) return Number(ref);
  const found = await client.call('run.resolveBundle', { ref });
  if (found.run !== run) throw new RpcError('bad_input', `${ref} is a bundle of ${found.run} and not of ${run}`, { field: 'from' });
  return found.seq;
}

/** The results for people, a bundle a line, and under it the obligations that did not match; `candidate` as in `candidateText`. */
function verifierText(run: string, bundles: readonly BundleReplay[], candidate: string | null): string {
  const count = (result: BundleReplay['result']) => bundles.filter((bundle) => bundle.result === result).length;
  const head = table([
    ['run', run],
    ...(candidate === null ? [] : [['candidate', candidate]]),
    ['verifier', `${count('match')} match, ${count('drift')} drift, ${count('flake')} flake, ${count('no_verdict')} without a verdict`],
  ]);
  const rows = bundles.map(({ seq, result, message, coordinates }) => [
    seq,
    result,
    message ??
      coordinates
        .filter((coordinate) => coordinate.result !== 'match')
        .map(({ key, result: how, certified, again }) => `${key} ${how}: ${certified} then ${again.join(', ')}`)
        .join('; '),
  ]);
  return `${head}\n${table([['bundle', 'result', ''], ...rows], new Set([0]))}`;
}
