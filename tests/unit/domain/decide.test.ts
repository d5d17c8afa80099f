import { describe, expect, test } from 'vitest';
import { type Confirmation, decideRound, DecisionInputError, finishRound, type RoundInput, type SlotInput } from '#shared/domain/decide.ts';
import { ContractMismatchError } from '#shared/domain/rank.ts';
import { selectionOrder } from '#shared/domain/select.ts';
import type { Rank, Verdict } from '#shared/domain/verdict.ts';
import { sha256Text } from '#shared/lib/hash.ts';

const contract = sha256Text('contract');
const tree = (name: string): string => sha256Text(`tree ${name}`);
const obligations = [
  { cap: 5, key: 'first' },
  { cap: 5, key: 'second' },
];
const head = { id: sha256Text('head'), contract, rank: [3, 3], tree: tree('head') };
const ranked = (rank: Rank, stable = true): Verdict => ({ kind: 'ranked', rank, runs: [], stable, advisory: {}, details: {} });
const crash: Verdict = { kind: 'no_verdict', code: 'crash', message: 'exit 2', runs: [] };
const slot = (n: number, verdict: Verdict | null, more: Partial<SlotInput> = {}): SlotInput => ({
  slot: n,
  tree: tree(`${n}`),
  contract,
  verdict,
  verdictSource: 'fresh',
  duplicateOf: null,
  aborted: false,
  ...more,
});
const decide = (...slots: SlotInput[]): ReturnType<typeof decideRound> => decideRound({ head, obligations, slots });
const outcomesOf = (...slots: SlotInput[]): string[] => {
  const decision = decide(...slots);
  return finishRound(decision, decision.contenders[0] ?? null, []).slots.map((s) => s.outcome);
};
const confirmation = (n: number, verdict: Verdict, unstable = false): Confirmation => ({ slot: n, contract, verdict, unstable });

describe('every row of a round', () => {
  test.each<[string, SlotInput, string]>([
    ['dominates', slot(0, ranked([3, 2])), 'commit'],
    ['equal rank', slot(0, ranked([3, 3])), 'tie'],
    ['worse', slot(0, ranked([3, 4])), 'regression'],
    ['better and worse', slot(0, ranked([0, 4])), 'incomparable'],
    ['runs that disagree, although the worst dominates', slot(0, ranked([0, 0], false)), 'unstable'],
    ['protected path', slot(0, { kind: 'invalid', code: 'protected_path', message: '' }), 'invalid'],
    ['no candidate', slot(0, { kind: 'invalid', code: 'no_candidate', message: '' }, { tree: null, verdictSource: 'none' }), 'invalid'],
    ['crash', slot(0, crash), 'no_verdict'],
    ['stopped while verifying', slot(0, { ...crash, code: 'aborted' }), 'aborted'],
    ['stopped before', slot(0, null, { aborted: true, tree: null }), 'aborted'],
    ['stopped with a verdict', slot(0, ranked([0, 0]), { aborted: true }), 'aborted'],
    ['the head again', slot(0, null, { tree: head.tree, duplicateOf: 0, verdictSource: 'none' }), 'duplicate'],
    ['an earlier rejection from the cache', slot(0, ranked([3, 4]), { verdictSource: 'cache' }), 'regression'],
    ['above the cap', slot(0, ranked([0, 6])), 'no_verdict'],
    ['too short', slot(0, ranked([0])), 'no_verdict'],
    ['NaN', slot(0, ranked([0, Number.NaN])), 'no_verdict'],
  ])('%s', (_, input, outcome) => {
    expect(outcomesOf(input)).toEqual([outcome]);
  });

  test('a malformed rank becomes a verdict that says so, and keeps its runs', () => {
    const runs = [{ id: 'r1', durationMs: 3, output: null }];
    const [s] = decide(slot(0, { ...ranked([0, 6]), kind: 'ranked', rank: [0, 6], runs, stable: true, advisory: {}, details: {} })).slots;
    expect(s?.verdict).toEqual({ kind: 'no_verdict', code: 'malformed', message: 'coordinate 1 (second) is 6, above its cap 5', runs });
    expect(s?.relation).toBeNull();
  });

  test('an empty round has no winner', () => {
    expect(finishRound(decide(), null, [])).toEqual({ head, winner: null, slots: [] });
  });
});

