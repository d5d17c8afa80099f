// Final verdicts by tree, of one chain under one contract (this run and the ancestors it branched from). A ranked rejection can never
// commit later in the same chain, so its tree needs no verifier run; a missing verdict is never final. Semantics, sections 2 and 3.
import type { Sha } from '#shared/domain/ids.ts';
import type { Verdict } from '#shared/domain/verdict.ts';

export type CachedVerdict = { readonly sha: Sha; readonly verdict: Exclude<Verdict, { kind: 'no_verdict' }> };

export type VerdictCache = {
  get(tree: Sha): CachedVerdict | undefined;
  /** Keeps a verdict that is final and ignores any other: `no_verdict`, or runs that disagreed. */
  put(tree: Sha, sha: Sha, verdict: Verdict): void;
  /** The tree turned out to be measured differently from one time to the next. */
  forget(tree: Sha): void;
};

export function createVerdictCache(): VerdictCache {
  const known = new Map<Sha, CachedVerdict>();
  return {
    get: (tree) => known.get(tree),
    put: (tree, sha, verdict) => {
      if (verdict.kind === 'invalid' || (verdict.kind === 'ranked' && verdict.stable)) known.set(tree, { sha, verdict });
    },
    forget: (tree) => {
      known.delete(tree);
    },
  };
}
