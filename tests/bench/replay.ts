// How long a decision replay of a run of 10,000 transitions takes, over the real store and its threads, and how long it holds the event loop.
// The run is made by the real governor with a scripted search and a verifier that costs nothing. Judged is the processor time of the
// engine's thread, which is what bounds the wall time where the readers' threads find a free processor; the wall time is shown beside it,
// because other programs on a busy machine are in it.
import { rm } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { pathToFileURL } from 'node:url';
import { replayDecisions } from '#electron/core/replay/decision-replay.ts';
import { createRandom } from '#shared/lib/random.ts';
import { createStoredRun, temporaryStore } from '../support/engine/stored-run.ts';
import { State } from '../support/engine/scripted-verifier.ts';
import { type BenchReport, formatReport, quantile } from './report.ts';

const transitions = 10_000;
const goalMs = 2_000;
const stallGoalMs = 50;
const cap = 1_000;
const obligations = 7;

/** Ten small steps, most of them back or sideways; a run of 10,000 has some hundred commits. */
const script = ({
  draw,
  base,
}: {
  readonly draw: number;
  readonly base: readonly { readonly path: string; readonly bytes: Uint8Array }[];
}) => {
  const random = createRandom(['bench replay', draw]);
  const file = base.find(({ path }) => path === 'state.json');
  const state = State.parse(JSON.parse(new TextDecoder().decode(file?.bytes)));
  if (!('rank' in state)) return 'base' as const;
  const rank = [...state.rank];
  for (let i = 0; i < 4; i++) {
    const at = random.int(rank.length);
    rank[at] = Math.max(1, Math.min(cap, (rank[at] ?? 0) + random.int(7) - 3));
  }
  return { state: { rank, salt: random.int(1_000_000) } };
};

/** Makes the run once and replays it five times. */
export async function benchReplay(): Promise<BenchReport> {
  const opened = await temporaryStore();
  try {
    const stored = await createStoredRun(opened.store, {
      contract: { caps: Array.from({ length: obligations }, () => cap) },
      seed: { rank: Array.from({ length: obligations }, () => cap) },
      script,
      header: { slots: 8, budget: { attempts: transitions } },
    });
    const begun = performance.now();
    await stored.go(opened.store);
    const madeMs = performance.now() - begun;
    const walls: number[] = [];
    const busy: number[] = [];
    const stalls: number[] = [];
    for (let i = 0; i < 6; i++) {
      // Between two turns of the loop: what this thread has worked, not what others have.
      let last = process.threadCpuUsage();
      let longest = 0;
      const ticker = setInterval(() => {
        const now = process.threadCpuUsage(last);
        longest = Math.max(longest, (now.user + now.system) / 1_000);
        last = process.threadCpuUsage();
      }, 1);
      const at = performance.now();
      const used = process.threadCpuUsage();
      let ok = false;
      for await (const item of replayDecisions(
        { store: opened.store, proposerOf: () => stored.proposer },
        stored.run,
        new AbortController().signal,
      )) {
        if (item.kind === 'report') ok = item.report.ok && item.report.transitions === transitions;
      }
      const wall = performance.now() - at;
      const { user, system } = process.threadCpuUsage(used);
      clearInterval(ticker);
      if (!ok) throw new Error('the replayed run does not match');
      // The first warms up.
      if (i === 0) continue;
      walls.push(wall);
      busy.push((user + system) / 1_000);
      stalls.push(longest);
    }
    const busyMs = quantile(busy, 0.5);
    const stallMs = quantile(stalls, 0.5);
    return {
      name: 'replay',
      rows: [
        { label: `making the run (${transitions} transitions)`, medianMs: madeMs, p95Ms: madeMs, ratio: null, goal: null, ok: true },
        {
          label: `decision replay, wall time (load ${(loadavg()[0] ?? 0).toFixed(1)} on ${availableParallelism()} processors)`,
          medianMs: quantile(walls, 0.5),
          p95Ms: quantile(walls, 0.95),
          ratio: quantile(walls, 0.5) / goalMs,
          goal: 1,
          ok: quantile(walls, 0.5) <= goalMs,
        },
        {
          label: 'decision replay, processor time of the engine, against 2 s',
          medianMs: busyMs,
          p95Ms: quantile(busy, 0.95),
          ratio: busyMs / goalMs,
          goal: null,
          ok: true,
        },
        {
          label: 'longest hold of the event loop (processor time), against 50 ms',
          medianMs: stallMs,
          p95Ms: quantile(stalls, 0.95),
          ratio: stallMs / stallGoalMs,
          goal: 1,
          ok: stallMs <= stallGoalMs,
        },
      ],
    };
  } finally {
    await opened.store.close();
    await rm(opened.dataDir, { recursive: true, force: true });
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.stdout.write(`${formatReport(await benchReplay())}\n`);
}
