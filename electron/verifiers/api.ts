// Verification as the governor sees it. Candidate bytes go in, a verdict and its record come out; the engine itself spawns nothing.
import type { AutoOutput } from '#shared/domain/auto-evidence.ts';
import type { AutoCommand } from '#shared/domain/auto-registry.ts';
import type { Contract } from '#shared/domain/contract.ts';
import type { Sha } from '#shared/domain/ids.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import type { Verdict } from '#shared/domain/verdict.ts';
import type { VerifierRunInput } from '#electron/store/api.ts';
import type { SandboxProbe } from './sandbox/api.ts';

export type VerifyRequest = {
  readonly contract: Contract;
  readonly tree: Sha;
  /** The whole candidate tree, from the store's copies, protected paths already canonical. */
  readonly files: readonly TreeFile[];
  /** The canonical verifier files (paths begin with `verifier/`), from the store's copies. */
  readonly verifierFiles: readonly TreeFile[];
  /** The program resolved at the start of the run; null for pure-js. */
  readonly program: { readonly path: string; readonly version: string } | null;
  /** The user has said for this run that candidate code may run without a sandbox; it stands in the header. */
  readonly unsandboxed?: boolean;
};

/** `verdict.runs` and `runs` describe the same executions; `blobs` holds the plain bytes behind every sha they name. */
export type Verification = {
  readonly verdict: Verdict;
  readonly runs: readonly VerifierRunInput[];
  readonly blobs: readonly { readonly sha: Sha; readonly bytes: Uint8Array }[];
};

/** Automatic commands on a candidate's tree. They rank nothing. */
export type AutoService = {
  /**
   * Runs one in a folder with `artifact/` and nothing of the verifier: a registered one in a sandbox or not at all, one that the task
   * declares in a sandbox where the task runs candidate code. Never rejects: how it ended stands in the result.
   */
  runAuto(request: VerifyRequest, auto: AutoCommand, signal: AbortSignal): Promise<Pick<AutoOutput, 'ending' | 'output'>>;
};

export type VerifierService = {
  /** One execution of the contract's verifier on a fresh tree. Never rejects for what the candidate or the verifier did: that is a verdict. */
  verify(request: VerifyRequest, signal: AbortSignal): Promise<Verification>;
  /** Finds the program of a `command` verifier on the verifier's own PATH; the message says what was looked for where. */
  resolveProgram(command: readonly string[], taskDir: string): Promise<{ path: string; version: string } | { error: string }>;
  /** Whether candidate code may run on this machine, and what would change it. Never rejects. */
  sandbox(): Promise<SandboxProbe>;
  /** Whether the process that runs verifiers has ended: then nothing that they seem to say means anything, and nothing more is run here. */
  lost(): boolean;
  /** How many verifications may usefully run at once. */
  readonly concurrency: number;
};
