// The stored form of a verdict: the canonical JSON of {tree, contract, verdict}, named by its SHA-256.
import { canonicalJson } from '#shared/lib/canonical-json.ts';
import { sha256Hex } from '#shared/lib/hash.ts';
import type { Sha } from '#shared/domain/ids.ts';
import type { Verdict } from '#shared/domain/verdict.ts';

const encoder = new TextEncoder();

export type VerdictRecord = { readonly sha: Sha; readonly bytes: Uint8Array };

/** Throws for text that is not well-formed: what a verifier wrote is made well-formed before it becomes a verdict. */
export function verdictRecord(tree: Sha | null, contract: Sha, verdict: Verdict): VerdictRecord {
  const bytes = encoder.encode(canonicalJson({ tree, contract, verdict }));
  return { sha: sha256Hex(bytes), bytes };
}
