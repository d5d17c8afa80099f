// The records of an attempt without an end: nothing was decided, so all that is known is what it was asked and what it is charged.
// Semantics, sections 5 and 10. The governor writes them for a round that it gives up, the store for a round that a crash left open.
import type { Sha } from './ids.ts';
import { memoryEntry } from './memory-entry.ts';
import type { MemoryEntry } from './memory.ts';
import type { Transition } from './transition.ts';
import type { Rank } from './verdict.ts';

export type AbortedAttempt = Pick<
  Transition,
  'run' | 'n' | 'round' | 'slot' | 'base' | 'request' | 'response' | 'retrieved' | 'featuresShown' | 'cost'
>;

/** The transition of an attempt that was not decided. */
export const abortedTransition = (attempt: AbortedAttempt): Transition => ({
  ...attempt,
  tree: null,
  duplicateOf: null,
  verdict: null,
  verdictSource: 'none',
  outcome: 'aborted',
  bundle: null,
});

/** Its entry of the exploration memory; `baseRank` is the rank of the bundle it was tried on. */
export const abortedMemory = ({ run, n, base }: Pick<Transition, 'run' | 'n' | 'base'>, contract: Sha, baseRank: Rank): MemoryEntry =>
  memoryEntry({
    run,
    contract,
    transition: n,
    base,
    baseRank,
    tree: null,
    outcome: 'aborted',
    verdict: null,
    changes: [],
    hunks: [],
    excerpt: '',
    note: null,
  });