describe('selection', () => {
  test('by potential, then rank in obligation order, then tree', () => {
    const lower = tree('x') < tree('y') ? 'x' : 'y';
    const order = selectionOrder([
      { name: 'c', rank: [2, 1], tree: tree('c') },
      { name: 'x', rank: [1, 2], tree: tree('x') },
      { name: 'y', rank: [1, 2], tree: tree('y') },
      { name: 'e', rank: [2, 0], tree: tree('e') },
      { name: 'd', rank: [0, 2], tree: tree('d') },
    ]).map((c) => c.name);
    expect(order).toEqual(['d', 'e', lower, lower === 'x' ? 'y' : 'x', 'c']);
  });

  test('one tree twice and ranks of two lengths have no order', () => {
    const a = { rank: [1], tree: tree('a') };
    expect(() => selectionOrder([a, { ...a, rank: [2] }])).toThrow('the later one is a duplicate');
    expect(() => selectionOrder([a, { rank: [1, 2], tree: tree('b') }])).toThrow('ranks of 1 and 2 coordinates');
    expect(selectionOrder([])).toEqual([]);
  });

  test('one commit a round; the other dominators are not selected, in slot order', () => {
    const slots = [
      slot(2, ranked([0, 3])),
      slot(0, ranked([2, 3])),
      slot(1, ranked([4, 0])),
      slot(3, null, { tree: tree('2'), duplicateOf: 3 }),
    ];
    const decision = decide(...slots);
    expect(decision.contenders).toEqual([2, 0]);
    const { winner, slots: final } = finishRound(decision, 2, []);
    expect(winner).toBe(2);
    expect(final.map((s) => [s.slot, s.outcome, s.relation])).toEqual([
      [0, 'not_selected', 'dominates'],
      [1, 'incomparable', 'incomparable'],
      [2, 'commit', 'dominates'],
      [3, 'duplicate', null],
    ]);
  });
});

