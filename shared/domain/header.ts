// What a run is, fixed and hashed before attempt 1: no clock, path, host or run id (the resolved verifier program excepted).
import { z } from 'zod';
import { Budget } from './budget.ts';
import { Count, Sha } from './ids.ts';

export const ProposerKind = z.enum(['search', 'openai', 'command', 'recorded', 'human']);
export type ProposerKind = z.infer<typeof ProposerKind>;

export const RunHeader = z.strictObject({
  format: z.literal('pawl.header/1'),
  contract: Sha,
  seedTree: Sha,
  proposer: z.strictObject({ kind: ProposerKind, version: z.int().min(1), options: z.record(z.string(), z.json()) }),
  slots: z.int().min(1).max(64),
  seed: Count,
  budget: Budget,
  /** K no-verdicts in a row stop the run. */
  verifierDeadAfter: z.int().min(1),
  /** The certified bundle that this run branches from. */
  parent: Sha.nullable(),
  /** A `command` verifier's program as resolved once at the start; null for pure-js. */
  verifierProgram: z.strictObject({ path: z.string(), version: z.string() }).nullable(),
  /** The user has let candidate code run without a sandbox; absent otherwise. */
  unsandboxed: z.exactOptional(z.literal(true)),
  /** Name of the experimental sandbox that candidate code runs in; absent otherwise. */
  experimentalSandbox: z.exactOptional(z.string().min(1)),
});
export type RunHeader = z.infer<typeof RunHeader>;
