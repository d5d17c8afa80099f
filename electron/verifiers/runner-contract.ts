// What the engine asks of the runner process. Both are always of one build, so the name of the protocol stands for its table.
import { z } from 'zod';
import { command, query } from '#shared/contract/procedure.ts';
import { Count, Sha } from '#shared/domain/ids.ts';
import { SandboxRecord } from '#shared/domain/verdict.ts';
import { ProgramJob, ProgramRun } from './program-contract.ts';
import { SandboxProbe } from './sandbox/api.ts';

export const runnerProtocol = 'pawl.runner/1';

/** What a tool leaves for an adapter, and what a call of `pawl.run` returns, may be this long. */
export const maxReportBytes = 8 * 1024 * 1024;

/** A verifier's own report may be this long whatever `limits.output_kb` says, which above it binds the report as well. */
const alwaysReportBytes = 1024 * 1024;

/** How long a report may be that a verifier itself writes; more is malformed. `outputKb`: the contract's limit, in KiB. */
export const ownReportBytes = (outputKb: number): number => Math.min(Math.max(outputKb * 1024, alwaysReportBytes), maxReportBytes);

const Bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'bytes');

const FileIn = z.strictObject({ path: z.string().min(1), mode: z.enum(['file', 'exec']), bytes: Bytes });
export type FileIn = z.infer<typeof FileIn>;

/** What turns a tool's own report into the one that is judged; see adapters/. */
export const AdapterSpec = z.strictObject({
  name: z.string(),
  /** Path inside the task's folder of the file that the tool writes; `-` = its standard output; null = the file that PAWL_REPORT names. */
  report: z.string().nullable(),
  obligations: z.array(
    z.strictObject({ key: z.string(), cap: z.int().min(1), kind: z.enum(['binary', 'count', 'ordinal']), from: z.string() }),
  ),
  advisory: z.array(z.string()),
  parseMs: z.int().min(1),
});
export type AdapterSpec = z.infer<typeof AdapterSpec>;

const Common = z.strictObject({
  /** Names the temporary folder; unique. */
  id: z.string().regex(/^[a-z0-9_-]{1,64}$/),
  nonce: z.string().regex(/^[0-9a-f]{16,128}$/),
  tree: Sha,
  contract: Sha,
  /** Paths as in the task folder: `artifact/...` and `verifier/...`. */
  files: z.array(FileIn),
  runMs: z.int().min(1),
});

export const PureJsJob = Common.extend({
  runtime: z.literal('pure-js'),
  /** The verifier's program, one of `files`. */
  file: z.string(),
  reportBytes: z.int().min(1),
  memoryMb: z.int().min(1),
  /** Whether `pawl.run` is there, which runs candidate code in a QuickJS of its own. */
  runsCandidate: z.boolean(),
});
export type PureJsJob = z.infer<typeof PureJsJob>;

export const CommandJob = Common.extend({
  runtime: z.literal('command'),
  /** Absolute, or relative to the task where it begins with `verifier/`. */
  program: z.string().min(1),
  args: z.array(z.string()),
  /** Absolute path of an existing folder of ours, under which a fresh one is made and removed. */
  tmpDir: z.string().min(1),
  /** Names of environment variables that are passed on. */
  env: z.array(z.string()),
  /** Paths whose bytes and modes must be the same after the run. */
  guarded: z.array(z.string()),
  setupMs: z.int().min(1),
  outputBytes: z.int().min(1),
  /** Of the file that is the result channel. */
  reportBytes: z.int().min(1),
  /** `none`: the verifier runs nothing of the candidate, or the user has said that it may do so without a sandbox. */
  isolation: z.enum(['none', 'shared', 'separate']),
  cpuS: z.int().min(1),
  fileMb: z.int().min(1),
  /** Bind what runs in a sandbox. */
  memoryMb: z.int().min(1),
  processes: z.int().min(1),
  adapter: z.exactOptional(AdapterSpec),
  /** Fixed places of a shared sandbox, see shared/domain/places.ts. */
  places: z.exactOptional(z.array(z.strictObject({ at: z.string(), from: z.string().nullable() }))),
});
export type CommandJob = z.infer<typeof CommandJob>;

/** Nothing is started: an adapter looks at the files. */
export const FilesJob = Common.extend({ runtime: z.literal('files'), adapter: AdapterSpec });
export type FilesJob = z.infer<typeof FilesJob>;

export const VerifyJob = z.discriminatedUnion('runtime', [PureJsJob, CommandJob, FilesJob]);
export type VerifyJob = z.infer<typeof VerifyJob>;

/** How an execution ended, before anybody judged its report. */
export const Ending = z.enum([
  /** A command's process ended by itself; see exitCode and signal. */
  'exited',
  /** verify() returned, or an adapter that needs no tool; `report` is the JSON text of what it returned. */
  'returned',
  /** verify() threw, or the program is none. */
  'threw',
  'out_of_memory',
  /** Longer than timeouts_ms.run. */
  'timeout',
  /** Longer than timeouts_ms.setup before anything ran. */
  'setup_timeout',
  /** More output than limits.output_kb. */
  'output',
  'aborted',
  /** The machine's fault: disk full, no such program, a runner that could not start it. */
  'infra',
]);
export type Ending = z.infer<typeof Ending>;

export const Execution = z.strictObject({
  /** ISO 8601 UTC. */
  startedAt: z.string(),
  durationMs: z.number().min(0),
  ending: Ending,
  /** In words, where `ending` alone does not say it. */
  message: z.string(),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  /** The result channel as it was found, null where there was nothing (or something that is no regular file). */
  report: Bytes.nullable(),
  /** Why there is a report that was not read: too long, a link. */
  reportProblem: z.string().nullable(),
  /** stdout and stderr in the order of their arrival, at most outputBytes; null where nothing was written. */
  output: Bytes.nullable(),
  /** Guarded paths that were changed or removed. */
  tampered: z.array(z.string()),
  /** What candidate code was run in; absent where none was run, or freely. */
  sandbox: z.exactOptional(SandboxRecord),
  /** With an adapter: what the tool left, which `report` was made from and names by its SHA-256. */
  toolReport: z.exactOptional(Bytes.nullable()),
});
export type Execution = z.infer<typeof Execution>;

/** An execution of which nothing came: what is known is added to it. */
export const noExecution: Omit<Execution, 'startedAt' | 'ending'> = {
  durationMs: 0,
  message: '',
  exitCode: null,
  signal: null,
  report: null,
  reportProblem: null,
  output: null,
  tampered: [],
};

export const RunnerInfo = z.strictObject({ pid: z.int(), active: Count, rssBytes: Count, workers: Count });
export type RunnerInfo = z.infer<typeof RunnerInfo>;

export const runnerContract = {
  /** One execution. Cancelling the call kills whatever runs. */
  verify: command(VerifyJob, Execution),
  /** Finds a command's program on the verifiers' PATH and asks it for its version. */
  resolveProgram: query(
    z.strictObject({ command: z.array(z.string()).min(1), taskDir: z.string().min(1) }),
    z.union([z.strictObject({ path: z.string(), version: z.string() }), z.strictObject({ error: z.string() })]),
  ),
  /** One start of a `command` proposer's program. Cancelling the call kills whatever runs. */
  program: command(ProgramJob, ProgramRun),
  info: query(z.strictObject({}), RunnerInfo),
  /** Tries the sandbox of this machine, once while it holds. */
  sandbox: query(z.strictObject({}), SandboxProbe),
} as const;
export type RunnerContract = typeof runnerContract;
