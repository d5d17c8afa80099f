// Failures and deaths at system calls, injected by strace into a process that governs a run over the real store: what the hooks of the
// store cannot reach, the system's side of every write, of SQLite's as of our own.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openReadable } from '#electron/store/db.ts';
import { getChain } from '#electron/store/read/bundles.ts';
import { lastJournal } from '#electron/store/read/journal.ts';
import { replay } from '../engine/replay/support.ts';
import { openDirectStore } from './engine/direct-store.ts';
import { disturbedRun } from './engine/disturbed-run.ts';
import { brokenInvariants } from './invariants.ts';

const governed = path.join(import.meta.dirname, 'engine/governed-process.ts');

/** Why this machine cannot inject anything, or null. */
export function straceMissing(): string | null {
  if (process.platform !== 'linux') return 'strace is for Linux';
  const { error, status, stderr } = spawnSync('strace', ['-f', '-o', '/dev/null', '-e', 'trace=fsync', 'true'], { encoding: 'utf8' });
  if (error !== undefined) return 'no strace (on Debian: apt-get install strace)';
  return status === 0 ? null : `strace may not trace here: ${stderr.trim().split('\n').at(-1)}`;
}

const calls = {
  sync: ['fsync', 'fdatasync'],
  rename: ['rename', 'renameat', 'renameat2'],
  write: ['pwrite64'],
} as const;
type Call = keyof typeof calls;
const all = Object.values(calls).flat();

/** `EIO` and `ENOSPC` fail the call, `KILL` ends the process in front of it. */
export type Injected = { readonly call: Call; readonly how: 'EIO' | 'ENOSPC' | 'KILL' };

export const everyInjected: readonly Injected[] = [
  { call: 'sync', how: 'EIO' },
  { call: 'sync', how: 'KILL' },
  { call: 'rename', how: 'EIO' },
  { call: 'rename', how: 'KILL' },
  { call: 'write', how: 'EIO' },
  { call: 'write', how: 'ENOSPC' },
  { call: 'write', how: 'KILL' },
];

export type StraceReport = {
  readonly cases: number;
  /** Cases in which the process was killed before its end. */
  readonly killed: number;
  /** Failures that the store told of. */
  readonly told: number;
  /** What did not hold, in words. */
  readonly faults: readonly string[];
};

type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly stdout: string; readonly stderr: string };

const run = (program: string, args: readonly string[]): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });

// Without --seccomp-bpf: under it, signals that are injected do not arrive everywhere.
const tracing = (log: string, inject: readonly string[]): string[] => [
  '-f',
  '-o',
  log,
  '-e',
  `trace=${all.join(',')}`,
  ...inject.flatMap((expression) => ['-e', `inject=${expression}`]),
];

