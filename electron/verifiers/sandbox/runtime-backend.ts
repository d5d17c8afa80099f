// The backend of systems that have no bubblewrap: Seatbelt on macOS, through `@anthropic-ai/sandbox-runtime`. Experimental: what it cannot
// hold is said by name, and its use stands in the header of a run and in every verdict. It works on Linux as well, where it is tested.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
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
import { writeCallScript } from './launch.ts';
import { remembering, runToEnd } from './probing.ts';
import { filesOf, innerScript, readableSystem, runtimeCommand, runtimeConfig } from './runtime-config.ts';
import { loadRuntimePackage, type RuntimePackage } from './runtime-package.ts';
import { probeWords, runtimeProbeScript } from './runtime-probe.ts';
import { giveTo, verifierOwner } from './unprivileged.ts';
import { messageOf } from '#shared/lib/message-of.ts';

const name = 'sandbox-runtime';

const shell = '/bin/bash';

const secretName = 'PAWL_PROBE_SECRET';

/** What the probe shows, and what no backend of this kind holds whatever a probe shows. */
const held: SandboxGuarantees = { ...noGuarantees, network: true, filesystem: true, cpu: true };

/** What is missing, in the words of a task's limits. */
const notEnforced =
  'limits.memory_mb, limits.processes, the end of processes that leave their group, a bound on all temporary files together, and a filter of system calls';

const probeLimits = { memoryMb: 256, cpuS: 10, processes: 32, fileMb: 1 };

/** Runs the assertions through PAWL_RUN itself. The text of what failed, or null. */
async function look(backend: Pick<SandboxBackend, 'command' | 'mapsPaths'>): Promise<string | null> {
  const owner = verifierOwner();
  if (typeof owner === 'string') return owner;
  const outside = await realpath(await mkdtemp(path.join(tmpdir(), 'pawl-probe-')));
  const writtenToo = path.join('/tmp/claude', path.basename(outside));
  const server = createServer((socket) => socket.destroy());
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const secret = path.join(outside, 'secret');
    const written = path.join(outside, path.basename(outside));
    const folder = path.join(outside, 'verification');
    const artifact = path.join(folder, 'artifact');
    mkdirSync(artifact, { recursive: true });
    writeFileSync(secret, 'secret\n');
    writeFileSync(path.join(artifact, 'file'), 'seen\n');
    const script = await writeCallScript(backend, { folder, artifact }, probeLimits, 65_536);
    if (owner !== null) giveTo(owner, outside);
    const argv = [homedir(), secret, written, String(port), String(process.pid), path.join(artifact, 'file'), secretName, ...probeWords];
    const ran = await runToEnd(script, ['--', shell, '-c', runtimeProbeScript, 'probe', ...argv], { [secretName]: 'seen' }, owner);
    const lines = (ran?.stdout ?? '').split('\n').filter((line) => line !== '');
    if (lines.at(-1) !== 'end')
      return `the probe did not come to its end (${ran?.stderr.trim().split('\n', 1)[0] ?? 'it could not be started'})`;
    const escaped = [written, writtenToo].filter(existsSync);
    if (escaped.length > 0) return `it does not hold what it must: filesystem: ${escaped.join(' and ')} could be written`;
    return lines.length === 1 ? null : `it does not hold what it must: ${lines.slice(0, -1).slice(0, 5).join('; ')}`;
  } finally {
    server.close();
    for (const made of [outside, writtenToo]) await rm(made, { recursive: true, force: true });
  }
}

/**
 * The backend for `platform`. The package is loaded, and set up in this process, by the first probe or command; `load` is for tests. Node
 * runs one such set-up in a process at a time.
 */
export function createSandboxRuntime(
  platform: 'darwin' | 'linux',
  load: () => Promise<RuntimePackage> = loadRuntimePackage,
): SandboxBackend {
  const system = readableSystem[platform];
  let ready: Promise<RuntimePackage> | null = null;
  const loaded = (): Promise<RuntimePackage> => {
    ready ??= (async () => {
      const found = await load();
      const missing = await found.missing();
      if (missing.length > 0) throw new Error(missing.join('; '));
      await found.initialize(runtimeConfig(system));
      return found;
    })();
    // What is missing may be installed meanwhile.
    ready.catch(() => {
      ready = null;
    });
    return ready;
  };
  const command = async (spec: SandboxSpec): Promise<SandboxCommand> => {
    // On Linux the package starts helpers of its own inside.
    const files = (folder: string) => filesOf(spec, system, [path.join(folder, 'vendor')]);
    const inner = innerScript(spec);
    const found = await loaded();
    return runtimeCommand(await found.wrap(inner, shell, files(found.folder)));
  };
  const probe = async (): Promise<SandboxProbe> => {
    const missing = (message: string, version: string | null = null): SandboxProbe => ({
      available: false,
      backend: name,
      version,
      experimental: true,
      guarantees: noGuarantees,
      message,
      remedy: null,
    });
    let version: string | null = null;
    try {
      ({ version } = await loaded());
      const failed = await look({ command, mapsPaths: false });
      if (failed !== null) return missing(`${name} ${version} (experimental): ${failed}`, version);
    } catch (error) {
      return missing(`${name} (experimental) cannot be used: ${messageOf(error)}`, version);
    }
    const message = `${name} ${version} (experimental): probed; not enforced here: ${notEnforced}`;
    return { available: true, backend: name, version, experimental: true, guarantees: held, message, remedy: null };
  };
  return {
    name,
    mapsPaths: false,
    command,
    probe: remembering(probe),
    sees: (program) => system.some((folder) => program.startsWith(`${folder}/`)),
    close: async () => {
      const found = await ready?.catch(() => null);
      ready = null;
      await found?.reset();
    },
  };
}
