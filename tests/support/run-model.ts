// A governed run as section 5 of semantics.md reads, small enough to be seen to be right: what the model-based test holds the engine against.
// Of the product it uses the names of trees and nothing else; it knows no store, no budget but attempts, and decides by loops of its own.
import type { TreeFile } from '#shared/domain/tree.ts';
import type { ProposeContext } from '#electron/proposers/proposer.ts';
import { filesOf, treeOf } from './engine/builders.ts';
import type { Scripted } from './engine/scripted-proposer.ts';
import type { State } from './engine/scripted-verifier.ts';

export type Script = (context: Pick<ProposeContext, 'draw' | 'base'>) => Scripted;

type Verdict =
  | { readonly kind: 'ranked'; readonly rank: readonly number[] }
  | { readonly kind: 'invalid' }
  | { readonly kind: 'no_verdict' };

/** One attempt as the engine's rows say it, without what follows from nothing here. */
export type ModelAttempt = {
  readonly n: number;
  readonly round: number;
  readonly slot: number;
  readonly baseSeq: number;
  readonly outcome: string;
  readonly tree: string | null;
  readonly rank: readonly number[] | null;
  readonly verdictSource: 'fresh' | 'cache' | 'none';
  readonly duplicateOf: number | null;
};
export type ModelBundle = { readonly tree: string; readonly files: readonly TreeFile[]; readonly rank: readonly number[] };
type Decided = {
  readonly attempts: readonly ModelAttempt[];
  readonly winner: ModelBundle | null;
  readonly verdicts: ReadonlyMap<string, Verdict>;
};

export type RunModelOptions = {
  readonly genesis: ModelBundle;
  readonly script: Script;
  readonly slots: number;
  readonly attempts: number;
  /** No-verdicts in a row after which the verifier counts as dead. */
  readonly deadAfter: number;
  /** Final verdicts of the ancestors. */
  readonly known?: ReadonlyMap<string, Verdict>;
};

export type RunModel = ReturnType<typeof createRunModel>;

const sum = (rank: readonly number[]): number => rank.reduce((total, r) => total + r, 0);
const dominates = (a: readonly number[], b: readonly number[]): boolean => a.every((r, i) => r <= (b[i] ?? -1)) && sum(a) < sum(b);
const less = (a: readonly (number | string)[], b: readonly (number | string)[]): boolean => {
  const i = a.findIndex((x, k) => x !== b[k]);
  return i >= 0 && (a[i] ?? '') < (b[i] ?? '');
};

export const bundleOf = (files: readonly TreeFile[], rank: readonly number[]): ModelBundle => ({ tree: treeOf(files), files, rank });

