// A certified state of a run: the artifact, the rank that certifies it, and its place in the chain.
import { z } from 'zod';
import { Count, RunId, Sha } from './ids.ts';
import { Rank } from './verdict.ts';

export const LatentRef = z.strictObject({ codec: z.enum(['none', 'messages+json', 'opaque']), sha: Sha, bytes: Count });
export type LatentRef = z.infer<typeof LatentRef>;

/**
 * The hashed body of a bundle: its id is the SHA-256 of the RFC 8785 JSON of exactly this.
 * `summary` is the SHA-256 of the summary's text, so that a package may withhold the text and ids still recompute.
 */
export const BundleBody = z.strictObject({
  format: z.literal('pawl.bundle/1'),
  header: Sha,
  era: Count,
  seq: Count,
  edge: z.enum(['genesis', 'commit', 'recertify']),
  parent: Sha.nullable(),
  contract: Sha,
  tree: Sha,
  latent: LatentRef.nullable(),
  rank: Rank,
  potential: Count,
  summary: Sha,
});
export type BundleBody = z.infer<typeof BundleBody>;

/** A stored bundle: the body and what stands beside it (never in the id). */
export const CertifiedBundle = BundleBody.extend({
  id: Sha,
  run: RunId,
  verdict: Sha,
  summaryText: z.string(),
  /** Number of the transition that committed it; null for genesis and recertify. */
  transition: Count.nullable(),
});
export type CertifiedBundle = z.infer<typeof CertifiedBundle>;
