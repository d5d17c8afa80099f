// One execution of a `command` verifier: a fresh folder laid out like the task, a fixed environment, a process group of its own, and
// nothing left afterwards. The verifier is trusted; this bounds accidents (hangs, endless output, stray children). What it runs of a
// candidate runs in a sandbox.
import { spawn, type ChildProcess } from 'node:child_process';
import { hash } from 'node:crypto';
import { constants, mkdirSync, writeFileSync } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import path from 'node:path';
import type { SandboxRecord } from '#shared/domain/verdict.ts';
import { assertNever } from '#shared/lib/assert.ts';
import { isReportPath } from './adapters/report-path.ts';
import { noExecution, type CommandJob, type Execution } from './runner-contract.ts';
import { killByEnvironment, killGroup, listPids } from './process-tree.ts';
import { sandboxRecord, type SandboxBackend } from './sandbox/api.ts';
import {
  insideOf,
  missingInside,
  type Places,
  readFailedCalls,
  scratchBytes,
  writeCallScript,
  writeEnterScript,
} from './sandbox/launch.ts';
import { dropMemoryFolder, makeMemoryFolder } from './sandbox/memory-folder.ts';
import { watchMemory, type Watch } from './sandbox/memory-watch.ts';
import { giveTo, verifierOwner, type Owner } from './sandbox/unprivileged.ts';
import { codeOf, readBack, removeTree, tempFolder, writeFiles } from './temp-folder.ts';
import { messageOf } from '#shared/lib/message-of.ts';

/** Where a verifier's programs are looked for; also its PATH. */
export const verifierPath = '/usr/local/bin:/usr/bin:/bin';

// A shell sets the limits that Node cannot set and then becomes the verifier. Its own PWD is not part of the environment; a limit that
// the system already holds lower is left as it is. `ulimit -f` counts blocks of 512 bytes.
const launcher = 'unset PWD OLDPWD SHLVL; ulimit -c 0; ulimit -t "$1" || :; ulimit -f "$2" || :; shift 2; exec "$@"';

type Ended = {
  readonly ending: Execution['ending'];
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly message: string;
};

/** Runs `job`. Never rejects: what goes wrong is an ending. Resolves after every process that could be found is dead and the folder is gone. */
export async function runCommand(job: CommandJob, sandbox: SandboxBackend, signal: AbortSignal): Promise<Execution> {
  const startedAt = new Date().toISOString();
  let start = performance.now();
  let end: number | null = null;
  const output: Buffer[] = [];
  const stdout: Buffer[] = [];
  const toolReport = job.adapter?.report ?? null;
  let boxed: SandboxRecord | undefined;
  const result = (ended: Ended, rest: Partial<Execution> = {}): Execution => ({
    ...noExecution,
    startedAt,
    durationMs: (end ?? performance.now()) - start,
    output: output.length > 0 ? new Uint8Array(Buffer.concat(output)) : null,
    ...(boxed === undefined ? {} : { sandbox: boxed }),
    ...ended,
    ...rest,
  });
  const failed = (ending: Execution['ending'], message: string) => result({ ending, exitCode: null, signal: null, message });

  if (process.platform === 'win32')
    return failed('infra', 'command verifiers need Linux or macOS in this version; use runtime = "pure-js"');
  const owner = verifierOwner();
  if (typeof owner === 'string') return failed('infra', owner);
  if (job.isolation !== 'none') {
    const probe = await sandbox.probe();
    if (!probe.available) return failed('infra', probe.message);
    const missing = job.isolation === 'shared' ? missingInside(sandbox, job.program) : null;
    if (missing !== null) return failed('infra', missing);
    boxed = sandboxRecord(probe);
    start = performance.now();
  }
  if (job.places !== undefined && (job.isolation !== 'shared' || !sandbox.mapsPaths))
    return failed(
      'infra',
      `the verifier needs ${job.places.map(({ at }) => at).join(', ')}, which only a shared sandbox of Linux can have`,
    );
  const bytes = job.files.reduce((sum, file) => sum + file.bytes.length, 0);
  // A sandbox that maps no paths brings a /dev of its own, in which /dev/shm is another.
  const inMemory = job.isolation !== 'none' && sandbox.mapsPaths ? makeMemoryFolder(job.tmpDir, bytes) : null;
  const folder = tempFolder(inMemory ?? job.tmpDir, job.id);
  try {
    if (signal.aborted) return failed('aborted', '');
    const task = path.join(folder, 'task');
    const channel = path.join(folder, 'report');
    const home = path.join(folder, 'home');
    mkdirSync(folder, { mode: 0o700 });
    for (const made of [task, path.join(task, 'artifact'), channel, home]) mkdirSync(made);
    await writeFiles(task, job.files);
    const program = job.program.startsWith('verifier/') ? path.join(task, job.program) : job.program;
    try {
      await access(program, constants.X_OK);
    } catch {
      return failed('infra', `${job.program} is missing or not executable`);
    }
    if (performance.now() - start > job.setupMs) return failed('setup_timeout', '');
    if (signal.aborted) return failed('aborted', '');

    // Only now is there something to report to.
    const report = path.join(channel, 'report.json');
    writeFileSync(report, '', { flag: 'wx', mode: 0o600 });
    // A report of a tool must be of this execution: nothing that was laid out stands where it belongs.
    const named = toolReport === '-' ? null : toolReport;
    if (named !== null && !isReportPath(named)) return failed('infra', `the tool's report cannot be ${JSON.stringify(named)}`);
    if (named !== null) mkdirSync(path.dirname(path.join(task, named)), { recursive: true });
    const artifact = path.join(task, 'artifact');
    const laid = { folder, task, artifact, verifier: path.join(task, 'verifier'), report };
    const launch = await launchOf(job, sandbox, { ...laid, program, home, named });
    if (owner !== null) giveTo(owner, folder);
    start = performance.now();
    const ended = await execute(job, { ...launch, folder, owner, output, stdout }, signal);
    end = performance.now();
    const failedCalls = job.isolation === 'separate' ? await readFailedCalls(folder) : null;
    if (ended.ending === 'exited' && failedCalls !== null) return failed('infra', `the sandbox could not be started: ${failedCalls}`);

    const tampered: string[] = [];
    const canonical = new Map(job.files.map((file) => [file.path, file]));
    for (const guarded of job.guarded) {
      const file = canonical.get(guarded);
      if (file === undefined) continue;
      const now = await readBack(path.join(task, guarded), file.bytes.length);
      const same =
        now.kind === 'file' &&
        now.exec === (file.mode === 'exec') &&
        hash('sha256', now.bytes, 'hex') === hash('sha256', file.bytes, 'hex');
      if (!same) tampered.push(guarded);
    }
    if (toolReport === '-') return result(ended, { tampered, report: stdout.length > 0 ? new Uint8Array(Buffer.concat(stdout)) : null });
    // In a shared sandbox that maps paths the tool's file is the result channel, mounted at another place.
    const channelIsNamed = job.isolation === 'shared' && sandbox.mapsPaths;
    const file = named === null || channelIsNamed ? report : await fileBelow(task, named);
    return result(ended, { tampered, ...(await readReport(file, job.reportBytes)) });
  } catch (error) {
    return failed('infra', messageOf(error));
  } finally {
    // What cannot be removed now is removed when the data folder is opened the next time.
    await removeTree(folder).catch(() => {});
    if (job.isolation !== 'none') dropMemoryFolder(job.tmpDir);
  }
}

