// The bubblewrap command line, from a spec. Pure but for the layout of the system's own folders, which the caller hands in.
// Rules behind it: nothing is mounted, made or linked beneath anything that a candidate could have written (bubblewrap before 0.12 follows
// such links out of the new root while it still has the old one, CVE-2026-87766); every tmpfs is given a size, because the default is half
// of the machine's memory; and the root, /dev and everything of ours is read-only in the end.
import { systemPlaces } from '#shared/domain/places.ts';
import type { SandboxCommand, SandboxSpec } from './api.ts';
import { checkEnvironment, environmentOf, isPlainPath } from './spec-rules.ts';
import { quote } from './quote.ts';

/** The folders of the system that every program needs: bound where they are real, linked where they are links (merged /usr). */
export type SystemLayout = {
  /** Bound read-only at their own path, such as `/usr`, and `/bin` where it is a folder of its own. */
  readonly folders: readonly string[];
  /** Links in the root, such as `/bin` to `usr/bin`. */
  readonly links: readonly { readonly path: string; readonly to: string }[];
  /** Single files, such as the linker's cache. */
  readonly files: readonly string[];
};

const mb = 1024 * 1024;

const words = (text: string): string[] => text.split(' ');

/** Scratch space that every sandbox has at /tmp; /dev/shm has a quarter of it. */
const tmpBytes = 64 * mb;

/** Fresh tmpfs in every sandbox: a bind may have a place in them. */
const scratchParents = ['/tmp', '/dev/shm'];

const beneath = (child: string, parent: string): boolean => child.startsWith(`${parent}/`);

function check({ readOnly, writableFiles, scratch, cwd, home, env }: SandboxSpec): void {
  const binds = [...readOnly, ...writableFiles];
  const targets = [...binds, ...scratch].map(({ target }) => target);
  for (const [i, target] of targets.entries()) {
    if (!isPlainPath(target)) throw new RangeError(`${JSON.stringify(target)} is no absolute path without "." and ".."`);
    if (
      systemPlaces.some((path) => target === path || (beneath(target, path) && !scratchParents.some((parent) => beneath(target, parent))))
    )
      throw new RangeError(`${target} belongs to the system of the sandbox`);
    if (targets.indexOf(target) < i) throw new RangeError(`${target} is mounted twice`);
  }
  for (const { target } of binds) {
    const below = targets.find((other) => beneath(other, target));
    if (below !== undefined) throw new RangeError(`${below} would be mounted beneath ${target}`);
  }
  for (const { source } of binds) {
    if (!isPlainPath(source)) throw new RangeError(`${JSON.stringify(source)} is no absolute path without "." and ".."`);
  }
  if (!isPlainPath(cwd)) throw new RangeError(`${JSON.stringify(cwd)} is no working folder`);
  if (home !== '/tmp' && !scratch.some(({ target }) => target === home)) throw new RangeError(`${home} is no scratch space`);
  checkEnvironment(env);
}

/** Everything between the program and what runs inside: `options`, then `--`, then `prefix`, then the argv. */
export type BubblewrapArgv = { readonly options: readonly string[]; readonly prefix: readonly string[] };

/**
 * The command line of `spec`. What runs inside is a child of a shell that is process 1 of the sandbox: when that shell ends, the kernel ends
 * every other process of the pid namespace before anybody outside can see the end. bubblewrap itself is not visible inside, so neither is
 * its environment.
 */
export function bubblewrapArgv(spec: SandboxSpec, { prlimit, system }: BubblewrapTools): BubblewrapArgv {
  check(spec);
  const { memoryMb, cpuS, processes, fileMb } = spec.limits;
  const tmpfs = (target: string, bytes: number) => ['--size', String(Math.max(bytes, 4096)), '--tmpfs', target];
  const env = environmentOf(spec);
  return {
    options: [
      ...words('--unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup-try'),
      ...words('--disable-userns --die-with-parent --new-session --as-pid-1 --cap-drop ALL --hostname sandbox --clearenv'),
      ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
      ...system.folders.flatMap((path) => ['--ro-bind', path, path]),
      ...system.links.flatMap(({ path, to }) => ['--symlink', to, path]),
      ...system.files.flatMap((path) => ['--ro-bind', path, path]),
      // Read-only: nothing inside may write to a memory of another process, or take back what was said about itself (oom_score_adj).
      ...words('--proc /proc --remount-ro /proc --dev /dev'),
      ...tmpfs('/dev/shm', tmpBytes / 4),
      ...words('--remount-ro /dev'),
      ...tmpfs('/tmp', tmpBytes),
      // Folders of ours before what is mounted into them; all of it before anything runs inside.
      ...spec.scratch.flatMap(({ target, bytes }) => tmpfs(target, bytes)),
      ...spec.readOnly.flatMap(({ source, target }) => ['--ro-bind', source, target]),
      ...spec.writableFiles.flatMap(({ source, target }) => ['--bind', source, target]),
      '--chdir',
      spec.cwd,
      ...words('--remount-ro /'),
    ],
    prefix: [
      '/bin/sh',
      '-c',
      '"$@"; exit $?',
      'sh',
      prlimit,
      // The shell and prlimit's child count as well.
      `--nproc=${processes + 1}`,
      `--fsize=${fileMb * mb}`,
      `--nofile=256`,
      '--core=0',
      `--cpu=${cpuS}`,
      `--data=${memoryMb * mb}`,
      '--',
    ],
  };
}

export type BubblewrapTools = { readonly bwrap: string; readonly prlimit: string; readonly system: SystemLayout };

/** What stands beside the script: the options, each ended by NUL, as bubblewrap reads them from a file. */
const argvFile = 'argv';
/** The filter of system calls. */
const filterFile = 'filter';

/**
 * How a script starts `spec`: the options in a file, because the command line of a process can be read by everybody on the machine, and the
 * filter in another. `filter` is null where there is none for this machine.
 */
export function bubblewrapCommand(spec: SandboxSpec, tools: BubblewrapTools, filter: Uint8Array | null): SandboxCommand {
  const { options, prefix } = bubblewrapArgv(spec, tools);
  const all = filter === null ? options : [...options, '--seccomp', '7'];
  const argv = new TextEncoder().encode(all.map((word) => `${word}\0`).join(''));
  const inside = `-- ${prefix.map(quote).join(' ')} "$@" 9< "$dir/${argvFile}"${filter === null ? '' : ` 7< "$dir/${filterFile}"`}`;
  return {
    files: { [argvFile]: argv, ...(filter === null ? {} : { [filterFile]: filter }) },
    run: `${quote(tools.bwrap)} --args 9 ${inside}`,
    runReporting: `${quote(tools.bwrap)} --args 9 --json-status-fd 8 ${inside}`,
  };
}
