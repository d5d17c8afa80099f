// From a verification that was laid out in a folder to what the runner starts for it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { SandboxBackend, SandboxCommand, SandboxLimits, SandboxSpec } from './api.ts';
import { callScript, callsFolder, enterScript, failedFile } from './call-script.ts';
import { firstOf } from './system-layout.ts';

export type Laid = {
  /** Of the verification; nobody but us writes directly into it. */
  readonly folder: string;
  /** Absolute path of the task in it, which is the working folder. */
  readonly task: string;
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
export async function writeCallScript(
  backend: Pick<SandboxBackend, 'command' | 'mapsPaths'>,
  { folder, artifact }: Pick<Laid, 'folder' | 'artifact'>,
  limits: SandboxLimits,
  outputBytes: number,
): Promise<string> {
  const place = path.join(folder, 'call');
  mkdirSync(path.join(place, callsFolder), { recursive: true });
  const own = backend.mapsPaths ? null : path.join(place, 'tmp');
  if (own !== null) mkdirSync(own);
  const spec: SandboxSpec = {
    readOnly: [{ source: artifact, target: artifact }],
    writableFiles: [],
    scratch: own === null ? [] : [{ target: own, bytes: scratchBytes }],
    cwd: artifact,
    home: own ?? '/tmp',
    env: {},
    limits,
  };
  const command = await backend.command(spec);
  const head = firstOf('/usr/bin/head', '/bin/head');
  if (head === null) throw new Error('head (of coreutils) is not installed; it caps what a candidate writes');
  const unbuffered = firstOf('/usr/libexec/coreutils/libstdbuf.so', '/usr/lib/coreutils/libstdbuf.so');
  return writeScript(path.join(place, 'run'), command, callScript(command, { head, unbuffered }, outputBytes));
}

/** Working space of a shared sandbox beside /tmp, where a tool may write its files; where paths are not mapped nothing binds it. */
export const scratchBytes = 64 * 1024 * 1024;

/** Where things are inside a shared sandbox. */
export type Inside = { readonly task: string; readonly artifact: string; readonly report: string };

/** Inside a shared sandbox of `backend`, for what is laid out at `laid`; `named` is where the report of a tool belongs, in the task. */
export function insideOf(
  { mapsPaths }: Pick<SandboxBackend, 'mapsPaths'>,
  { task, artifact, report }: Pick<Laid, 'task' | 'artifact' | 'report'>,
  named: string | null,
): Inside {
  const own = mapsPaths ? { task: '/task', artifact: '/task/artifact', report: '/report.json' } : { task, artifact, report };
  return named === null ? own : { ...own, report: `${own.task}/${named}` };
}

/** What a shared sandbox that maps paths has at places of its own: folders of the task, read-only, and empty folders. */
export type Places = {
  /** `from` is a path in the task. */
  readonly folders: readonly { readonly from: string; readonly target: string }[];
  readonly scratch: SandboxSpec['scratch'];
};

const noPlaces: Places = { folders: [], scratch: [] };

/**
 * A program of ours that runs its arguments, the verifier, in one sandbox with the candidate. Both see the same read-only files; what they
 * write is gone afterwards, except for the result channel. Where paths are mapped that is one file, wherever it stands inside; where they
 * are not, the report of a tool (`named`) is written to where it belongs, in the task's own folder.
 */
export async function writeEnterScript(
  backend: SandboxBackend,
  laid: Laid,
  limits: SandboxLimits,
  env: Readonly<Record<string, string>>,
  named: string | null = null,
  places: Places = noPlaces,
): Promise<string> {
  const { folder, task, artifact, verifier, report } = laid;
  const inside = insideOf(backend, laid, named);
  const place = path.join(folder, 'call');
  mkdirSync(place);
  const own = path.join(place, 'tmp');
  if (!backend.mapsPaths) mkdirSync(own);
  const command = await backend.command({
    readOnly: [
      { source: artifact, target: inside.artifact },
      { source: verifier, target: `${inside.task}/${path.relative(task, verifier)}` },
      ...places.folders.map(({ from, target }) => ({ source: path.join(task, from), target })),
    ],
    writableFiles: backend.mapsPaths || named === null ? [{ source: report, target: inside.report }] : [],
    scratch: [
      { target: inside.task, bytes: scratchBytes },
      ...places.scratch,
      ...(backend.mapsPaths ? [] : [{ target: own, bytes: scratchBytes }]),
    ],
    cwd: inside.task,
    home: backend.mapsPaths ? '/tmp' : own,
    env,
    limits,
  });
  return writeScript(path.join(place, 'enter'), command, enterScript(command));
}

/** Why `program` cannot be started inside a shared sandbox; null when it can. */
export function missingInside(backend: Pick<SandboxBackend, 'sees'>, program: string): string | null {
  if (program.startsWith('verifier/') || backend.sees(program)) return null;
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
