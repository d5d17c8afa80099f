import { describe, expect, test } from 'vitest';
import { allStrict } from './mutants/all-strict.ts';
import { anyImproves } from './mutants/any-improves.ts';
import { firstSlot } from './mutants/first-slot.ts';
import { lexicographic } from './mutants/lexicographic.ts';
import { maxOnly } from './mutants/max-only.ts';
import { passCount } from './mutants/pass-count.ts';
import { rulesWith } from './mutants/rules-with.ts';
import { skipHoles } from './mutants/skip-holes.ts';
import { weakOrder } from './mutants/weak-order.ts';
import { weightedSum } from './mutants/weighted-sum.ts';
import { worstWinner } from './mutants/worst-winner.ts';
import { realRules } from './real-rules.ts';
import { lawNames, ruleSuite } from './rule-suite.ts';

test('the real rules hold every law', () => {
  expect(lawNames.length).toBeGreaterThanOrEqual(14);
  expect(ruleSuite(realRules, 3_000)).toEqual([]);
});

test('the decision that mutants are made of holds every law as long as nothing is replaced', () => {
  expect(ruleSuite(rulesWith('no mutation', {}))).toEqual([]);
});

describe('mutants are killed, by the law that names their mistake', () => {
  test.each([
    [weightedSum, 'no coordinate worsens along a chain'],
    [lexicographic, 'no coordinate worsens along a chain'],
    [weakOrder, 'every commit lowers the potential, so it bounds the commits'],
    [anyImproves, 'no coordinate worsens along a chain'],
    [allStrict, 'strict progress is never refused'],
    [passCount, 'no coordinate worsens along a chain'],
    [maxOnly, 'no coordinate worsens along a chain'],
    [firstSlot, 'the order of slots does not choose the winner'],
    [worstWinner, 'the winner is Pareto-minimal among the candidates that dominate the head'],
    [skipHoles, 'a malformed rank never commits and disturbs nobody else'],
  ])('$name', (mutant, law) => {
    const failures = ruleSuite(mutant);
    expect(failures.map((f) => f.law)).toContain(law);
    expect(failures.find((f) => f.law === law)?.counterexample).toMatch(/^\[/);
  });
});
