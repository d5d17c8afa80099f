// One thing that a verifier measures and that a commit must never worsen.
import { z } from 'zod';

/** Key of an obligation, an advisory value or an adapter's count: also used as a column label, so it is short and plain. */
export const ObligationKey = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.:/[\]-]{0,199}$/, 'letters, digits and _ . : / [ ] -, at most 200');

export const Obligation = z.strictObject({
  key: ObligationKey,
  title: z.string().min(1).max(500),
  /** The worst value a verifier may report, 1 to 2^31 - 1. */
  cap: z
    .int()
    .min(1)
    .max(2 ** 31 - 1),
  kind: z.enum(['binary', 'count', 'ordinal']),
  /** How much of it the proposer may see. */
  visibility: z.enum(['full', 'aggregate', 'hidden']),
  onCandidateTimeout: z.enum(['cap', 'no_verdict']),
  missing: z.enum(['malformed', 'cap']),
  aggregate: z.enum(['worst', 'median']),
});
export type Obligation = z.infer<typeof Obligation>;
