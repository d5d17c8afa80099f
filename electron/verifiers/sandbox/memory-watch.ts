// RLIMIT_DATA binds each process; this binds their sum. Without a cgroup of our own the kernel offers nothing better than looking: every
// 100 ms the memory of everything below each sandbox is added up, so that what is allocated between two looks comes on top of the limit.
// Not seen: pages of a tmpfs or a memfd that nobody has mapped (the tmpfs have sizes, a memfd is held to `file_mb`).
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { callsFolder } from './call-script.ts';

const intervalMs = 100;

type Process = { readonly pid: number; readonly parent: number; readonly name: string; readonly kb: number };

/** Children of all threads of `pid`; empty where the kernel does not say (CONFIG_PROC_CHILDREN). */
function childrenOf(pid: number): number[] {
  const found: number[] = [];
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const text = readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').trim();
      if (text !== '') found.push(...text.split(' ').map(Number));
    }
  } catch {
    // Gone meanwhile.
  }
  return found;
}

function look(pid: number): Process | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const field = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(status)?.[1] ?? 0);
    const name = /^Name:\s*(.*)$/m.exec(status)?.[1] ?? '';
    return { pid, parent: field('PPid'), name, kb: field('RssAnon') + field('RssShmem') };
  } catch {
    return null;
  }
}

/** Memory of everything below `pid`, in KB. */
function below(pid: number): number {
  let kb = 0;
  for (const child of childrenOf(pid)) kb += (look(child)?.kb ?? 0) + below(child);
  return kb;
}

/** The topmost processes called bwrap at or below `pid`: a name that a candidate gives itself lies deeper. */
function sandboxesOf(pid: number): Process[] {
  const here = look(pid);
  if (here === null) return [];
  return here.name === 'bwrap' ? [here] : childrenOf(pid).flatMap(sandboxesOf);
}

export type Watch = { stop(): void };

/**
 * Watches the sandboxes that `root` starts, or is. One that holds more than `memoryMb` is ended: a call of PAWL_RUN (`folder` is that of its
 * script) gives 137 then and the verifier goes on; otherwise `onExceeded` is called.
 */
export function watchMemory(root: number, memoryMb: number, how: { readonly folder: string } | { onExceeded(): void }): Watch {
  const timer = setInterval(() => {
    for (const { pid, parent } of sandboxesOf(root)) {
      if (below(pid) <= memoryMb * 1024) continue;
      if (!('folder' in how)) {
        how.onExceeded();
        return;
      }
      try {
        appendFileSync(path.join(how.folder, 'call', callsFolder, `${parent}.status`), '{ "exit-code": 137 }\n', { flag: 'a' });
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
  }, intervalMs);
  return { stop: () => clearInterval(timer) };
}
