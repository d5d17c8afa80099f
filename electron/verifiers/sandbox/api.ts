// What a sandbox is to the rest of the runner: data in, a command out. Nobody but a backend knows how a guarantee is met.
import { z } from 'zod';
import type { SandboxRecord } from '#shared/domain/verdict.ts';

/**
 * What was seen to hold, by running something inside and looking. A backend says which of them it needs to be available; what an available
 * one lacks stands in its message and in every verdict.
 */
export const SandboxGuarantees = z.strictObject({
  /** No interface but a loopback of its own: neither the internet nor a server of this machine can be reached. */
  network: z.boolean(),
  /** Nothing of this machine can be read but its system, and nothing written but scratch space. */
  filesystem: z.boolean(),
  /** Scratch space is fresh for each start, and of bounded size. */
  scratch: z.boolean(),
  /** No other process is visible, none outlives the sandbox, no privilege can be gained, their number is bounded. */
  processes: z.boolean(),
  /** `memory_mb` binds every process (and, while it runs, the sum over the sandbox). */
  memory: z.boolean(),
  cpu: z.boolean(),
  /** The parts of the kernel that no candidate needs are closed to it (`system-calls.ts`). */
  systemCalls: z.boolean(),
});
export type SandboxGuarantees = z.infer<typeof SandboxGuarantees>;

export const SandboxProbe = z.strictObject({
  /** Whether candidate code may run here. */
  available: z.boolean(),
  /** Name of the backend that was looked for; null where this system has none. */
  backend: z.string().nullable(),
  version: z.string().nullable(),
  /** Its use stands in the header of a run and in every verdict. */
  experimental: z.boolean(),
  guarantees: SandboxGuarantees,
  /** What was found, in words. */
  message: z.string(),
  /** The one command that would make it available; null when it is, or when no command would. */
  remedy: z.string().nullable(),
});
export type SandboxProbe = z.infer<typeof SandboxProbe>;

/** What an available sandbox leaves open, by name; empty for one that holds everything. */
export const lacking = (guarantees: SandboxGuarantees): string[] =>
  Object.entries(guarantees).flatMap(([name, holds]) => (holds ? [] : [name]));

/** What a verdict says of the sandbox of `probe`; undefined where it found none. */
export function sandboxRecord({ backend, experimental, guarantees }: SandboxProbe): SandboxRecord | undefined {
  if (backend === null) return undefined;
  const lacks = lacking(guarantees);
  return { backend, ...(experimental ? { experimental } : {}), ...(lacks.length > 0 ? { lacks } : {}) };
}

export const noGuarantees: SandboxGuarantees = {
  network: false,
  filesystem: false,
  scratch: false,
  processes: false,
  memory: false,
  cpu: false,
  systemCalls: false,
};

export type SandboxLimits = {
  /** Of each process, its writable private memory. */
  readonly memoryMb: number;
  /** Of each process, of processor time. */
  readonly cpuS: number;
  /** In the whole sandbox. */
  readonly processes: number;
  /** Of each file. */
  readonly fileMb: number;
};

/** Wall clock and output are not here: they are kept by whoever starts the command. There is never a network. */
export type SandboxSpec = {
  /**
   * Files and folders of ours that can be read inside. `source` is absolute, made by us and no link; nothing else in the spec lies beneath
   * `target`.
   */
  readonly readOnly: readonly { readonly source: string; readonly target: string }[];
  /** Single regular files of ours that can be written inside, under the same rules. */
  readonly writableFiles: readonly { readonly source: string; readonly target: string }[];
  /** Fresh, empty, writable folders that are gone afterwards. */
  readonly scratch: readonly { readonly target: string; readonly bytes: number }[];
  readonly cwd: string;
  /** HOME, and where temporary files go: one of `scratch`, or /tmp where the backend maps paths and brings its own. */
  readonly home: string;
  /** The whole environment, beside HOME, TMPDIR and what is fixed for every sandbox (`spec-rules.ts`). */
  readonly env: Readonly<Record<string, string>>;
  readonly limits: SandboxLimits;
};

/**
 * How a script of ours starts something inside: POSIX shell, of which every word is ours or quoted; `$dir` is the folder of the script and
 * `"$@"` the argv of what is to run. Redirections may follow each command.
 */
export type SandboxCommand = {
  /** What stands beside the script, by name. */
  readonly files: Readonly<Record<string, Uint8Array>>;
  /** Runs it, as this process, and ends as it ends. */
  readonly run: string;
  /**
   * Runs it, and writes a line `... exit-code ...: N` to descriptor 8, which is the file `$status`, when it has ended, N being the exit code,
   * or 128 + the signal. No such line means that the sandbox could not be set up; then why is on stderr.
   */
  readonly runReporting: string;
};

export type SandboxBackend = {
  readonly name: string;
  /**
   * Whether a path can be another inside than outside. Where it cannot, each `target` of a spec is its `source`, and scratch is a folder of
   * ours, fresh and empty.
   */
  readonly mapsPaths: boolean;
  /** Runs the whole argv with assertions inside. A success is remembered while this process lives; a failure is looked at again each time. */
  probe(): Promise<SandboxProbe>;
  /** How `spec` is started. Rejects with a RangeError that names what a spec may not hold. */
  command(spec: SandboxSpec): Promise<SandboxCommand>;
  /** Whether the program of this absolute path can be started inside. */
  sees(program: string): boolean;
  /** Releases what it holds in this process. */
  close(): Promise<void>;
};
