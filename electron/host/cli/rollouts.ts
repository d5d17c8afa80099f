// `pawl run --rollouts N`: independent runs that differ in their seed, one after the other, and which of them ended best.
import { RpcError } from '#shared/contract/errors.ts';
import type { RunStart } from '#shared/contract/run.ts';
import type { NamedSelection } from '#shared/domain/selection.ts';
import type { EngineHandle } from '../engine.ts';
import { clearStep, showStep } from './following.ts';
import { exitCodes, type CliIo, type CommonOptions } from './io.ts';
import { ending, type RunFacts } from './run-document.ts';
import { isGone, runToEnd, withInterrupts, type Interrupts } from './run.ts';
import { crosscheckText, pickedBecause } from './selection-text.ts';
import { table } from './table.ts';
import { candidateText, tamperEvidentOnly } from './where-candidates-run.ts';
import { withEngine } from './with-engine.ts';

/**
 * Seeds are `start.seed` and the `count - 1` after it. Ctrl-C ends the run or the cross-check that is under way and begins no other; what
 * has ended by then is chosen from. Exit codes are those of the chosen run.
 */
export function startRollouts(io: CliIo, options: CommonOptions, start: RunStart, count: number): Promise<number> {
  return withInterrupts(io, (interrupts) =>
    withEngine(io, options, ['unavailable'], async (engine, begun) => {
      const ended: RunFacts[] = [];
      const interrupted = new AbortController();
      const unlisten = interrupts.onFirst(() => interrupted.abort());
      for (let i = 0; i < count && !interrupted.signal.aborted; i++) {
        const seed = start.seed + i;
        io.err(`Rollout ${i + 1} of ${count}, seed ${seed}\n`);
        const result = await runToEnd(io, options, engine, { ...start, seed }, interrupts, begun);
        if (result.kind === 'not_started') return result.code;
        ended.push(result.facts);
      }
      unlisten();
      const runs = ended.map(({ detail }) => detail.id);
      return show(io, options, ended, await chooseWith(io, options, engine, runs, interrupts));
    }),
  );
}

/** The choice. The engine that carried the runs may be another command's, and have ended with it: then the next one is asked. */
async function chooseWith(
  io: CliIo,
  options: CommonOptions,
  engine: EngineHandle,
  runs: string[],
  interrupts: Interrupts,
): Promise<NamedSelection> {
  try {
    return await choose(io, engine, runs, interrupts);
  } catch (error) {
    if (!isGone(error)) throw error;
    return withEngine(io, options, ['closed', 'unavailable'], (next) => choose(io, next, runs, interrupts));
  }
}

async function choose(io: CliIo, engine: EngineHandle, runs: string[], interrupts: Interrupts): Promise<NamedSelection> {
  const abort = new AbortController();
  const unlisten = interrupts.onFirst(() => abort.abort());
  try {
    if (!abort.signal.aborted) return await select(io, engine, { runs, crosscheck: true }, abort.signal);
  } catch (error) {
    if (!(error instanceof RpcError) || error.code !== 'cancelled') throw error;
  } finally {
    unlisten();
  }
  return select(io, engine, { runs, crosscheck: false });
}

async function select(
  io: CliIo,
  { client }: EngineHandle,
  request: { readonly runs: string[]; readonly crosscheck: boolean },
  signal?: AbortSignal,
): Promise<NamedSelection> {
  try {
    for await (const item of client.stream('run.select', request, { window: 8, ...(signal === undefined ? {} : { signal }) })) {
      if (item.kind === 'selection') return item.selection;
      showStep(io, `Checking the finalists against each other: ${item.done} of ${item.of}`);
    }
    throw new RpcError('cancelled', 'the choice was ended before it was made');
  } finally {
    clearStep(io);
  }
}

async function show(io: CliIo, options: CommonOptions, ended: readonly RunFacts[], named: NamedSelection): Promise<number> {
  const { sha, selection } = named;
  const picked = ended[selection.order[0] ?? -1]?.detail ?? null;
  if (options.json) {
    const rollouts = ended.map(({ detail: { id, seed, status, stop, transitions, counts, head, contractBody, header } }) => ({
      id,
      seed,
      status,
      stop,
      transitions,
      commits: counts.commit,
      potential: head?.potential ?? null,
      rank: head?.rank ?? null,
      tamperEvidentOnly: tamperEvidentOnly({ contractBody, header }),
    }));
    await io.out(`${JSON.stringify({ picked: picked?.id ?? null, rollouts, selection: { sha, ...selection } })}\n`);
  } else {
    const rows = selection.order.flatMap((at, place) => {
      const detail = ended[at]?.detail;
      if (detail === undefined || detail.head === null) return [];
      return [
        [
          place === 0 ? 'picked' : '',
          detail.id,
          detail.seed,
          ending(detail),
          detail.transitions,
          detail.counts.commit,
          detail.head.potential,
          detail.head.rank.join(' '),
        ],
      ];
    });
    const columns = ['', 'run', 'seed', 'state', 'attempts', 'commits', 'potential', 'rank'];
    const candidate = picked === null ? null : candidateText(picked);
    const where = candidate === null ? '' : `candidate code ${candidate}\n`;
    await io.out(
      `${table([columns, ...rows], new Set([2, 4, 5, 6]))}${where}\npicked because ${pickedBecause(selection)}\n${crosscheckText(selection)}`,
    );
  }
  return picked?.stop === 'zero_rank' ? exitCodes.ok : exitCodes.stopped;
}