/** The path of a file of the tool; null where a folder on the way to it is missing or a link. */
async function fileBelow(task: string, named: string): Promise<string | null> {
  try {
    const folder = path.join(task, path.dirname(named));
    return (await realpath(folder)) === path.join(await realpath(task), path.dirname(named)) ? path.join(task, named) : null;
  } catch {
    return null;
  }
}

async function readReport(file: string | null, maxBytes: number): Promise<Pick<Execution, 'report' | 'reportProblem'>> {
  if (file === null) return { report: null, reportProblem: null };
  const found = await readBack(file, maxBytes);
  switch (found.kind) {
    case 'file':
      return { report: found.bytes, reportProblem: null };
    case 'missing':
      return { report: null, reportProblem: null };
    case 'too_large':
      return { report: null, reportProblem: `it is longer than ${maxBytes} bytes` };
    case 'not_regular':
      return { report: null, reportProblem: 'PAWL_REPORT is no regular file any more (a link, a pipe, or still being written)' };
    default:
      return assertNever(found, 'file');
  }
}

type Laid = {
  readonly folder: string;
  readonly task: string;
  readonly artifact: string;
  readonly verifier: string;
  readonly report: string;
  readonly home: string;
  readonly program: string;
  /** Path inside the task of the file that an adapter reads; null = the result channel. */
  readonly named: string | null;
};

type Command = { readonly program: string; readonly args: readonly string[]; readonly cwd: string; readonly env: Record<string, string> };

