// What verification adds to the command it runs: our wall per verification against the same command under the same sandbox in a shell loop,
// two at a time against one, and how long the engine's loop stands still for a spawn when the engine holds 2 GB.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { VerifyRequest } from '#electron/verifiers/api.ts';
import { createBackend } from '#electron/verifiers/sandbox/backend.ts';
import { writeEnterScript } from '#electron/verifiers/sandbox/launch.ts';
import { giveTo, verifierOwner } from '#electron/verifiers/sandbox/unprivileged.ts';
import { makeContract, never, request, startVerifiers, textFile } from '../engine/verifiers/support.ts';
import { quantile, type BenchReport, type BenchRow } from './report.ts';

/** Most that we may add to a verification. */
const addedMs = 5;
/** How much faster two at a time must be than one. */
const speedup = 1.8;
/** Most that the engine's loop may stand still. */
const stallMs = 20;

const limits = { memoryMb: 128, cpuS: 60, processes: 32, fileMb: 4 };
const report = `printf '{"nonce":"%s","tree":"%s","contract":"%s","values":{"a":0,"b":0}}' "$PAWL_NONCE" "$PAWL_TREE" "$PAWL_CONTRACT" > "$PAWL_REPORT"\n`;
const busy = `i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done\n`;

const requestOf = (script: string): VerifyRequest => ({
  ...request(
    makeContract({
      verifier: {
        kind: 'command',
        command: ['/bin/sh', 'verifier/check.sh'],
        file: null,
        runsCandidate: true,
        isolation: 'shared',
        limits: { ...limits, outputKb: 64 },
      },
    }),
    [textFile('verifier/check.sh', script)],
  ),
  program: { path: '/bin/sh', version: 'bench' },
});

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};

const row = (
  label: string,
  samples: readonly number[],
  limit: { readonly ratio: number; readonly goal: number } | null = null,
): BenchRow => ({
  label,
  medianMs: quantile(samples, 0.5),
  p95Ms: quantile(samples, 0.95),
  ratio: limit?.ratio ?? null,
  goal: limit?.goal ?? null,
  ok: limit === null || limit.ratio <= limit.goal,
});

/** `run` runs `count` times in one shell what a verification by `script` runs once, laid out as a verification is: milliseconds per run. */
async function shellLoop(script: string): Promise<{ run(count: number): Promise<number>; remove(): void }> {
  const owner = verifierOwner();
  if (typeof owner === 'string') throw new Error(owner);
  const folder = mkdtempSync(path.join(tmpdir(), 'pawl-bench-'));
  const task = path.join(folder, 'task');
  const artifact = path.join(task, 'artifact');
  const verifier = path.join(task, 'verifier');
  const channel = path.join(folder, 'report.json');
  for (const made of [artifact, verifier]) mkdirSync(made, { recursive: true });
  writeFileSync(path.join(verifier, 'check.sh'), script);
  writeFileSync(channel, '');
  const env = { PAWL_CANDIDATE: '/task/artifact', PAWL_REPORT: '/report.json', PAWL_NONCE: 'n', PAWL_TREE: 't', PAWL_CONTRACT: 'c' };
  const enter = await writeEnterScript(createBackend(), { folder, task, artifact, verifier, report: channel }, limits, env);
  if (owner !== null) giveTo(owner, folder);
  const loop = 'i=0; while [ $i -lt "$1" ]; do "$2" /bin/sh verifier/check.sh || exit 1; i=$((i+1)); done';
  return {
    remove: () => rmSync(folder, { recursive: true }),
    run: async (count) => {
      const ms = await timed(
        () =>
          new Promise<void>((resolve, reject) => {
            const child = spawn('/bin/sh', ['-c', loop, 'loop', String(count), enter], { stdio: 'ignore', env: {}, cwd: '/', ...owner });
            child.once('error', reject);
            child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`the loop ended with ${code}`))));
          }),
      );
      return ms / count;
    },
  };
}

