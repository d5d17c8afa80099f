// The smallest loop around the pure rules: no clock, files, processes or store. It stands for the engine in property tests of whole chains,
// and it is itself a reading of the round in the design's section 5.
import * as fc from 'fast-check';
import { bundleId, summaryText } from '#shared/domain/bundle-id.ts';
import type { BundleBody } from '#shared/domain/bundle.ts';
import { noAmounts } from '#shared/domain/budget-ledger.ts';
import { decideRound, type FinalSlot, finishRound, type SlotInput } from '#shared/domain/decide.ts';
import { type EventBody, eventLine, firstPrev } from '#shared/domain/event-chain.ts';
import { memoryEntry } from '#shared/domain/memory-entry.ts';
import type { MemoryEntry } from '#shared/domain/memory.ts';
import { potential } from '#shared/domain/rank.ts';
import type { Rank, Verdict } from '#shared/domain/verdict.ts';
import { sha256Text } from '#shared/lib/hash.ts';
import { obligationOf } from '../../support/contract.ts';

const run = 'run_01890a5d-ac96-774b-bcce-b302099a8057';
const contract = sha256Text('contract');
const header = sha256Text('header');

/** What the verifier says about tree i; a `no_verdict` may turn out ranked when it is asked again. */
export interface Task {
  readonly limits: readonly number[];
  readonly verdicts: readonly { readonly rank: Rank; readonly kind: 'ranked' | 'unstable' | 'invalid' | 'crash' | 'crash once' }[];
}

/** Per round, per slot: the tree proposed, `none` for a reply without a candidate, `stop` for a slot that was aborted. */
export type Script = readonly (readonly (number | 'none' | 'stop')[])[];

export interface World {
  readonly task: Task;
  readonly script: Script;
}

const caps = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 5 });

/** Tasks of up to ten trees (tree 0 is the seed, with the worst rank) and scripts of up to eight rounds. */
export const world = (proposals: fc.Arbitrary<number | 'none' | 'stop'>): fc.Arbitrary<World> =>
  caps.chain((limits) => {
    const rank = fc.tuple(...limits.map((max) => fc.integer({ min: 0, max })));
    const kind = fc.constantFrom('ranked', 'ranked', 'ranked', 'ranked', 'unstable', 'invalid', 'crash', 'crash once');
    const verdicts = fc
      .array(fc.record({ rank, kind }), { minLength: 2, maxLength: 10 })
      .map((all) => [{ rank: [...limits], kind: 'ranked' as const }, ...all.slice(1)]);
    const script = fc.array(fc.array(proposals, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 });
    return fc.record({ task: fc.record({ limits: fc.constant(limits), verdicts }), script });
  });

export interface Result {
  readonly chain: readonly (BundleBody & { readonly id: string })[];
  readonly transitions: readonly (FinalSlot & {
    readonly n: number;
    readonly round: number;
    readonly base: string;
    readonly bundle: string | null;
  })[];
  readonly memory: readonly MemoryEntry[];
  readonly lines: readonly string[];
  /** Contenders whose verdict came from the cache: none, if permanence holds. */
  readonly cachedContenders: number;
}

