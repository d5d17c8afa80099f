// A run that never was: deterministic rounds with every kind of outcome, decided by the real rules of `relate` over invented ranks.
import type { TransitionRow } from '#shared/contract/run.ts';
import { addAmounts, noAmounts } from '#shared/domain/budget-ledger.ts';
import type { Amounts, Cost } from '#shared/domain/budget.ts';
import type { Obligation } from '#shared/domain/obligation.ts';
import { relate } from '#shared/domain/rank.ts';
import type { Outcome } from '#shared/domain/transition.ts';
import { sha256Text } from '#shared/lib/hash.ts';
import { obligationOf } from '../contract.ts';

export const fakeObligations: readonly Obligation[] = (
  [
    ['clashes', 'Students with two exams at the same time', 'count'],
    ['overfull-rooms', 'Rooms with more students than seats', 'count'],
    ['unplaced', 'Exams without a place in the timetable', 'count'],
    ['back-to-back', 'Students with two exams in a row', 'count'],
    ['late-exams', 'Large exams after five in the afternoon', 'count'],
    ['split-cohorts', 'Cohorts that sit in more than two rooms', 'count'],
    ['invigilators', 'Exams without enough invigilators', 'count'],
    ['locked-slots', 'Fixed exams that were moved', 'binary'],
  ] as const
).map(([key, title, kind]) => obligationOf(key, { title, kind, cap: kind === 'binary' ? 1 : 100_000 }));

export const genesisRank: readonly number[] = [9, 6, 3, 8, 5, 4, 6, 0];

/** One exam moved by an edit: index of the exam, its new slot and room. */
export type Edit = { readonly exam: number; readonly slot: number; readonly room: number };
export type FakeTransition = { readonly row: TransitionRow; readonly edits: readonly Edit[] };
export type FakeBundle = {
  readonly id: string;
  readonly seq: number;
  readonly rank: readonly number[];
  readonly transition: number | null;
  readonly edits: readonly Edit[];
};
export type FakeRun = { readonly transitions: readonly FakeTransition[]; readonly chain: readonly FakeBundle[] };

/** A sha that stands for something which was never stored. */
export const fakeSha = (text: string): string => sha256Text(text);

/** Numbers in [0, 1) from a seed, the same on every machine (linear congruential, Numerical Recipes). */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export const costOf = (verifierRuns: number): Cost => ({
  charged: { ...noAmounts(), attempts: 1, verifierRuns, verifierMs: verifierRuns * 37 },
  overshoot: noAmounts(),
});

/** The sum of charges. */
export const sumOfCharges = (costs: readonly Cost[]): Amounts => costs.reduce((sum, { charged }) => addAmounts(sum, charged), noAmounts());

type Draft = { outcome: Outcome | null; rank: number[] | null; code: string | null; duplicateOf: number | null };

/** What one slot proposes: mostly small losses, trades and repeats, now and then a clean gain. */
function draft(random: () => number, base: readonly number[], n: number, share: number, toZero: boolean): Draft {
  const none = { rank: null, code: null, duplicateOf: null };
  const rank = [...base];
  const open = base.flatMap((value, i) => (value > 0 ? [i] : []));
  const gain = open[Math.floor(random() * open.length)];
  const x = random();
  const loss = Math.floor(random() * (base.length - 1));
  const potential = base.reduce((a, b) => a + b, 0);
  if (toZero && x < 0.35 && gain !== undefined) rank[gain] = Math.max(0, (rank[gain] ?? 0) - 3);
  else if (x < 0.17 && gain !== undefined && potential > 8 + 30 * (1 - share)) rank[gain] = (rank[gain] ?? 0) - 1;
  else if (x < 0.4) rank[loss] = (rank[loss] ?? 0) + 1 + Math.floor(random() * 2);
  else if (x < 0.62 && gain !== undefined) {
    rank[gain] = (rank[gain] ?? 0) - 1;
    const other = (gain + 1 + Math.floor(random() * (base.length - 2))) % (base.length - 1);
    rank[other === gain ? (other + 1) % (base.length - 1) : other] =
      (base[other === gain ? (other + 1) % (base.length - 1) : other] ?? 0) + 1;
  } else if (x < 0.74) return { ...none, outcome: null, rank };
  else if (x < 0.83) return { ...none, outcome: 'duplicate', duplicateOf: random() < 0.4 || n < 6 ? 0 : n - 4 };
  else if (x < 0.89)
    return {
      ...none,
      outcome: 'invalid',
      code: ['protected_path', 'schema', 'apply_failed', 'no_candidate'][Math.floor(random() * 4)] ?? 'schema',
    };
  else if (x < 0.93) return { ...none, outcome: 'unstable', rank };
  else if (x < 0.96)
    return { ...none, outcome: 'no_verdict', code: ['verifier_timeout', 'crash', 'infra'][Math.floor(random() * 3)] ?? 'crash' };
  return { ...none, outcome: null, rank };
}