/** Rows: the loop, ours, what we add; one and two at a time; the loop of an engine of 2 GB. */
export async function benchVerify(): Promise<BenchReport> {
  const name = 'verify';
  const probe = await createBackend().probe();
  if (!probe.available) return { name, rows: [], skipped: probe.message };
  const loop = await shellLoop(report);
  const busyLoops = [await shellLoop(busy + report), await shellLoop(busy + report)];
  const one = await startVerifiers(1);
  const two = await startVerifiers(2);
  try {
    const verify = async ({ service }: typeof one, input: VerifyRequest): Promise<void> => {
      const { verdict } = await service.verify(input, never);
      if (verdict.kind !== 'ranked') throw new Error(verdict.message);
    };
    const small = requestOf(report);
    const large = requestOf(busy + report);
    await loop.run(5);
    for (let i = 0; i < 5; i++) await verify(one, small);
    for (let i = 0; i < 2; i++) await Promise.all([verify(two, small), verify(two, small)]);

    const bare: number[] = [];
    const ours: number[] = [];
    for (let round = 0; round < 30; round++) {
      bare.push(await loop.run(10));
      ours.push(
        (await timed(async () => {
          for (let i = 0; i < 10; i++) await verify(one, small);
        })) / 10,
      );
    }
    const added = ours.map((ms, i) => ms - (bare[i] ?? Number.NaN));

    const single: number[] = [];
    const pair: number[] = [];
    for (let round = 0; round < 6; round++) {
      single.push(
        await timed(async () => {
          for (let i = 0; i < 4; i++) await verify(one, large);
        }),
      );
      pair.push(await timed(() => Promise.all([1, 2, 3, 4].map(() => verify(two, large)))));
    }
    // Shown beside it, since two cores of a virtual machine need not be twice one: two shells, in turn and at once.
    const alone: number[] = [];
    const together: number[] = [];
    for (let round = 0; round < 6; round++) {
      alone.push(
        await timed(async () => {
          for (const each of busyLoops) await each.run(2);
        }),
      );
      together.push(await timed(() => Promise.all(busyLoops.map((each) => each.run(2)))));
    }
    const possible = quantile(alone, 0.5) / quantile(together, 0.5);
    const gain = quantile(single, 0.5) / quantile(pair, 0.5);

    // Written to, or it would not be ours.
    const held = Array.from({ length: 8 }, () => Buffer.alloc(256 * 1024 * 1024, 1));
    const delays = monitorEventLoopDelay({ resolution: 1 });
    delays.enable();
    for (let i = 0; i < 100; i++) await verify(one, small);
    delays.disable();
    const rss = process.memoryUsage.rss();
    if (rss < 2e9 || held.length !== 8) throw new Error(`the engine holds ${rss} bytes only`);
    const worst = delays.max / 1e6;

    return {
      name,
      rows: [
        row('the command in its sandbox, in a shell loop', bare),
        row('a verification of it', ours),
        row(`what we add, against ${addedMs} ms`, added, { ratio: quantile(added, 0.5) / addedMs, goal: 1 }),
        row('four that compute, one at a time', single),
        availableParallelism() < 2
          ? row('two at a time (one core: not comparable)', pair)
          : row(`two at a time: ${gain.toFixed(2)} times as fast, against ${speedup.toFixed(2)}`, pair, { ratio: speedup / gain, goal: 1 }),
        row(`two shell loops at a time: ${possible.toFixed(2)} times as fast`, together),
        {
          label: `longest stop of an engine of ${(rss / 1e9).toFixed(1)} GB: ${worst.toFixed(1)} ms, against ${stallMs} ms`,
          medianMs: delays.percentile(50) / 1e6,
          p95Ms: delays.percentile(95) / 1e6,
          ratio: worst / stallMs,
          goal: 1,
          ok: worst <= stallMs,
        },
      ],
    };
  } finally {
    await Promise.all([one.stop(), two.stop()]);
    for (const each of [loop, ...busyLoops]) each.remove();
  }
}
