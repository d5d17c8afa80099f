// `pawl run --rollouts N`: independent runs that differ in their seed, one after the other, and which of them ended best.
import type { RunStart } from '#shared/contract/run.ts';
import { orderRollouts } from '#shared/domain/rollouts.ts';
import { exitCodes, type CliIo, type CommonOptions } from './io.ts';
import { ending, type RunFacts } from './run-document.ts';
import { runToEnd, withInterrupts } from './run.ts';
import { table } from './table.ts';
import { withEngine } from './with-engine.ts';

/** Seeds are `start.seed` and the `count - 1` after it. Ctrl-C ends the run that is under way and begins no other. Exit codes are those of the chosen run. */
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
      return show(io, options, ended);
    }),
  );
}

async function show(io: CliIo, options: CommonOptions, ended: readonly RunFacts[]): Promise<number> {
  const certified = ended.flatMap(({ detail }) => (detail.head === null ? [] : [{ detail, head: detail.head }]));
  const order = orderRollouts(certified.map(({ detail, head }) => ({ contract: detail.contract, rank: head.rank })));
  const picked = certified[order[0] ?? -1]?.detail ?? null;
  if (options.json) {
    const rollouts = ended.map(({ detail: { id, seed, status, stop, transitions, counts, head } }) => ({
      id,
      seed,
      status,
      stop,
      transitions,
      commits: counts.commit,
      potential: head?.potential ?? null,
      rank: head?.rank ?? null,
    }));
    await io.out(`${JSON.stringify({ picked: picked?.id ?? null, rollouts })}\n`);
  } else {
    const rows = order.flatMap((at, place) => {
      const one = certified[at];
      if (one === undefined) return [];
      const { detail, head } = one;
      return [
        [
          place === 0 ? 'picked' : '',
          detail.id,
          detail.seed,
          ending(detail),
          detail.transitions,
          detail.counts.commit,
          head.potential,
          head.rank.join(' '),
        ],
      ];
    });
    const columns = ['', 'run', 'seed', 'state', 'attempts', 'commits', 'potential', 'rank'];
    await io.out(table([columns, ...rows], new Set([2, 4, 5, 6])));
  }
  return picked?.stop === 'zero_rank' ? exitCodes.ok : exitCodes.stopped;
}