/** At most `count` transitions in rounds of `slots`; `ending` says how the last round looks (`zero`: gains come easily and the run ends early). */
export function createFakeRun({
  seed,
  slots,
  count,
  ending = 'budget',
  from = { rank: genesisRank, edits: [] },
}: {
  seed: number;
  slots: number;
  count: number;
  ending?: 'budget' | 'aborted' | 'zero';
  /** What the seed is; another bundle's state in a branch. */
  from?: { readonly rank: readonly number[]; readonly edits: readonly Edit[] };
}): FakeRun {
  const random = createRandom(seed * 7919 + 11);
  const chain: FakeBundle[] = [{ id: fakeSha(`bundle ${seed} 0`), seq: 0, rank: from.rank, transition: null, edits: from.edits }];
  const transitions: FakeTransition[] = [];
  for (let round = 1; (round - 1) * slots < count; round++) {
    const head = chain.at(-1);
    if (!head || head.rank.every((value) => value === 0)) break;
    const first = (round - 1) * slots + 1;
    const drafts = Array.from({ length: Math.min(slots, count - first + 1) }, (_, slot) =>
      draft(random, head.rank, first + slot, (first + slot) / count, ending === 'zero'),
    );
    if (ending === 'aborted' && first + slots > count)
      drafts[drafts.length - 1] = { outcome: 'aborted', rank: null, code: null, duplicateOf: null };
    const relations = drafts.map((d) => (d.outcome === null && d.rank ? relate(d.rank, [...head.rank]) : null));
    const winner = relations.indexOf('dominates');
    for (const [slot, d] of drafts.entries()) {
      const n = first + slot;
      const relation = relations[slot] ?? null;
      const outcome: Outcome =
        d.outcome ?? (relation === 'dominates' ? (slot === winner ? 'commit' : 'not_selected') : (relation ?? 'tie'));
      const tree =
        outcome === 'aborted' || d.code === 'no_candidate' || d.code === 'apply_failed'
          ? null
          : fakeSha(`tree ${seed} ${outcome === 'duplicate' ? `of ${d.duplicateOf ?? 0}` : n}`);
      const bundle = outcome === 'commit' ? fakeSha(`bundle ${seed} ${chain.length}`) : null;
      const edits =
        tree === null || d.duplicateOf === 0
          ? []
          : Array.from({ length: 1 + Math.floor(random() * 2) }, () => ({
              exam: Math.floor(random() * 36),
              slot: 1 + Math.floor(random() * 12),
              room: Math.floor(random() * 5),
            }));
      transitions.push({
        edits,
        row: {
          n,
          round,
          slot,
          outcome,
          base: head.id,
          baseSeq: head.seq,
          tree,
          rank: d.rank,
          code: d.code,
          bundle,
          verdictSource: d.rank ? 'fresh' : 'none',
          verdictKind: d.rank ? 'ranked' : d.code === null ? null : outcome === 'invalid' ? 'invalid' : 'no_verdict',
          bundleSeq: bundle === null ? null : chain.length,
          duplicateOf: d.duplicateOf,
          cost: costOf(d.rank ? (outcome === 'commit' || outcome === 'unstable' ? 3 : 1) : 0),
        },
      });
      if (bundle !== null && d.rank) chain.push({ id: bundle, seq: chain.length, rank: d.rank, transition: n, edits });
    }
  }
  return { transitions, chain };
}
