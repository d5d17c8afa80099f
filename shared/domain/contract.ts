// What a run is held to. Everything in it is hashed: a change of any field is a new contract and, in a run, a new era.
import { z } from 'zod';
import { Count, Sha } from './ids.ts';
import { Obligation, ObligationKey } from './obligation.ts';
import { Manifest } from './tree.ts';

const TimeoutMs = z
  .int()
  .min(1)
  .max(24 * 3600 * 1000);

export const VerifierSpec = z.strictObject({
  /** `pure-js` runs `file` in QuickJS; `command` runs `command`. */
  kind: z.enum(['pure-js', 'command']),
  command: z.array(z.string()).readonly(),
  file: z.string().nullable(),
  /** true: candidate code executes during verification, a sandbox is mandatory. */
  runsCandidate: z.boolean(),
  isolation: z.enum(['none', 'shared', 'separate']),
  adapter: z.string().nullable(),
  report: z.string().nullable(),
  /** Fixed places of its shared sandbox (places.ts), sorted by `at`; absent where the task names none, and no part of the hash then. */
  places: z.exactOptional(z.array(z.strictObject({ at: z.string().min(1), from: z.string().min(1).nullable() })).min(1)),
  files: Manifest,
  /** Names of environment variables that are passed on. */
  env: z.array(z.string()),
  timeoutsMs: z.strictObject({ setup: TimeoutMs, transfer: TimeoutMs, run: TimeoutMs, parse: TimeoutMs }),
  limits: z.strictObject({
    memoryMb: z.int().min(1),
    cpuS: z.int().min(1),
    processes: z.int().min(1),
    fileMb: z.int().min(1),
    outputKb: z.int().min(1),
  }),
});
export type VerifierSpec = z.infer<typeof VerifierSpec>;

export const Measurement = z.strictObject({
  preflightRuns: z.int().min(1),
  confirmRuns: z.int().min(1),
  paired: z.boolean(),
  infraRetries: Count,
});
export type Measurement = z.infer<typeof Measurement>;

export const ArtifactRules = z.strictObject({
  allowEmpty: z.boolean(),
  maxFiles: z.int().min(1),
  maxBytes: z.int().min(1),
  writable: z.array(z.string()).min(1),
  protectedPaths: z.array(z.string()),
  /** SHA-256 of the JSON Schema file that a candidate must satisfy before any verifier run, and the file it applies to. */
  schema: z.strictObject({ path: z.string(), sha: Sha, target: z.string() }).nullable(),
});
export type ArtifactRules = z.infer<typeof ArtifactRules>;

/**
 * How the tests that finished runs have added are run on each other's trees, where several runs end equally well; see crosscheck.ts. Both
 * tests and trees are candidates' work, so it always happens in a sandbox (for `pure-js`, the one of `pawl.run`).
 */
export const CrosscheckSpec = z.strictObject({
  /** Globs inside the artifact: which of a candidate's files are tests. */
  tests: z.array(z.string()).min(1),
  /** As of the verifier: `pure-js` runs `file`, `command` runs `command`. */
  kind: z.enum(['pure-js', 'command']),
  command: z.array(z.string()).readonly(),
  file: z.string().nullable(),
  isolation: z.enum(['shared', 'separate']),
  /** For all tests of one run on one tree. */
  timeoutMs: TimeoutMs,
});
export type CrosscheckSpec = z.infer<typeof CrosscheckSpec>;

/** The hashed body. `previous` is the contract this one replaces (quarantine, median, recertify). */
export const ContractBody = z.strictObject({
  format: z.literal('pawl.contract/1'),
  name: z.string().min(1),
  version: z.int().min(1),
  previous: Sha.nullable(),
  instruction: Sha,
  obligations: z.array(Obligation).min(1),
  advisory: z.array(z.strictObject({ key: ObligationKey, better: z.enum(['lower', 'higher']) })),
  /** Where an adapter finds each obligation; null where the verifier names it itself. */
  from: z.array(z.string().nullable()),
  verifier: VerifierSpec,
  artifact: ArtifactRules,
  measurement: Measurement,
  auto: z.array(z.strictObject({ name: z.string(), command: z.array(z.string()), timeoutMs: TimeoutMs })),
  /**
   * Further automatic commands that a proposer may register: argv by argv, with `*` and `?` in the arguments and `**` for any more of them
   * at the end; see auto-registry.ts. Absent where there are none, and no part of the hash then.
   */
  autoAllow: z.exactOptional(z.array(z.strictObject({ command: z.array(z.string()).min(1), timeoutMs: TimeoutMs })).min(1)),
  /** Absent where the task declares none, and no part of the hash then. */
  crosscheck: z.exactOptional(CrosscheckSpec),
});
export type ContractBody = z.infer<typeof ContractBody>;

export type Contract = ContractBody & { readonly sha: Sha };

/**
 * Whether candidate code can reach the verifier that ranks it: then a verdict shows tampering only where it left traces, and every
 * obligation carries the label "tamper-evident only". `unsandboxed` is that of the run's header.
 */
export function isTamperEvidentOnly({ verifier }: Pick<ContractBody, 'verifier'>, unsandboxed = false): boolean {
  return verifier.runsCandidate && (unsandboxed || verifier.isolation !== 'separate');
}
