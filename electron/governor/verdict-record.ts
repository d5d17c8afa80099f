// The stored form of a verdict: the canonical JSON of {tree, contract, verdict}, named by its SHA-256.
import { hash } from 'node:crypto';
import { canonicalJson } from '#shared/lib/canonical-json.ts';
import type { Sha } from '#shared/domain/ids.ts';
import type { Verdict } from '#shared/domain/verdict.ts';

const encoder = new TextEncoder();

export type VerdictRecord = { readonly sha: Sha; readonly bytes: Uint8Array };

// The record of a verdict is asked for by its row and by its event.
const made = new WeakMap<Verdict, VerdictRecord & { readonly tree: Sha | null; readonly contract: Sha }>();

/** Throws for text that is not well-formed: what a verifier wrote is made well-formed before it becomes a verdict. */
export function verdictRecord(tree: Sha | null, contract: Sha, verdict: Verdict): VerdictRecord {
  const known = made.get(verdict);
  if (known !== undefined && known.tree === tree && known.contract === contract) return known;
  const bytes = encoder.encode(canonicalJson({ tree, contract, verdict }));
  const record = { sha: hash('sha256', bytes, 'hex'), bytes, tree, contract };
  made.set(verdict, record);
  return record;
}
