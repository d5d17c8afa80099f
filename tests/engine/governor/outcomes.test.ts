// Every outcome, as semantics.md sections 2, 3, 5 and 11 say when it occurs, and what each leaves behind.
import { describe, expect, test } from 'vitest';
import { ensure } from '#shared/lib/assert.ts';
import { sha256Text } from '#shared/lib/hash.ts';
import { treeOf } from '../../support/engine/builders.ts';
import { scriptedRun, seedFiles, type ScriptedRunOptions } from '../../support/engine/scripted-run.ts';
import type { Scripted } from '../../support/engine/scripted-proposer.ts';

const contract = { caps: [10, 10] };
const seed = { rank: [5, 5] };

/** One round per list of answers, a slot each; the budget ends the run after the last. */
const rounds = (...list: readonly (readonly Scripted[])[]): Pick<ScriptedRunOptions, 'contract' | 'seed' | 'script' | 'header'> => {
  const answers = list.flat();
  return {
    contract,
    seed,
    header: { slots: ensure(list[0], 'first round').length, budget: { attempts: answers.length } },
    script: ({ draw }) => ensure(answers[draw - 1], `answer to draw ${draw}`),
  };
};

const at = (rank: number[], salt = 0): Scripted => ({ state: { rank, salt } });

describe('outcomes', () => {
  test('dominating, tied, regressing and incomparable candidates', async () => {
    const run = scriptedRun(rounds([at([4, 5]), at([5, 5], 1), at([6, 5]), at([4, 6])]));
    expect(await run.end()).toEqual({ kind: 'stopped', reason: 'budget', note: null });
    expect(run.store.transitions.map(({ outcome }) => outcome)).toEqual(['commit', 'tie', 'regression', 'incomparable']);
    expect(run.store.chain.map(({ rank }) => rank)).toEqual([
      [5, 5],
      [4, 5],
    ]);
  });

  test('one commit a round: the others that dominated are not selected, the smallest potential wins', async () => {
    const run = scriptedRun(rounds([at([4, 5]), at([3, 4]), at([4, 4])]));
    await run.end();
    expect(run.store.transitions.map(({ outcome }) => outcome)).toEqual(['not_selected', 'commit', 'not_selected']);
    const [first] = run.store.transitions;
    expect(run.store.memory.map(({ transition, outcome }) => [transition, outcome])).toEqual([
      [1, 'not_selected'],
      [3, 'not_selected'],
    ]);
    expect(run.store.memory[0]).toMatchObject({ rank: [4, 5], signs: [-1, 0], base: first?.base });
  });

  test('a tree equal to the head, and one equal to an earlier slot, are duplicates without a verdict', async () => {
    const run = scriptedRun(rounds(['base', at([6, 6]), at([6, 6])]));
    await run.end();
    expect(
      run.store.transitions.map(({ outcome, duplicateOf, verdict, verdictSource }) => ({
        outcome,
        duplicateOf,
        verdict: verdict !== null,
        verdictSource,
      })),
    ).toEqual([
      { outcome: 'duplicate', duplicateOf: 0, verdict: false, verdictSource: 'none' },
      { outcome: 'regression', duplicateOf: null, verdict: true, verdictSource: 'fresh' },
      { outcome: 'duplicate', duplicateOf: 2, verdict: false, verdictSource: 'none' },
    ]);
    expect(run.verifier.began).toHaveLength(1);
    expect(run.store.used().verifierRuns).toBe(1);
  });

  test('an unreadable response, no response, and a bad path are invalid without a tree; all are charged', async () => {
    const run = scriptedRun(rounds(['garbage', 'silence', { files: { '../out': 'x' } }]));
    await run.end();
    expect(run.store.transitions.map(({ outcome, tree, response }) => [outcome, tree, response !== null])).toEqual([
      ['invalid', null, true],
      ['invalid', null, false],
      ['invalid', null, true],
    ]);
    const verdicts = run.store.transitions.map(({ verdict }) => run.store.verdicts.get(verdict ?? ''));
    expect(verdicts.map((v) => (v?.kind === 'invalid' ? v.code : null))).toEqual(['no_candidate', 'no_candidate', 'bad_path']);
    expect(run.store.used()).toMatchObject({ attempts: 3, requests: 3, verifierRuns: 0 });
  });

  test('a touched protected path is invalid with a tree, and reused from the cache when it comes back', async () => {
    const touched: Scripted = { files: { 'protected.txt': 'mine' } };
    const run = scriptedRun(rounds([touched], [touched]));
    await run.end();
    expect(run.store.transitions.map(({ outcome, verdictSource, tree }) => [outcome, verdictSource, tree !== null])).toEqual([
      ['invalid', 'fresh', true],
      ['invalid', 'cache', true],
    ]);
    expect(run.verifier.began).toHaveLength(0);
  });

  test('a missing verdict is charged, never cached and verified again', async () => {
    const state = { noVerdict: 'crash' as const };
    const run = scriptedRun({
      ...rounds([{ state }], [{ state }]),
      verifier: { override: (_, time, said) => (time === 1 ? said : { rank: [1, 1] }) },
    });
    await run.end();
    expect(run.store.transitions.map(({ outcome, verdictSource }) => [outcome, verdictSource])).toEqual([
      ['no_verdict', 'fresh'],
      ['commit', 'fresh'],
    ]);
  });

  test('a malformed rank is no verdict and never commits', async () => {
    const run = scriptedRun(rounds([at([1]), at([0.5, 1]), at([-1, 1]), at([1, 11])]));
    await run.end();
    expect(run.store.transitions.map(({ outcome }) => outcome)).toEqual(['no_verdict', 'no_verdict', 'no_verdict', 'no_verdict']);
    const [verdict] = run.store.transitions.map((t) => run.store.verdicts.get(t.verdict ?? ''));
    expect(verdict).toMatchObject({ kind: 'no_verdict', code: 'malformed' });
    expect(run.store.chain).toHaveLength(1);
  });

  test('infrastructure faults are tried again within the reservation, and every execution is charged', async () => {
    const faulty: Scripted = { state: { noVerdict: 'infra' } };
    const run = scriptedRun({
      ...rounds([faulty], [{ state: { noVerdict: 'infra', salt: 1 } }]),
      contract: { caps: [10, 10], infraRetries: 2 },
      verifier: { override: (_, time, said) => (time === 3 && said.salt === undefined ? { rank: [4, 5] } : said) },
    });
    await run.end();
    expect(run.store.transitions.map(({ outcome }) => outcome)).toEqual(['commit', 'no_verdict']);
    expect(run.store.transitions.map(({ cost }) => cost.charged.verifierRuns)).toEqual([3, 3]);
  });
});