/** What is started for `job`: the verifier, or what takes it into a sandbox. */
async function launchOf(job: CommandJob, sandbox: SandboxBackend, laid: Laid): Promise<Command> {
  const given: Record<string, string> = {};
  for (const name of job.env) {
    const value = process.env[name];
    if (value !== undefined) given[name] = value;
  }
  const echo = { PAWL_NONCE: job.nonce, PAWL_TREE: job.tree, PAWL_CONTRACT: job.contract };
  const { memoryMb, cpuS, processes, fileMb } = job;
  const limits = { memoryMb, cpuS, processes, fileMb };
  const { program, task, artifact, report, home, named } = laid;
  if (job.isolation === 'shared') {
    const inside = insideOf(sandbox, laid, named);
    const env = { ...given, PAWL_CANDIDATE: inside.artifact, PAWL_REPORT: inside.report, ...echo };
    const enter = await writeEnterScript(sandbox, laid, limits, env, named, placesOf(job));
    // Its own environment is not seen inside; in it, it is found and ended when an engine has died.
    const outside = { PATH: verifierPath, PAWL_REPORT: report, PAWL_NONCE: job.nonce };
    return { program: enter, args: [job.program, ...job.args], cwd: laid.folder, env: outside };
  }
  const env: Record<string, string> = {
    ...given,
    PATH: verifierPath,
    HOME: home,
    TZ: 'UTC',
    LANG: 'C.UTF-8',
    PYTHONHASHSEED: '0',
    PYTHONDONTWRITEBYTECODE: '1',
    PAWL_CANDIDATE: artifact,
    PAWL_REPORT: named === null ? report : path.join(task, named),
    ...echo,
  };
  if (job.isolation === 'separate') env['PAWL_RUN'] = await writeCallScript(sandbox, laid, limits, job.outputBytes);
  return { program, args: job.args, cwd: task, env };
}

/** What is mounted for the job's places. An empty one has room for a copy of everything that was laid out, and as much as /task beside it. */
function placesOf({ places = [], files }: CommandJob): Places {
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
  return {
    folders: places.flatMap(({ at, from }) => (from === null ? [] : { from, target: at })),
    scratch: places.flatMap(({ at, from }) => (from === null ? { target: at, bytes: scratchBytes + bytes } : [])),
  };
}

type Launch = Command & { readonly folder: string; readonly owner: Owner | null; readonly output: Buffer[]; readonly stdout: Buffer[] };

/** From spawn until every process of the verification is dead. */
async function execute(
  job: CommandJob,
  { program, args, cwd, env, folder, owner, output, stdout }: Launch,
  signal: AbortSignal,
): Promise<Ended> {
  // The end of a sandbox that holds the whole verifier is the end of all it started.
  const before = job.isolation === 'shared' ? null : listPids();
  const blocks = String(job.fileMb * 2048);
  // A sandbox sets its limits itself.
  const argv = job.isolation === 'shared' ? args : ['-c', launcher, 'pawl', String(job.cpuS), blocks, program, ...args];
  const child = spawn(job.isolation === 'shared' ? program : '/bin/sh', argv, {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...owner,
  });
  const { pid } = child;
  if (pid === undefined) {
    const error = await new Promise<unknown>((resolve) => {
      child.once('error', resolve);
    });
    return { ending: 'infra', exitCode: null, signal: null, message: `the verifier could not be started (${codeOf(error)})` };
  }

  let forced: 'timeout' | 'output' | 'aborted' | 'out_of_memory' | null = null;
  const stop = (why: typeof forced) => {
    forced ??= why;
    killGroup(pid);
  };
  const onAbort = () => stop('aborted');
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const timer = setTimeout(() => stop('timeout'), job.runMs);
  const watch: Watch | null =
    job.isolation === 'none'
      ? null
      : watchMemory(pid, job.memoryMb, job.isolation === 'separate' ? { folder } : { onExceeded: () => stop('out_of_memory') });
  let bytes = 0;
  const collect = (chunk: Buffer) => {
    const room = job.outputBytes - bytes;
    bytes += chunk.length;
    if (room > 0) output.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    if (chunk.length > room) stop('output');
  };
  child.stdout.on('data', (chunk: Buffer) => {
    if (job.adapter?.report === '-') stdout.push(chunk);
    collect(chunk);
  });
  child.stderr.on('data', collect);

  const [exitCode, exitSignal] = await new Promise<[number | null, string | null]>((resolve) => {
    child.once('exit', (code, name) => resolve([code, name]));
  });
  watch?.stop();
  // The group first: children of a shell that ended by itself die with it as well.
  killGroup(pid);
  if (before !== null) await killByEnvironment(`PAWL_NONCE=${job.nonce}`, before);
  await drained(child);
  clearTimeout(timer);
  signal.removeEventListener('abort', onAbort);
  const cpu = exitSignal === 'SIGXCPU' ? `more than ${job.cpuS} s of processor time (limits.cpu_s)` : '';
  const file = exitSignal === 'SIGXFSZ' ? `a file of more than ${job.fileMb} MB (limits.file_mb)` : '';
  return { ending: forced ?? 'exited', exitCode, signal: exitSignal, message: cpu + file };
}

/** Longest wait for the end of the pipes once every process that was found is dead; one that escaped may hold them open for ever. */
const drainMs = 500;

async function drained(child: ChildProcess): Promise<void> {
  const ended = (stream: NodeJS.ReadableStream | null) =>
    new Promise<void>((resolve) => {
      if (stream === null || !stream.readable) resolve();
      else stream.once('close', () => resolve());
    });
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    Promise.all([ended(child.stdout), ended(child.stderr)]),
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, drainMs);
    }),
  ]);
  clearTimeout(timer);
  child.stdout?.destroy();
  child.stderr?.destroy();
}
