// What a verification of one tree under one contract came to.
import { z } from 'zod';
import { Count, Sha } from './ids.ts';

/** Dense, one safe integer per obligation, smaller is better, 0 = nothing left to fix. */
export const Rank = z.array(Count);
export type Rank = z.infer<typeof Rank>;

/** The sandbox that candidate code ran in, as it was found on the machine at that time. */
export const SandboxRecord = z.strictObject({
  backend: z.string(),
  /** It is not held to account as the others are; the header of the run says so as well. */
  experimental: z.exactOptional(z.literal(true)),
  /** What it does not hold, by name (`SandboxGuarantees` of the verifiers); absent when that is nothing. */
  lacks: z.exactOptional(z.array(z.string()).min(1)),
});
export type SandboxRecord = z.infer<typeof SandboxRecord>;

/**
 * One execution of the verifier. `output` is the stored blob of its stdout and stderr (null when it wrote nothing). `unsandboxed` stands
 * where candidate code ran without a sandbox because the user had said so, `sandbox` where it ran in one of the system's; neither where no
 * candidate code ran, or in QuickJS.
 */
export const RunRef = z.strictObject({
  id: z.string(),
  durationMs: z.number().min(0),
  output: Sha.nullable(),
  unsandboxed: z.exactOptional(z.literal(true)),
  sandbox: z.exactOptional(SandboxRecord),
});
export type RunRef = z.infer<typeof RunRef>;

export const InvalidCode = z.enum(['no_candidate', 'empty', 'apply_failed', 'protected_path', 'too_large', 'bad_path', 'schema']);
export type InvalidCode = z.infer<typeof InvalidCode>;

export const NoVerdictCode = z.enum([
  'crash',
  'setup_timeout',
  'transfer',
  'parse',
  'malformed',
  'attestation',
  'tampered',
  'verifier_timeout',
  'infra',
  'budget',
  'aborted',
]);
export type NoVerdictCode = z.infer<typeof NoVerdictCode>;

export const Verdict = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('ranked'),
    rank: Rank,
    runs: z.array(RunRef),
    stable: z.boolean(),
    advisory: z.record(z.string(), z.number()),
    /** Text per obligation key, as the verifier wrote it: shown, never decides. */
    details: z.record(z.string(), z.string()),
  }),
  /** `message` says what was wrong in words; it decides nothing. */
  z.strictObject({ kind: z.literal('invalid'), code: InvalidCode, message: z.string() }),
  z.strictObject({ kind: z.literal('no_verdict'), code: NoVerdictCode, message: z.string(), runs: z.array(RunRef) }),
]);
export type Verdict = z.infer<typeof Verdict>;