describe('what a rejection leaves', () => {
  test('the head stays the same object, and every rejection has one memory entry', async () => {
    const run = scriptedRun(rounds([at([6, 5]), 'garbage'], [at([5, 5], 7), 'base']));
    await run.end();
    expect(run.store.chain).toHaveLength(1);
    const head = ensure(run.store.chain[0], 'head');
    expect(run.store.transitions.every(({ base }) => base === head.id)).toBe(true);
    expect(run.store.memory.map(({ transition }) => transition)).toEqual([1, 2, 3, 4]);
    const [regression, garbage] = run.store.memory;
    expect(regression).toMatchObject({
      outcome: 'regression',
      rank: [6, 5],
      signs: [1, 0],
      features: { worsened: 1, sumBefore: 10, sumAfter: 11, committed: false },
    });
    expect(regression?.changes.map(({ path }) => path)).toEqual(['state.json']);
    expect(regression?.excerpt).toContain('details of');
    expect(garbage).toMatchObject({
      outcome: 'invalid',
      rank: null,
      signs: null,
      changes: [],
      features: { hasVerdict: false, verdictKind: 'invalid' },
    });
  });

  test('a commit carries the summary of its facts, and its id is that of its body', async () => {
    const run = scriptedRun(rounds([at([0, 5])]));
    await run.end();
    const bundle = ensure(run.store.chain[1], 'bundle');
    expect(bundle.summary).toBe(sha256Text(bundle.summaryText));
    expect(bundle.summaryText).toContain('- o0: 5 -> 0 (discharged)');
    expect(bundle).toMatchObject({ seq: 1, era: 0, edge: 'commit', transition: 1, potential: 5, latent: null });
  });
});

