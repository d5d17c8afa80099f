// Ends everything that a verifier started. A process group reaches most of it; what left the group (setsid, a daemon) still carries the
// nonce of its verification in its environment and is found through /proc. Limits: a process that leaves the group *and* starts its last
// program with another environment is not found, and where there is no /proc (macOS) only the group is ended. Verifiers are trusted code;
// candidates run in a sandbox, where the end of a pid namespace is the end of all.
import { readdirSync, readFileSync } from 'node:fs';

/** Pids of this machine; empty where there is no /proc. */
export function listPids(): Set<number> {
  const pids = new Set<number>();
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return pids;
  }
  for (const name of names) {
    const pid = Number(name);
    if (Number.isInteger(pid)) pids.add(pid);
  }
  return pids;
}

/** Processes outside `known` whose environment holds `entry` (NAME=value, or a beginning of it when `prefix`). Our own process never counts. */
export function findByEnvironment(entry: string, known: ReadonlySet<number>, prefix = false): number[] {
  const found: number[] = [];
  // Compared as bytes: a folder's name need not be ASCII.
  const needle = Buffer.from(`\0${entry}${prefix ? '' : '\0'}`).toString('latin1');
  for (const pid of listPids()) {
    if (known.has(pid) || pid === process.pid) continue;
    try {
      // A process that has ended but was not waited for reads as empty.
      if (`\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`.includes(needle)) found.push(pid);
    } catch {
      // Gone meanwhile, or somebody else's.
    }
  }
  return found;
}

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
};

/** Kills the process group that `leader` leads. */
export function killGroup(leader: number): void {
  kill(-leader);
}

const rounds = 50;

/**
 * Kills what carries `entry` in its environment until nothing does, new children included; gives up after 50 rounds (about 100 ms).
 * `known` are pids that cannot be meant, such as those that ran before the verification began.
 */
export async function killByEnvironment(entry: string, known: ReadonlySet<number>, prefix = false): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const found = findByEnvironment(entry, known, prefix);
    if (found.length === 0) return;
    for (const pid of found) kill(pid);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
