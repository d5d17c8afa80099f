import { describe, expect, test } from 'vitest';
import { outcomes } from '#shared/domain/transition.ts';
import type { RunStore } from '#renderer/state/run-data.ts';
import {
  bisect,
  changeStep,
  commitStep,
  end,
  enterVariations,
  kindStep,
  leaveVariation,
  nearMisses,
  step,
  variationPlace,
  variationsOf,
  winnerOfRound,
} from '#renderer/state/steps.ts';
import { handRun, loadedRun } from './loaded.ts';

const all: ReadonlySet<number> = new Set();
const code = (name: (typeof outcomes)[number]) => outcomes.indexOf(name);
const commits = (data: RunStore) => Array.from({ length: data.count }, (_, i) => i + 1).filter((n) => data.outcome(n) === code('commit'));

describe('against a plain walk over an invented run', async () => {
  const data = await loadedRun({ count: 240, seed: 7 });
  const kept = commits(data);

  test('commit to commit', () => {
    for (let n = 1; n <= data.count; n++) {
      expect(commitStep(data, n, 1)).toBe(kept.find((c) => c > n) ?? null);
      expect(commitStep(data, n, -1)).toBe(kept.findLast((c) => c < n) ?? null);
    }
  });
  test('variations are exactly the transitions on one base', () => {
    for (let seq = 0; seq < data.chainLength; seq++) {
      const own = Array.from({ length: data.count }, (_, i) => i + 1).filter((n) => data.baseSeq(n) === seq);
      expect(variationsOf(data, seq)).toEqual(own.length === 0 ? null : { from: own[0], to: own.at(-1) });
      const rejected = own.filter((n) => data.outcome(n) !== code('commit'));
      for (const [i, n] of rejected.entries()) expect(variationPlace(data, n)).toEqual({ index: i + 1, total: rejected.length });
    }
    for (const n of kept) expect(variationPlace(data, n)).toBeNull();
  });
  test('leaving goes to the commit a transition was tried on, entering to the first one tried on it', () => {
    const entered = kept.flatMap((n) => enterVariations(data, n, all) ?? []);
    expect(entered.length).toBeGreaterThan(10);
    expect(entered.map((first) => leaveVariation(data, first))).toEqual(kept.slice(0, entered.length));
    expect(entered.map((first) => data.baseSeq(first - 1) < data.baseSeq(first))).toEqual(entered.map(() => true));
    expect(leaveVariation(data, 1)).toBeNull();
  });
  test('bisect finds the first bundle with the present value', () => {
    for (let n = 1; n <= data.count; n += 7) {
      for (let i = 0; i < data.m; i++) {
        const found = bisect(data, n, i);
        const value = data.baseRank(n)[i];
        let seq = 0;
        while (data.chainRank(seq)[i] !== value) seq++;
        expect(found).toEqual({ seq, transition: data.chainTransition(seq), value });
      }
    }
  });
  test('a near miss gained something, stands on the same base, and losses come first', () => {
    for (let n = 1; n <= data.count; n++) {
      const near = nearMisses(data, n, 5);
      for (const miss of near) {
        expect(miss.better).toBeGreaterThan(0);
        expect(miss.n).not.toBe(n);
        expect(data.baseSeq(miss.n)).toBe(data.baseSeq(n));
      }
      expect(near.map((m) => m.worse)).toEqual(near.map((m) => m.worse).toSorted((a, b) => a - b));
    }
  });
});

describe('by hand', async () => {
  // 1 tie, 2 commit a 3->2, 3 incomparable, 4 tie, 5 regression on b, 6 commit a 2->1 and its rival 7 in the same round.
  const data = await handRun(
    [3, 1],
    [
      { outcome: 'tie', rank: [3, 1], baseSeq: 0 },
      { outcome: 'commit', rank: [2, 1], baseSeq: 0 },
      { outcome: 'incomparable', rank: [1, 2], baseSeq: 1 },
      { outcome: 'tie', rank: [2, 1], baseSeq: 1 },
      { outcome: 'regression', rank: [2, 3], baseSeq: 1 },
      { outcome: 'commit', rank: [1, 1], baseSeq: 1, round: 6 },
      { outcome: 'not_selected', rank: [1, 1], baseSeq: 1, round: 6 },
    ],
  );
  test('hidden outcomes are stepped over', () => {
    const noTies = new Set([code('tie')]);
    expect(step(data, 3, 1, noTies)).toBe(5);
    expect(step(data, 3, 1, all)).toBe(4);
    expect(step(data, 7, 1, all)).toBeNull();
    expect(end(data, -1, noTies)).toBe(2);
    expect(end(data, 1, new Set([code('not_selected')]))).toBe(6);
  });
  test('changes of one obligation', () => {
    expect(changeStep(data, 2, 1, 1, all)).toBe(3);
    expect(changeStep(data, 3, 1, 1, all)).toBe(5);
    expect(changeStep(data, 5, 1, 1, all)).toBeNull();
    expect(changeStep(data, 5, -1, 0, all)).toBe(3);
  });
  test('the same kind', () => {
    expect(kindStep(data, 1, 1)).toBe(4);
    expect(kindStep(data, 4, 1)).toBeNull();
    expect(kindStep(data, 6, -1)).toBe(2);
  });
  test('the winner of a round', () => {
    expect(winnerOfRound(data, 7)).toBe(6);
    expect(winnerOfRound(data, 5)).toBeNull();
  });
  test('an obligation that never changed has had its value since the seed', () => {
    expect(bisect(data, 7, 1)).toEqual({ seq: 0, transition: -1, value: 1 });
    expect(bisect(data, 7, 0)).toEqual({ seq: 1, transition: 2, value: 2 });
  });
  test('a commit among its siblings does not count as a variation', () => {
    expect(variationPlace(data, 7)).toEqual({ index: 4, total: 4 });
  });
});
