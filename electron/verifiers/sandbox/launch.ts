// From a verification that was laid out in a folder to what the runner starts for it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { SandboxBackend, SandboxCommand, SandboxLimits, SandboxSpec } from './api.ts';
import { callScript, callsFolder, enterScript, failedFile } from './call-script.ts';
import type { SystemLayout } from './bubblewrap-argv.ts';
import { firstOf, isSystemPath, systemLayout } from './system-layout.ts';

/** How far the candidate is kept from the verifier: not at all (it is not run, or the user said so), in one sandbox, in two. */
export type Isolation = 'none' | 'shared' | 'separate';

export type Laid = {
  /** Of the verification; nobody but us writes directly into it. */
  readonly folder: string;
  /** Absolute path of the candidate's files. */
  readonly artifact: string;
  /** Absolute path of the verifier's files. */
  readonly verifier: string;
  /** Absolute path of the result channel, an empty file. */
  readonly report: string;
};

/** Writes `script` (absolute, new) with `text`, and what it reads beside it. */
export function writeScript(script: string, { files }: Pick<SandboxCommand, 'files'>, text: string): string {
  for (const [name, bytes] of Object.entries(files))
    writeFileSync(path.join(path.dirname(script), name), bytes, { flag: 'wx', mode: 0o600 });
  writeFileSync(script, text, { flag: 'wx', mode: 0o700 });
  return script;
}

/** PAWL_RUN for a verifier that runs candidates: a program of ours that runs its arguments in a sandbox of their own. */
export function writeCallScript(
  backend: SandboxBackend,
  { folder, artifact }: Pick<Laid, 'folder' | 'artifact'>,
  limits: SandboxLimits,
  outputBytes: number,
): string {
  const spec: SandboxSpec = {
    readOnly: [{ source: artifact, target: artifact }],
    writableFiles: [],
    scratch: [],
    cwd: artifact,
    env: {},
    limits,
  };
  const command = backend.command(spec);
  const head = firstOf('/usr/bin/head', '/bin/head');
  if (head === null) throw new Error('head (of coreutils) is not installed; it caps what a candidate writes');
  const unbuffered = firstOf('/usr/libexec/coreutils/libstdbuf.so', '/usr/lib/coreutils/libstdbuf.so');
  const place = path.join(folder, 'call');
  mkdirSync(path.join(place, callsFolder), { recursive: true });
  return writeScript(path.join(place, 'run'), command, callScript(command, { head, unbuffered }, outputBytes));
}

/** Where things are inside a shared sandbox. */
export const inside = { task: '/task', artifact: '/task/artifact', verifier: '/task/verifier', report: '/report.json' } as const;

/** Working space of a shared sandbox beside /tmp, where a tool may write its files. */
const taskBytes = 64 * 1024 * 1024;

/**
 * A program of ours that runs its arguments, the verifier, in one sandbox with the candidate. Both see the same read-only files; what they
 * write is gone afterwards, except for the result channel, which is one file, at `reportAt` inside.
 */
export function writeEnterScript(
  backend: SandboxBackend,
  { folder, artifact, verifier, report }: Laid,
  limits: SandboxLimits,
  env: Readonly<Record<string, string>>,
  reportAt: string = inside.report,
): string {
  const command = backend.command({
    readOnly: [
      { source: artifact, target: inside.artifact },
      { source: verifier, target: inside.verifier },
    ],
    writableFiles: [{ source: report, target: reportAt }],
    scratch: [{ target: inside.task, bytes: taskBytes }],
    cwd: inside.task,
    env,
    limits,
  });
  const place = path.join(folder, 'call');
  mkdirSync(place);
  return writeScript(path.join(place, 'enter'), command, enterScript(command));
}

let system: SystemLayout | null = null;

/** Why `program` cannot be started inside a shared sandbox; null when it can. */
export function missingInside(program: string): string | null {
  system ??= systemLayout();
  if (program.startsWith('verifier/') || isSystemPath(program, system)) return null;
  return `${program} is not part of the system that a sandbox can see (/usr); with isolation = "shared" the verifier's program must be`;
}

/** What kept calls of PAWL_RUN from being made; null when all were. */
export async function readFailedCalls(folder: string): Promise<string | null> {
  try {
    return (await readFile(path.join(folder, 'call', failedFile), 'utf8')).split('\n', 1)[0]?.slice(0, 500) ?? '';
  } catch {
    return null;
  }
}