/** How often an undisturbed process makes each call. */
async function countCalls(base: string): Promise<{ readonly counts: Record<Call, number>; readonly chain: readonly string[] }> {
  const dir = path.join(base, 'undisturbed');
  const log = path.join(base, 'calls.log');
  const { code, stderr } = await run('strace', [...tracing(log, []), process.execPath, governed, dir]);
  if (code !== 0) throw new Error(`the undisturbed process ended with ${code}: ${stderr}`);
  const text = readFileSync(log, 'utf8');
  const count = (names: readonly string[]) =>
    [...text.matchAll(/^\d+ +([a-z0-9]+)\(/gm)].filter(([, name]) => names.includes(name ?? '')).length;
  const db = openReadable(path.join(dir, 'pawl.db'), path.join(dir, 'blobs'));
  const chain = getChain(db, disturbedRun('').run).ids;
  db.close();
  return { counts: { sync: count(calls.sync), rename: count(calls.rename), write: count(calls.write) }, chain };
}

const marks = (stdout: string, what: string): string[] => [...stdout.matchAll(new RegExp(`^${what} (.*)$`, 'gm'))].map((m) => m[1] ?? '');

/**
 * `each` cases of every kind of `kinds`, at calls spread over the life of the process. After each: the invariants hold as the dead process
 * left the data folder, nothing that was acknowledged is gone, recovery ends what was open, and a process that goes on undisturbed ends at
 * the chain of one that nothing happened to, whose every decision can be made again. `random` gives numbers in [0, 1).
 */
export async function straceCampaign(
  each: number,
  kinds: readonly Injected[],
  random: () => number,
  log: (text: string) => void,
): Promise<StraceReport> {
  const faults: string[] = [];
  let cases = 0;
  let killed = 0;
  let told = 0;
  const base = mkdtempSync(path.join(tmpdir(), 'pawl-strace-'));
  try {
    const { counts, chain } = await countCalls(base);
    for (const { call, how } of kinds) {
      for (let i = 0; i < each; i++) {
        const n = 1 + Math.floor(((i + random()) / each) * counts[call]);
        const place = `${how} at ${call} ${n} of ${counts[call]}`;
        const fault = (what: string) => faults.push(`${place}: ${what}`);
        const dir = path.join(base, `case-${++cases}`);
        const expression = `${how === 'KILL' ? 'signal=KILL' : `error=${how}`}:when=${n}`;
        // Each call has a count of its own, so only the one that this system makes reaches n.
        const inject = calls[call].map((name) => `${name}:${expression}`);
        const ended = await run('strace', [...tracing('/dev/null', inject), process.execPath, governed, dir]);
        const failures = marks(ended.stdout, 'failed');
        told += failures.length;
        if (ended.signal === 'SIGKILL') killed++;
        else if (ended.code !== 0) fault(`it ended with ${ended.code}: ${ended.stderr.trim().slice(-500)}`);
        if (how === 'KILL' && ended.signal === null) fault('it was not killed');
        for (const failure of failures)
          if (!failure.includes(dir) || !/the disk (is full|reports an error)/.test(failure)) fault(`it was told "${failure}"`);
        await checkLeft(dir, Math.max(0, ...marks(ended.stdout, 'stored').map(Number)), fault);
        const next = ended.signal === 'SIGKILL' ? await run(process.execPath, [governed, dir]) : ended;
        if (next.code !== 0) fault(`going on ended with ${next.code}: ${next.stderr.trim().slice(-500)}`);
        await checkEnd(dir, chain, fault);
        log(`${place}: ${ended.signal ?? `exit ${ended.code}`}, ${failures.length} failures told`);
        rmSync(dir, { recursive: true, force: true });
      }
    }
    return { cases, killed, told, faults };
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** As the process left it, and after a recovery, twice. */
async function checkLeft(dir: string, acknowledged: number, fault: (what: string) => void): Promise<void> {
  const store = openDirectStore(dir);
  const broken = (when: string) => {
    const db = openReadable(path.join(dir, 'pawl.db'), path.join(dir, 'blobs'));
    for (const what of brokenInvariants(db)) fault(`${when}: ${what}`);
    db.close();
  };
  broken('as it was left');
  const stored = await store.lastJournal();
  if (stored < acknowledged) fault(`${acknowledged} writes were acknowledged, ${stored} are stored`);
  if (stored > acknowledged + 1) fault(`${stored} writes are stored, ${acknowledged} were acknowledged`);
  const at = new Date().toISOString();
  await store.recover(at);
  broken('after recovery');
  if ((await store.recover(at)).length > 0) fault('a second recovery found something');
  await store.close();
}

async function checkEnd(dir: string, chain: readonly string[], fault: (what: string) => void): Promise<void> {
  const { run: id, proposer } = disturbedRun('');
  const store = openDirectStore(dir);
  const stop = (await store.getSummary(id))?.stop;
  if (stop !== 'budget') fault(`in the end its stop is ${stop}`);
  const { ids } = await store.getChain(id);
  // What was lost took a part of the budget with it, so the chain may be shorter, and is never another.
  if (ids.some((bundle, seq) => bundle !== chain[seq])) fault('its chain is no beginning of the undisturbed one');
  const report = await replay(store, id, proposer);
  if (!report.ok) fault(`its decisions cannot be made again: ${JSON.stringify([...report.mismatches, ...report.missing].slice(0, 3))}`);
  const db = openReadable(path.join(dir, 'pawl.db'), path.join(dir, 'blobs'));
  for (const what of brokenInvariants(db)) fault(`in the end: ${what}`);
  const journal = lastJournal(db);
  db.close();
  if (journal < 3) fault('nothing is stored');
  await store.close();
}
