// What a verification of one tree under one contract came to.
import { z } from 'zod';
import { Count, Sha } from './ids.ts';

/** Dense, one safe integer per obligation, smaller is better, 0 = nothing left to fix. */
export const Rank = z.array(Count);
export type Rank = z.infer<typeof Rank>;

/**
 * One execution of the verifier. `output` is the stored blob of its stdout and stderr (null when it wrote nothing). `unsandboxed` stands
 * where candidate code ran without a sandbox because the user had said so.
 */
export const RunRef = z.strictObject({
  id: z.string(),
  durationMs: z.number().min(0),
  output: Sha.nullable(),
  unsandboxed: z.exactOptional(z.literal(true)),
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