export function createRunModel({ genesis, script, slots, attempts, deadAfter, known }: RunModelOptions) {
  const chain: ModelBundle[] = [genesis];
  const made: ModelAttempt[] = [];
  const cache = new Map<string, Verdict>([...(known ?? []), [genesis.tree, { kind: 'ranked', rank: genesis.rank }]]);
  let stop: string | null = sum(genesis.rank) === 0 ? 'zero_rank' : null;
  let round = 0;
  let streak = 0;
  const left = () => attempts - made.length;
  const head = () => chain.at(-1) ?? genesis;

  const candidateOf = (answer: Scripted): { files: readonly TreeFile[]; verdict: Verdict } | null => {
    if (answer === 'garbage' || answer === 'silence') return null;
    const base = head().files;
    if (answer === 'base') return { files: base, verdict: { kind: 'ranked', rank: head().rank } };
    const changed = 'state' in answer ? { 'state.json': JSON.stringify(answer.state) } : answer.files;
    const files = [...base.filter(({ path }) => !Object.hasOwn(changed, path)), ...filesOf(changed)];
    if (Object.hasOwn(changed, 'protected.txt')) return { files, verdict: { kind: 'invalid' } };
    const state: State = 'state' in answer ? answer.state : { rank: [...head().rank] };
    return { files, verdict: 'rank' in state ? { kind: 'ranked', rank: state.rank } : { kind: 'no_verdict' } };
  };

  const outcomeOf = (verdict: Verdict): string => {
    if (verdict.kind !== 'ranked') return verdict.kind;
    const [better, worse] = [verdict.rank, verdict.rank].map((rank, k) =>
      rank.some((r, i) => (k === 0 ? r < (head().rank[i] ?? 0) : r > (head().rank[i] ?? 0))),
    );
    if (better && worse) return 'incomparable';
    return worse ? 'regression' : better ? 'not_selected' : 'tie';
  };

  const decide = (): Decided => {
    const draw = 1 + made.filter(({ outcome }) => outcome !== 'aborted').length;
    const seen = new Map<string, number>([[head().tree, 0]]);
    const verdicts = new Map<string, Verdict>();
    let winner: { readonly at: number; readonly bundle: ModelBundle } | null = null;
    const decided = Array.from({ length: Math.min(slots, left()) }, (_, slot): ModelAttempt => {
      const n = made.length + 1 + slot;
      const blank = { n, round: round + 1, slot, baseSeq: chain.length - 1, tree: null, rank: null, duplicateOf: null };
      const candidate = candidateOf(script({ draw: draw + slot, base: head().files }));
      if (candidate === null) return { ...blank, outcome: 'invalid', verdictSource: 'fresh' };
      const tree = treeOf(candidate.files);
      const duplicateOf = seen.get(tree);
      if (duplicateOf !== undefined) return { ...blank, tree, outcome: 'duplicate', verdictSource: 'none', duplicateOf };
      seen.set(tree, n);
      const before = cache.get(tree);
      const verdict = before ?? candidate.verdict;
      if (before === undefined) verdicts.set(tree, verdict);
      const rank = verdict.kind === 'ranked' ? verdict.rank : null;
      if (rank !== null && dominates(rank, head().rank)) {
        const bundle = { tree, files: candidate.files, rank };
        const key = (b: ModelBundle) => [sum(b.rank), ...b.rank, b.tree];
        if (winner === null || less(key(bundle), key(winner.bundle))) winner = { at: slot, bundle };
      }
      return { ...blank, tree, rank, outcome: outcomeOf(verdict), verdictSource: before === undefined ? 'fresh' : 'cache' };
    });
    const won: { readonly at: number; readonly bundle: ModelBundle } | null = winner;
    if (won === null) return { attempts: decided, winner: null, verdicts };
    const { at, bundle } = won;
    return {
      // A verdict from the cache may reject and never commits: the winner was measured now.
      attempts: decided.map((attempt) => (attempt.slot === at ? { ...attempt, outcome: 'commit', verdictSource: 'fresh' } : attempt)),
      winner: bundle,
      verdicts,
    };
  };

  return {
    chain,
    attempts: made,
    slots,
    deadAfter,
    budget: attempts,
    head,
    stop: () => stop,
    /** Final verdicts up to now. */
    known: (): ReadonlyMap<string, Verdict> => new Map(cache),
    /** What a loop finds before a round: it has no attempts left. */
    spent: (): boolean => {
      if (stop === null && left() <= 0) stop = 'budget';
      return stop !== null;
    },
    /** A round that was decided. */
    decided: (): void => {
      const { attempts: next, winner, verdicts } = decide();
      made.push(...next);
      round++;
      for (const { outcome, verdictSource, rank } of next) {
        if (outcome === 'no_verdict') streak++;
        else if (verdictSource === 'fresh' && rank !== null) streak = 0;
      }
      for (const [tree, verdict] of verdicts) if (verdict.kind !== 'no_verdict') cache.set(tree, verdict);
      if (winner !== null) chain.push(winner);
      if (sum(head().rank) === 0) stop = 'zero_rank';
      else if (streak >= deadAfter) stop = 'verifier_dead';
      else if (left() <= 0) stop = 'budget';
    },
    /** A round that was opened and came to nothing: its numbers and its budget are gone, its draws are not. */
    aborted: (): void => {
      const count = Math.min(slots, left());
      round++;
      for (let slot = 0; slot < count; slot++) {
        const n = made.length + 1;
        made.push({
          n,
          round,
          slot,
          baseSeq: chain.length - 1,
          outcome: 'aborted',
          tree: null,
          rank: null,
          verdictSource: 'none',
          duplicateOf: null,
        });
      }
    },
    stopped: (reason: string): void => {
      stop = reason;
    },
    resumed: (): void => {
      stop = null;
    },
  };
}
