// The bubblewrap backend: Linux, bubblewrap 0.8 or later, user namespaces.
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import {
  noGuarantees,
  type SandboxBackend,
  type SandboxCommand,
  type SandboxGuarantees,
  type SandboxProbe,
  type SandboxSpec,
} from './api.ts';
import { bubblewrapCommand, type BubblewrapTools } from './bubblewrap-argv.ts';
import { enterScript } from './call-script.ts';
import { writeScript } from './launch.ts';
import { probeScript } from './probe-script.ts';
import { cannotSetUp, type Finding, notInstalled, thisMachine, tooOld } from './remedies.ts';
import { type Ran, remembering, runToEnd } from './probing.ts';
import { firstOf, isSystemPath, systemLayout } from './system-layout.ts';
import { systemCallFilter } from './system-calls.ts';
import { giveTo, type Owner, verifierOwner } from './unprivileged.ts';

const name = 'bubblewrap';

const secretName = 'PAWL_PROBE_SECRET';

const probeSpec: SandboxSpec = {
  readOnly: [],
  writableFiles: [],
  scratch: [{ target: '/scratch', bytes: 1024 * 1024 }],
  cwd: '/scratch',
  home: '/tmp',
  env: {},
  limits: { memoryMb: 256, cpuS: 10, processes: 32, fileMb: 1 },
};

/** Runs the assertions the way a verifier is run. */
async function runInside(command: SandboxCommand, owner: Owner | null): Promise<Ran | null> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pawl-probe-'));
  try {
    const script = writeScript(path.join(folder, 'enter'), command, enterScript(command));
    if (owner !== null) giveTo(owner, folder);
    const argv = ['/bin/sh', '-c', probeScript, 'probe', homedir(), secretName];
    return await runToEnd('/bin/sh', [script, ...argv], { [secretName]: 'seen' }, owner);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Whether the text of `bwrap --version` says 0.8.0 or later. */
export function isRecent(version: string): boolean {
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(major) > 0 || Number(minor) >= 8;
}

/** What the lines of `probeScript` mean; everything is missing when it did not come to its end. */
export function guaranteesOf(stdout: string): { readonly guarantees: SandboxGuarantees; readonly failures: readonly string[] } {
  const lines = stdout.split('\n').filter((line) => line !== '');
  if (lines.at(-1) !== 'end') return { guarantees: noGuarantees, failures: ['the probe did not come to its end'] };
  const failures = lines.slice(0, -1);
  const holds = (guarantee: keyof SandboxGuarantees) => !failures.some((line) => line.startsWith(`${guarantee}:`));
  const guarantees = {
    network: holds('network'),
    filesystem: holds('filesystem'),
    scratch: holds('scratch'),
    processes: holds('processes'),
    memory: holds('memory'),
    cpu: holds('cpu'),
    systemCalls: holds('systemCalls'),
  };
  return { guarantees, failures };
}

const seenIn = (text: string): string => text.trim().split('\n', 1)[0]?.slice(0, 200) ?? '';

/** The backend; `bwrapPaths` is where bubblewrap is looked for, in this order, `filter` is that of this machine's system calls. */
export function createBubblewrap(
  bwrapPaths: readonly string[] = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap'],
  filter: Uint8Array | null = systemCallFilter(process.arch),
): SandboxBackend {
  let known: BubblewrapTools | null = null;
  // Until a probe finds that this kernel takes none.
  let used = filter;
  const tools = (): BubblewrapTools | Finding => {
    if (known !== null) return known;
    const bwrap = firstOf(...bwrapPaths);
    if (bwrap === null) return notInstalled(thisMachine);
    const prlimit = firstOf('/usr/bin/prlimit', '/bin/prlimit');
    if (prlimit === null) return { message: 'prlimit (of util-linux) is not installed; it sets the limits of the sandbox', remedy: null };
    known = { bwrap, prlimit, system: systemLayout() };
    return known;
  };
  const command = (spec: SandboxSpec): SandboxCommand => {
    const found = tools();
    if ('message' in found) throw new RangeError(found.message);
    return bubblewrapCommand(spec, found, used);
  };

  const look = async (): Promise<SandboxProbe> => {
    const missing = ({ message, remedy }: Finding, version: string | null = null): SandboxProbe => ({
      available: false,
      backend: name,
      version,
      experimental: false,
      guarantees: noGuarantees,
      message: remedy === null ? message : `${message}; this would change it: ${remedy}`,
      remedy,
    });
    const found = tools();
    if ('message' in found) return missing(found);
    const owner = verifierOwner();
    if (typeof owner === 'string') return missing({ message: owner, remedy: null });
    const asked = await runToEnd(found.bwrap, ['--version'], {}, owner);
    const version = /\d[\w.+~-]*/.exec(asked?.stdout ?? '')?.[0] ?? null;
    if (version === null) return missing({ message: `${found.bwrap} --version says nothing that could be understood`, remedy: null });
    if (!isRecent(version)) return missing(tooOld(thisMachine, version), version);

    const filtered = filter === null ? null : await runInside(bubblewrapCommand(probeSpec, found, filter), owner);
    // A kernel that takes no filter is no reason to run nothing; everything else would fail without the filter as well.
    const refused = filtered !== null && filtered.stdout === '' && /seccomp/i.test(filtered.stderr);
    const ran = filtered === null || refused ? await runInside(bubblewrapCommand(probeSpec, found, null), owner) : filtered;
    if (ran === null) return missing({ message: 'there is no /bin/sh', remedy: null }, version);
    if (ran.stdout === '') return missing(cannotSetUp(thisMachine, ran.stderr), version);
    used = ran === filtered ? filter : null;
    const { guarantees, failures } = guaranteesOf(ran.stdout);
    const fatal = failures.filter((line) => !line.startsWith('systemCalls:'));
    if (fatal.length > 0) {
      const message = `bubblewrap ${version} runs, and does not hold what it must: ${fatal.slice(0, 5).join('; ')}`;
      return { available: false, backend: name, version, experimental: false, guarantees, message, remedy: null };
    }
    const why = filter === null ? `there is none for ${process.arch}` : refused ? seenIn(filtered.stderr) : seenIn(failures.join('; '));
    const unfiltered = guarantees.systemCalls ? '' : `, without a filter of system calls (${why})`;
    const as = owner === null ? '' : `, as user ${owner.uid} because Pawl is root`;
    const message = `bubblewrap ${version}: probed and holding${unfiltered}${as}`;
    return { available: true, backend: name, version, experimental: false, guarantees, message, remedy: null };
  };

  return {
    name,
    mapsPaths: true,
    // A throw inside is a rejection for every caller.
    command: async (spec) => command(spec),
    probe: remembering(look),
    sees: (program) => {
      const found = tools();
      return !('message' in found) && isSystemPath(program, found.system);
    },
    close: () => Promise.resolve(),
  };
}
