// Kills the engine at random moments and resumes, again and again, and holds what is left against a run that nobody disturbed.
// Drives the built command line, because that is what dies on a user's machine.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { openReadable } from '#electron/store/db.ts';
import { ensure } from '#shared/lib/assert.ts';
import { brokenInvariants } from './invariants.ts';

const root = path.resolve(import.meta.dirname, '../..');
const task = path.join(root, 'resources/tasks/exam-timetable');

const Document = z.object({
  id: z.string(),
  status: z.string(),
  stop: z.string().nullable(),
  bundles: z.array(z.object({ seq: z.int(), id: z.string(), transition: z.int().nullable() })),
  transitions: z.array(z.object({ n: z.int(), outcome: z.string() })),
  counts: z.record(z.string(), z.int()),
  memoryEntries: z.int(),
});
type Document = z.infer<typeof Document>;

export type KillReport = {
  /** Kills that hit a live run; the campaign goes on until there were as many as asked for, over as many runs as that takes. */
  readonly kills: number;
  readonly runs: number;
  readonly aborted: number;
  /** What did not hold, in words; empty when everything did. */
  readonly faults: readonly string[];
};

/** Runs the command line; with `killAfterMs`, sends SIGKILL that long after the run began to print. Resolves with what it printed. */
function pawl(
  args: readonly string[],
  killAfterMs?: number,
): Promise<{ code: number | null; killed: boolean; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['electron/host/launch.mjs', 'electron/host/pawl.ts', ...args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    let timer: NodeJS.Timeout | undefined;
    let killed = false;
    child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
    child.stderr.on('data', (data: Buffer) => {
      stderr += data.toString();
      if (killAfterMs !== undefined)
        timer ??= setTimeout(() => {
          killed = child.kill('SIGKILL');
        }, killAfterMs);
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, killed: killed && signal === 'SIGKILL', stdout, stderr });
    });
  });
}

async function show(run: string, dataDir: string): Promise<Document> {
  const result = await pawl(['show', run, '--json', '--data', dataDir]);
  if (result.code !== 0) throw new Error(`pawl show ended with ${result.code}: ${result.stderr}`);
  return Document.parse(JSON.parse(result.stdout));
}

/** The only run of a fresh folder. */
async function firstRun(dataDir: string): Promise<string | null> {
  const result = await pawl(['runs', '--json', '--data', dataDir]);
  if (result.code !== 0) throw new Error(`pawl runs ended with ${result.code}: ${result.stderr}`);
  const { runs } = z.object({ runs: z.array(z.object({ id: z.string() })) }).parse(JSON.parse(result.stdout));
  return runs[0]?.id ?? null;
}

/** What is broken in a data folder that nobody has open. */
function brokenIn(dataDir: string): string[] {
  const file = path.join(dataDir, 'pawl.db');
  // It was killed before it had made one.
  if (!existsSync(file)) return [];
  const db = openReadable(file, path.join(dataDir, 'blobs'));
  try {
    return brokenInvariants(db);
  } finally {
    db.close();
  }
}

/** The highest number of a commit that the command line had told of before it died. */
const acknowledged = (stderr: string): number => Math.max(0, ...[...stderr.matchAll(/^commit (\d+):/gm)].map((m) => Number(m[1])));

/**
 * `kills` SIGKILLs at random points of runs of the sample with search seed `seed`, each followed by a resume. Checks after every kill that
 * the chain is a prefix of the undisturbed one, that no commit that had been printed is gone, and that every invariant of the storage holds,
 * as the engine left it and recovered; and at the end of every run that its whole chain equals the undisturbed one and every decision can be
 * made again. `random` gives numbers in [0, 1).
 */
export async function killCampaign(kills: number, seed: number, random: () => number, log: (text: string) => void): Promise<KillReport> {
  const faults: string[] = [];
  const base = mkdtempSync(path.join(tmpdir(), 'pawl-kill-'));
  try {
    const started = performance.now();
    const reference = path.join(base, 'reference');
    const first = await pawl(['run', task, '--seed', String(seed), '--data', reference]);
    const spanMs = performance.now() - started;
    if (first.code !== 0) throw new Error(`the undisturbed run ended with ${first.code}: ${first.stderr}`);
    const whole = await show(ensure(await firstRun(reference), 'the undisturbed run'), reference);
    const ids = whole.bundles.map((b) => b.id);

    let done = 0;
    let runs = 0;
    let aborted = 0;
    while (done < kills) {
      runs++;
      const dataDir = path.join(base, `run-${runs}`);
      let run: string | null = null;
      let told = 0;
      for (;;) {
        const args = run === null ? ['run', task, '--seed', String(seed)] : ['resume', run];
        const result = await pawl([...args, '--data', dataDir], done < kills ? Math.round(random() * spanMs * 0.4) : undefined);
        told = Math.max(told, acknowledged(result.stderr));
        const place = `run ${runs} after kill ${done + (result.killed ? 1 : 0)}`;
        for (const what of brokenIn(dataDir)) faults.push(`${place}, as it was left: ${what}`);
        run ??= await firstRun(dataDir);
        if (run === null) continue;
        const now = await show(run, dataDir);
        for (const what of brokenIn(dataDir)) faults.push(`${place}, recovered: ${what}`);
        if (now.bundles.some((b, i) => b.id !== ids[i])) faults.push(`${place}: its chain is no prefix of the undisturbed one`);
        if (now.bundles.length - 1 < told) faults.push(`${place}: commit ${told} had been printed, ${now.bundles.length - 1} are stored`);
        if ((now.counts['commit'] ?? 0) + now.memoryEntries !== now.transitions.length)
          faults.push(`${place}: commits + memory entries != transitions`);
        if (now.transitions.some((t, i) => t.n !== i + 1)) faults.push(`${place}: transitions are not dense`);
        if (result.killed) {
          done++;
          log(`${place}: ${now.bundles.length - 1} commits, ${now.counts['aborted'] ?? 0} aborted`);
          continue;
        }
        if (now.stop !== 'zero_rank')
          faults.push(`${place}: ended with code ${result.code}, stop ${now.stop ?? 'none'}: ${result.stderr.slice(-300)}`);
        if (now.bundles.length !== ids.length)
          faults.push(`${place}: ${now.bundles.length} bundles, the undisturbed run has ${ids.length}`);
        const replayed = await pawl(['replay', run, '--decisions', '--data', dataDir]);
        if (replayed.code !== 0) faults.push(`${place}: its decisions cannot be made again: ${replayed.stdout.slice(-300)}`);
        aborted += now.counts['aborted'] ?? 0;
        break;
      }
    }
    return { kills: done, runs, aborted, faults };
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}
