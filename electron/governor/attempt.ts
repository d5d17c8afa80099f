// From a stored response to a slot that is settled by itself (invalid, duplicate, known verdict) or has to be verified. In slot order,
// before anything is verified, so that nothing depends on which verification ends first. Semantics, section 5, step 3.
import { assertNever } from '#shared/lib/assert.ts';
import type { AutoOutput } from '#shared/domain/auto-evidence.ts';
import type { Sha } from '#shared/domain/ids.ts';
import type { Manifest, TreeFile } from '#shared/domain/tree.ts';
import type { InvalidCode, Verdict } from '#shared/domain/verdict.ts';
import type { ProposalResult, Proposer } from '#electron/proposers/proposer.ts';
import type { PlannedSlot } from './reservation.ts';
import type { CachedVerdict, VerdictCache } from './verdict-cache.ts';
import type { GovernorDeps } from './types.ts';

export type NamedTree = { readonly tree: Sha; readonly manifest: Manifest; readonly files: readonly TreeFile[] };

export type Proposed = {
  readonly planned: PlannedSlot;
  readonly proposal: ProposalResult;
  readonly request: Sha;
  readonly response: Sha | null;
  /** Ids of the memory entries that the proposer was shown, in their order. */
  readonly retrieved: readonly Sha[];
  /** What the automatic commands said on the way to the response, in order, and on which trees. */
  readonly observed: Observed;
};

export type Observed = { readonly outputs: readonly AutoOutput[]; readonly trees: readonly NamedTree[] };

/** What is known of a slot before verification. */
export type Standing =
  | { readonly kind: 'duplicate'; readonly of: number }
  | { readonly kind: 'invalid'; readonly verdict: Extract<Verdict, { kind: 'invalid' }> }
  | { readonly kind: 'cached'; readonly cached: CachedVerdict }
  | { readonly kind: 'unknown'; readonly candidate: NamedTree };

export type Attempt = Proposed & { readonly candidate: NamedTree | null; readonly standing: Standing };

export type AttemptContext = {
  readonly proposer: Pick<Proposer, 'materialise'>;
  readonly check: GovernorDeps['check'];
  readonly base: readonly TreeFile[];
  readonly baseTree: Sha;
  readonly cache: VerdictCache;
};

type Parsed = { readonly candidate: NamedTree | null; readonly invalid: Extract<Verdict, { kind: 'invalid' }> | null };

const invalid = (code: InvalidCode, message: string): Parsed['invalid'] => ({ kind: 'invalid', code, message: message.toWellFormed() });

const parse = ({ proposer, check, base }: AttemptContext, { response, error }: ProposalResult): Parsed => {
  if (response === null) {
    return {
      candidate: null,
      invalid: invalid('no_candidate', error === undefined ? 'no answer came' : `${error.code}: ${error.message}`),
    };
  }
  const files = proposer.materialise(response, base);
  if (!files.ok) return { candidate: null, invalid: invalid(files.error.code, files.error.message) };
  const checked = check(base, files.value);
  switch (checked.kind) {
    case 'valid':
      return { candidate: checked, invalid: null };
    case 'invalid':
      return { candidate: checked.stored, invalid: invalid(checked.code, checked.message) };
    default:
      return assertNever(checked, 'check of a candidate');
  }
};

/**
 * In slot order. `duplicate.of` is 0 for the head's own tree, else the number n of the earlier slot of this round with the same tree.
 * A tree that an earlier round rejected is not a duplicate: its verdict comes from the cache.
 */
export function readAttempts(context: AttemptContext, proposed: readonly Proposed[]): Attempt[] {
  const seen = new Map<Sha, number>([[context.baseTree, 0]]);
  return proposed.map((p): Attempt => {
    const { candidate, invalid } = parse(context, p.proposal);
    const of = candidate === null ? undefined : seen.get(candidate.tree);
    if (of !== undefined) return { ...p, candidate, standing: { kind: 'duplicate', of } };
    if (candidate !== null) seen.set(candidate.tree, p.planned.n);
    const cached = candidate === null ? undefined : context.cache.get(candidate.tree);
    if (cached !== undefined) return { ...p, candidate, standing: { kind: 'cached', cached } };
    if (invalid !== null) return { ...p, candidate, standing: { kind: 'invalid', verdict: invalid } };
    if (candidate === null) throw new Error(`attempt ${p.planned.n} has neither a candidate nor a reason why not`);
    return { ...p, candidate, standing: { kind: 'unknown', candidate } };
  });
}