/** Runs a script. `arrival` reorders the slots of a round as they are handed to the decision, as if they had finished in that order. */
export function smallRun(
  { task, script }: World,
  arrival: (slots: readonly SlotInput[]) => readonly SlotInput[] = (slots) => slots,
): Result {
  const obligations = task.limits.map((cap, i) => obligationOf(`o${i}`, { cap }));
  const trees = task.verdicts.map((_, i) => sha256Text(`tree ${i}`));
  const lines: string[] = [];
  let prev = firstPrev;
  const append = (event: EventBody): void => {
    const { line, sha } = eventLine({ seq: lines.length, prev, at: '2025-06-01T00:00:00.000Z', ...event });
    lines.push(line);
    prev = sha;
  };
  const bundle = (
    edge: 'genesis' | 'commit',
    parent: (BundleBody & { id: string }) | null,
    tree: string,
    rank: Rank,
  ): BundleBody & { id: string } => {
    const text = summaryText({ changes: [], obligations, before: parent?.rank ?? null, after: rank, edge });
    const body: BundleBody = {
      format: 'pawl.bundle/1',
      header,
      era: 0,
      seq: parent === null ? 0 : parent.seq + 1,
      edge,
      parent: parent?.id ?? null,
      contract,
      tree,
      latent: null,
      rank,
      potential: potential(rank),
      summary: sha256Text(text),
    };
    return { ...body, id: bundleId(body) };
  };

  let head = bundle('genesis', null, trees[0] ?? '', task.verdicts[0]?.rank ?? []);
  const chain = [head];
  append({ type: 'declare', body: { run, header, contract, task: 'small' } });
  append({ type: 'genesis', body: { bundle: head.id, tree: head.tree, rank: head.rank, potential: head.potential, runs: 1 } });

  const cache = new Map<string, Verdict>();
  const asked = new Map<number, number>();
  const verify = (i: number): Verdict => {
    const spec = task.verdicts[i];
    const times = (asked.get(i) ?? 0) + 1;
    asked.set(i, times);
    if (spec === undefined || spec.kind === 'crash' || (spec.kind === 'crash once' && times === 1)) {
      return { kind: 'no_verdict', code: 'crash', message: 'the verifier crashed', runs: [] };
    }
    if (spec.kind === 'invalid') return { kind: 'invalid', code: 'protected_path', message: 'touched a protected path' };
    return { kind: 'ranked', rank: spec.rank, runs: [], stable: spec.kind !== 'unstable', advisory: {}, details: {} };
  };

  const transitions: Result['transitions'][number][] = [];
  const memory: MemoryEntry[] = [];
  let cachedContenders = 0;
  for (const [r, round] of script.entries()) {
    const base = head;
    if (base.potential === 0) break;
    const first = transitions.length + 1;
    const seen = new Map<string, number>([[base.tree, 0]]);
    append({
      type: 'round',
      body: {
        round: r + 1,
        base: base.id,
        slots: round.map((_, slot) => ({ n: first + slot, slot, draw: first + slot })),
        reserved: round.map(() => noAmounts()),
      },
    });
    const slots = round.map((proposal, slot): SlotInput => {
      const empty: SlotInput = { slot, tree: null, contract, verdict: null, verdictSource: 'none', duplicateOf: null, aborted: false };
      if (proposal === 'stop') return { ...empty, aborted: true };
      if (proposal === 'none')
        return { ...empty, verdict: { kind: 'invalid', code: 'no_candidate', message: 'no candidate in the reply' } };
      const i = proposal % trees.length;
      const tree = trees[i] ?? '';
      const duplicateOf = seen.get(tree);
      if (duplicateOf !== undefined) return { ...empty, tree, duplicateOf };
      seen.set(tree, first + slot);
      const cached = cache.get(tree);
      if (cached !== undefined) return { ...empty, tree, verdict: cached, verdictSource: 'cache' };
      const verdict = verify(i);
      if (verdict.kind === 'invalid' || (verdict.kind === 'ranked' && verdict.stable)) cache.set(tree, verdict);
      return { ...empty, tree, verdict, verdictSource: 'fresh' };
    });
    const decision = decideRound({ head: base, obligations, slots: [...arrival(slots)] });
    cachedContenders += decision.slots.filter((s) => decision.contenders.includes(s.slot) && s.verdictSource === 'cache').length;
    const finished = finishRound(decision, decision.contenders[0] ?? null, []);
    for (const s of finished.slots) {
      const n = first + s.slot;
      const rank = s.verdict?.kind === 'ranked' ? s.verdict.rank : null;
      const result = s.verdict;
      if (result !== null) {
        append({
          type: 'verdict',
          body: {
            n,
            of: 'candidate',
            tree: s.tree,
            contract,
            result:
              result.kind === 'ranked'
                ? { kind: 'ranked', rank: result.rank, stable: result.stable, runs: 1 }
                : result.kind === 'invalid'
                  ? { kind: 'invalid', code: result.code }
                  : { kind: 'no_verdict', code: result.code, runs: 1 },
            source: s.verdictSource,
            record: sha256Text(`record ${n}`),
            outputs: [],
          },
        });
      }
      let committed: string | null = null;
      if (s.outcome === 'commit' && s.tree !== null && rank !== null) {
        head = bundle('commit', base, s.tree, rank);
        chain.push(head);
        committed = head.id;
      } else if (s.outcome !== 'commit') {
        memory.push(
          memoryEntry({
            run,
            contract,
            transition: n,
            base: base.id,
            baseRank: base.rank,
            tree: s.tree,
            outcome: s.outcome,
            verdict: s.verdict,
            changes: [],
            hunks: [],
            excerpt: '',
            note: null,
          }),
        );
      }
      transitions.push({ ...s, n, round: r + 1, base: base.id, bundle: committed });
      append({
        type: 'decision',
        body: {
          n,
          round: r + 1,
          slot: s.slot,
          base: base.id,
          outcome: s.outcome,
          tree: s.tree,
          rank,
          bundle: committed,
          duplicateOf: s.duplicateOf,
          verdictSource: s.verdictSource,
        },
      });
    }
  }
  append({ type: 'stop', body: { reason: head.potential === 0 ? 'zero_rank' : 'budget' } });
  return { chain, transitions, memory, lines, cachedContenders };
}