describe('the cache', () => {
  test('a ranked rejection that comes back is not a duplicate: verdict from the cache, charged, still rejected under a later head', async () => {
    const rejected = at([6, 1]);
    const run = scriptedRun(rounds([rejected], [at([5, 4])], [rejected]));
    await run.end();
    expect(run.store.transitions.map(({ outcome, verdictSource, duplicateOf }) => [outcome, verdictSource, duplicateOf])).toEqual([
      ['incomparable', 'fresh', null],
      ['commit', 'fresh', null],
      ['incomparable', 'cache', null],
    ]);
    expect(run.store.transitions[2]?.verdict).toBe(run.store.transitions[0]?.verdict);
    expect(run.verifier.began).toHaveLength(2);
    expect(run.store.used()).toMatchObject({ attempts: 3, verifierRuns: 2 });
  });

  test('permanence: an earlier head and a not selected sibling can never commit later', async () => {
    const run = scriptedRun(rounds([at([4, 4]), at([4, 5])], [at([4, 5]), { files: { 'state.json': JSON.stringify(seed) } }]));
    await run.end();
    expect(run.store.transitions.map(({ outcome, verdictSource }) => [outcome, verdictSource])).toEqual([
      ['commit', 'fresh'],
      ['not_selected', 'fresh'],
      ['regression', 'cache'],
      ['regression', 'cache'],
    ]);
  });

  /** A branch from an earlier head knows verdicts of trees that dominate it. */
  const branch = (measuredNow: number[]) => {
    const files = seedFiles({ rank: [4, 5], salt: 0 });
    const run = scriptedRun({
      ...rounds([at([4, 5]), at([5, 4], 9)]),
      verifier: { override: (tree, _, said) => (tree === treeOf(files) ? { rank: measuredNow } : said) },
    });
    const known = { kind: 'ranked', rank: [4, 5], runs: [], stable: true, advisory: {}, details: {} } as const;
    run.store.verdicts.set(sha256Text('ancestor'), { ...known, rank: [4, 5], runs: [] });
    run.store.trees.set(treeOf(files), []);
    const loop = run.go((state) => ({
      ...state,
      cached: [
        ...state.cached,
        { tree: treeOf(files), verdictSha: sha256Text('ancestor'), verdict: { ...known, rank: [4, 5], runs: [] }, n: null },
      ],
    }));
    return { run, done: loop.done };
  };

  test('a would-be commit from the cache is measured afresh and commits with the new verdict', async () => {
    const { run, done } = branch([4, 5]);
    await done;
    expect(run.store.transitions.map(({ outcome, verdictSource }) => [outcome, verdictSource])).toEqual([
      ['commit', 'fresh'],
      ['not_selected', 'fresh'],
    ]);
    expect(run.store.transitions[0]?.verdict).not.toBe(sha256Text('ancestor'));
    expect(run.store.transitions[0]?.cost.charged.verifierRuns).toBe(1);
    const sources = run.store.events.flatMap((e) => (e.type === 'verdict' && e.body.n === 1 ? [e.body.source] : []));
    expect(sources).toEqual(['cache', 'fresh']);
  });

  test('one that measures differently now is unstable, and the next contender is tried', async () => {
    const { run, done } = branch([3, 5]);
    await done;
    expect(run.store.transitions.map(({ outcome }) => outcome)).toEqual(['unstable', 'commit']);
  });

  test('one that gets no verdict now has none', async () => {
    const { run, done } = branch([99, 99]);
    await done;
    expect(run.store.transitions.map(({ outcome }) => outcome)).toEqual(['no_verdict', 'commit']);
  });
});

test('the events of a round: round, proposals, verdicts, decisions, stop', async () => {
  const run = scriptedRun(rounds([at([4, 5]), 'base']));
  await run.end();
  expect(run.store.events.map(({ type }) => type)).toEqual([
    'declare',
    'verdict',
    'genesis',
    'round',
    'proposal',
    'proposal',
    'verdict',
    'decision',
    'decision',
    'stop',
  ]);
  const proposal = run.store.events.find(({ type }) => type === 'proposal');
  expect(proposal?.body).toMatchObject({ n: 1, round: 1, slot: 0, retrieved: [], featuresShown: null });
});