describe('confirmation', () => {
  const two = decide(slot(0, ranked([1, 1])), slot(1, ranked([2, 2])));

  test('a confirmed winner carries the aggregate of all runs', () => {
    const { slots, winner } = finishRound(two, 0, [confirmation(0, ranked([2, 1]))]);
    expect(winner).toBe(0);
    expect(slots.map((s) => [s.outcome, s.verdict?.kind === 'ranked' ? s.verdict.rank : null])).toEqual([
      ['commit', [2, 1]],
      ['not_selected', [2, 2]],
    ]);
  });

  test.each<[string, Confirmation, string]>([
    ['runs disagree', confirmation(0, ranked([1, 1], false)), 'unstable'],
    ['the paired check fails', confirmation(0, ranked([1, 1]), true), 'unstable'],
    ['the verifier crashes', confirmation(0, crash), 'no_verdict'],
    ['the budget does not allow it', confirmation(0, { ...crash, code: 'budget' }), 'no_verdict'],
    ['crash although called unstable', confirmation(0, crash, true), 'no_verdict'],
    ['it was stopped', confirmation(0, { ...crash, code: 'aborted' }), 'aborted'],
    ['it is worse when measured again', confirmation(0, ranked([1, 4])), 'incomparable'],
    ['it is equal when measured again', confirmation(0, ranked([3, 3])), 'tie'],
    ['its rank is malformed', confirmation(0, ranked([1, 9])), 'no_verdict'],
  ])('%s: that outcome, and the next one is tried', (_, failed, outcome) => {
    expect(finishRound(two, 1, [failed]).slots.map((s) => s.outcome)).toEqual([outcome, 'commit']);
    expect(finishRound(two, null, [failed, confirmation(1, crash)]).slots.map((s) => s.outcome)).toEqual([outcome, 'no_verdict']);
  });

  test('a cached verdict may reject but never commit', () => {
    const cached = decide(slot(0, ranked([1, 1]), { verdictSource: 'cache' }));
    expect(() => finishRound(cached, 0, [])).toThrow('slot 0 would commit from the cache; it has to be measured afresh');
    const [s] = finishRound(cached, 0, [confirmation(0, ranked([1, 1]))]).slots;
    expect([s?.outcome, s?.verdictSource]).toEqual(['commit', 'fresh']);
  });

  test.each<[string, number | null, Confirmation[], string]>([
    ['passing over a better contender', 1, [], 'slot 0 ranks before the winner and was not confirmed'],
    ['no winner without a reason', null, [], 'slot 0 ranks before the winner and was not confirmed'],
    [
      'passing over a better contender that held',
      1,
      [confirmation(0, ranked([1, 1]))],
      'slot 0 held its confirmation and ranks before slot 1',
    ],
    [
      'no winner although one held',
      null,
      [confirmation(0, crash), confirmation(1, ranked([2, 2]))],
      'slot 1 held its confirmation and ranks before nothing',
    ],
    [
      'a winner that did not hold',
      0,
      [confirmation(0, ranked([1, 1], false))],
      'slot 0 was named the winner, but its confirmation is unstable',
    ],
    ['a winner that does not contend', 7, [], 'slot 7 does not contend and cannot win'],
    ['a confirmation behind the winner', 0, [confirmation(1, crash)], 'slot 1 was confirmed but never tried'],
    ['a confirmation of nobody', 0, [confirmation(9, crash)], 'slot 9 was confirmed but never tried'],
    ['two confirmations of one slot', 1, [confirmation(0, crash), confirmation(0, crash)], 'slot 0 was confirmed twice'],
  ])('refused: %s', (_, winner, confirmations, message) => {
    expect(() => finishRound(two, winner, confirmations)).toThrow(new DecisionInputError(message));
  });

  test('a confirmation under another contract is an error', () => {
    expect(() => finishRound(two, 0, [{ ...confirmation(0, ranked([1, 1])), contract: sha256Text('other') }])).toThrow(
      ContractMismatchError,
    );
  });
});

describe('contradictory records are refused', () => {
  test.each<[string, SlotInput[], string]>([
    ['slot twice', [slot(0, crash), slot(0, crash, { tree: tree('b') })], 'slot 0 is given twice'],
    ['no verdict', [slot(0, null)], 'slot 0 has no verdict and is neither a duplicate nor aborted'],
    ['rank without tree', [slot(0, ranked([1, 1]), { tree: null })], 'slot 0 has a rank but no tree'],
    ['duplicate without tree', [slot(0, null, { tree: null, duplicateOf: 3 })], 'slot 0 is a duplicate without a tree'],
    ['head unmarked', [slot(0, ranked([1, 1]), { tree: head.tree })], "slot 0 has the head's tree but is not marked as a duplicate of it"],
    [
      'head marked as something else',
      [slot(0, null, { tree: head.tree, duplicateOf: 4 })],
      "slot 0: duplicateOf is 0 if and only if the tree is the head's",
    ],
    [
      'marked as head but another tree',
      [slot(0, null, { duplicateOf: 0 })],
      "slot 0: duplicateOf is 0 if and only if the tree is the head's",
    ],
    [
      'sibling unmarked',
      [slot(1, crash, { tree: tree('0') }), slot(0, crash)],
      'slot 1 has the tree of slot 0 but is not marked as its duplicate',
    ],
  ])('%s', (_, slots, message) => {
    expect(() => decide(...slots)).toThrow(new DecisionInputError(message));
  });

  test('a malformed head, a verdict of another contract', () => {
    const input: RoundInput = { head: { ...head, rank: [9, 0] }, obligations, slots: [] };
    expect(() => decideRound(input)).toThrow("the head's rank is malformed: coordinate 0 (first) is 9, above its cap 5");
    expect(() => decide(slot(0, ranked([1, 1]), { contract: sha256Text('other') }))).toThrow(ContractMismatchError);
  });
});
