// The contract's rules for candidates, as the loop asks for them: with a name for every tree that can be stored.
import type { Contract } from '#shared/domain/contract.ts';
import { treeId } from '#shared/domain/tree-id.ts';
import { checkCandidate, manifestOf } from '#electron/verifiers/candidate.ts';
import type { GovernorDeps } from './types.ts';

/**
 * `schema`: bytes of the file that the contract's artifact rules name, null where there is none. A tree whose paths and sizes pass is
 * stored also when it is refused for something else, so that the timeline can show what a candidate tried; others have no stored form.
 */
export function createCandidateCheck(contract: Contract, schema: Uint8Array | null): GovernorDeps['check'] {
  return (base, candidate) => {
    const checked = checkCandidate({ contract, base, candidate, schema });
    if (checked.ok) return { kind: 'valid', ...checked.value };
    const { code, message } = checked.error;
    if (code === 'bad_path' || code === 'too_large') return { kind: 'invalid', code, message, stored: null };
    const manifest = manifestOf(candidate);
    return { kind: 'invalid', code, message, stored: { tree: treeId(manifest), manifest, files: candidate } };
  };
}
