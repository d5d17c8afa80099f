// How long a decision replay of a run of 10,000 transitions takes, over the real store and its threads, and how long it holds the event loop.
// The run is made by the real governor with a scripted search and a verifier that costs nothing.
import { rm } from 'node:fs/promises';
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

/** Makes the run once and replays it five times; the limit is the wall time of the goal itself. */
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
    const stalls: number[] = [];
    for (let i = 0; i < 6; i++) {
      let last = performance.now();
      let longest = 0;
      const ticker = setInterval(() => {
        const now = performance.now();
        longest = Math.max(longest, now - last - 1);
        last = now;
      }, 1);
      const at = performance.now();
      let ok = false;
      for await (const item of replayDecisions(
        { store: opened.store, proposerOf: () => stored.proposer },
        stored.run,
        new AbortController().signal,
      )) {
        if (item.kind === 'report') ok = item.report.ok && item.report.transitions === transitions;
      }
      const wall = performance.now() - at;
      clearInterval(ticker);
      if (!ok) throw new Error('the replayed run does not match');
      // The first warms up.
      if (i === 0) continue;
      walls.push(wall);
      stalls.push(longest);
    }
    const wallMs = quantile(walls, 0.5);
    const stallMs = quantile(stalls, 0.5);
    return {
      name: 'replay',
      rows: [
        { label: `making the run (${transitions} transitions)`, medianMs: madeMs, p95Ms: madeMs, ratio: null, goal: null, ok: true },
        {
          label: 'decision replay, against 2 s',
          medianMs: wallMs,
          p95Ms: quantile(walls, 0.95),
          ratio: wallMs / goalMs,
          goal: 1,
          ok: wallMs <= goalMs,
        },
        {
          label: 'longest hold of the event loop, against 50 ms',
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
