// Would-be commits measured again: staged confirmation, the paired check, faults, and what is kept of it. Semantics, sections 3, 4 and 7.
import { describe, expect, test } from 'vitest';
import type { Budget } from '#shared/domain/budget.ts';
import { ensure } from '#shared/lib/assert.ts';
import { treeOf } from '../../support/engine/builders.ts';
import type { ContractOptions } from '../../support/engine/builders.ts';
import { type ScriptedRun, type ScriptedRunOptions, scriptedRun, seedFiles } from '../../support/engine/scripted-run.ts';
import { randomScript } from '../../support/engine/random-script.ts';
import type { Scripted } from '../../support/engine/scripted-proposer.ts';
import type { ScriptedVerifierOptions, State } from '../../support/engine/scripted-verifier.ts';

const seed: State = { rank: [5, 5] };
const base = treeOf(seedFiles(seed));
const at = (rank: number[], salt = 0): Scripted => ({ state: { rank, salt } });
const treeAt = (rank: number[], salt = 0) => treeOf(seedFiles({ rank, salt }));

type Options = {
  readonly contract?: Partial<ContractOptions>;
  readonly budget?: Partial<Budget>;
  readonly verifier?: ScriptedVerifierOptions;
  readonly monotonicMs?: () => number;
};

const three = { confirmRuns: 3, paired: true };

/** Rounds of equal width, confirmed by three runs beside the base unless said otherwise. */
const rounds = (list: readonly (readonly Scripted[])[], { contract, budget, verifier, monotonicMs }: Options = {}): ScriptedRunOptions => {
  const answers = list.flat();
  return {
    contract: { caps: [10, 10], measurement: three, ...contract },
    seed,
    header: { slots: ensure(list[0], 'first round').length, budget: { attempts: answers.length, ...budget } },
    script: ({ draw }) => ensure(answers[draw - 1], `answer to draw ${draw}`),
    ...(verifier === undefined ? {} : { verifier }),
    ...(monotonicMs === undefined ? {} : { monotonicMs }),
  };
};

const outcomes = ({ store }: ScriptedRun) => store.transitions.map(({ outcome }) => outcome);
const charged = ({ store }: ScriptedRun) => store.transitions.map(({ cost }) => cost.charged.verifierRuns);
const verdictOf = ({ store }: ScriptedRun, n: number) => store.verdicts.get(store.transitions[n - 1]?.verdict ?? '');
const verdictEvents = ({ store }: ScriptedRun) => store.events.flatMap((e) => (e.type === 'verdict' && e.body.n > 0 ? [e.body] : []));

describe('staged confirmation', () => {
  test('only a would-be commit is measured again, in turn with the base, and its bundle carries all runs', async () => {
    const run = scriptedRun(rounds([[at([6, 5]), at([4, 5]), at([4, 6])]]));
    await run.end();
    expect(outcomes(run)).toEqual(['regression', 'commit', 'incomparable']);
    const [head, other, worse] = [treeAt([4, 5]), treeAt([6, 5]), treeAt([4, 6])];
    expect(run.verifier.began).toEqual([other, head, worse, base, head, base, head, base]);
    expect(charged(run)).toEqual([1, 6, 1]);
    const verdict = verdictOf(run, 2);
    expect(verdict).toMatchObject({ kind: 'ranked', rank: [4, 5], stable: true });
    expect(verdict?.kind === 'ranked' ? verdict.runs : []).toHaveLength(3);
    expect(run.store.chain[1]?.verdict).toBe(run.store.transitions[1]?.verdict);
    expect(verdictEvents(run).map(({ n, of, tree, result }) => [n, of, tree, result.kind === 'invalid' ? null : result.runs])).toEqual([
      [1, 'candidate', other, 1],
      [2, 'candidate', head, 3],
      [2, 'base', base, 3],
      [3, 'candidate', worse, 1],
    ]);
  });

  test('without pairing the candidate alone', async () => {
    const run = scriptedRun(rounds([[at([4, 5])]], { contract: { measurement: { confirmRuns: 3, paired: false } } }));
    await run.end();
    expect(outcomes(run)).toEqual(['commit']);
    expect(run.verifier.began).toHaveLength(3);
    expect(verdictEvents(run).map(({ of }) => of)).toEqual(['candidate']);
  });

  test('a fix that comes and goes is unstable at the first run that differs, and the next contender is tried', async () => {
    const flaky = treeAt([3, 5]);
    const run = scriptedRun(
      rounds([[at([3, 5]), at([4, 5])]], {
        verifier: { override: (tree, time, said) => (tree === flaky && time === 2 ? { rank: [5, 5] } : said) },
      }),
    );
    await run.end();
    expect(outcomes(run)).toEqual(['unstable', 'commit']);
    expect(verdictOf(run, 1)).toMatchObject({ kind: 'ranked', rank: [5, 5], stable: false, runs: [{}, {}] });
    // Screening, base, and the run that differs; the contender behind it is measured in full.
    expect(charged(run)).toEqual([3, 6]);
    expect(run.store.memory[0]).toMatchObject({ outcome: 'unstable', rank: [5, 5] });
  });

  test('what disagreed is kept whole: runs, outputs and the measurements of the base', async () => {
    const flaky = treeAt([3, 5]);
    const commits: { runs: number; tree: string | null }[] = [];
    const options = rounds([[at([3, 5])]], {
      verifier: { override: (tree, time, said) => (tree === flaky && time === 3 ? { rank: [3, 9] } : said) },
    });
    const run = scriptedRun(options);
    const commitRound = run.store.commitRound.bind(run.store);
    run.store.commitRound = (input) => {
      commits.push(...input.verdicts.map(({ runs, tree }) => ({ runs: runs.length, tree })));
      return commitRound(input);
    };
    await run.end();
    expect(outcomes(run)).toEqual(['unstable']);
    expect(commits).toEqual([
      { runs: 3, tree: flaky },
      { runs: 2, tree: base },
    ]);
    expect(verdictEvents(run).map(({ of, result, outputs }) => [of, result, outputs.length])).toEqual([
      ['candidate', { kind: 'ranked', rank: [3, 9], stable: false, runs: 3 }, 1],
      ['base', { kind: 'ranked', rank: [5, 5], stable: true, runs: 2 }, 1],
    ]);
  });

  test('an unstable tree is not settled: it is measured again when it comes back', async () => {
    const flaky = treeAt([3, 5]);
    const run = scriptedRun(
      rounds([[at([3, 5])], [at([3, 5])]], {
        verifier: { override: (tree, time, said) => (tree === flaky && time === 2 ? { rank: [5, 5] } : said) },
      }),
    );
    await run.end();
    expect(run.store.transitions.map(({ outcome, verdictSource }) => [outcome, verdictSource])).toEqual([
      ['unstable', 'fresh'],
      ['commit', 'fresh'],
    ]);
  });

  test('zero rank is confirmed like any other commit', async () => {
    const zero = treeAt([0, 0]);
    const run = scriptedRun(
      rounds([[at([0, 0])], [at([0, 0], 1)]], {
        verifier: { override: (tree, time, said) => (tree === zero && time === 3 ? { rank: [1, 0] } : said) },
      }),
    );
    expect(await run.end()).toEqual({ kind: 'stopped', reason: 'zero_rank', note: null });
    expect(outcomes(run)).toEqual(['unstable', 'commit']);
  });

  test('a median obligation may move: its median decides', async () => {
    const noisy = treeAt([3, 5]);
    const values = [3, 9, 4];
    const run = scriptedRun(
      rounds([[at([3, 5])]], {
        contract: { aggregates: ['median', 'worst'] },
        verifier: { override: (tree, time, said) => (tree === noisy ? { rank: [ensure(values[time - 1], 'value'), 4] } : said) },
      }),
    );
    await run.end();
    expect(outcomes(run)).toEqual(['commit']);
    expect(run.store.chain[1]?.rank).toEqual([4, 4]);
  });

  test('a median that turns out worse is a rejection and not unstable', async () => {
    const noisy = treeAt([3, 5]);
    const values = [3, 9, 9];
    const run = scriptedRun(
      rounds([[at([3, 5])]], {
        contract: { aggregates: ['median', 'worst'], measurement: { confirmRuns: 3, paired: false } },
        verifier: { override: (tree, time, said) => (tree === noisy ? { rank: [ensure(values[time - 1], 'value'), 5] } : said) },
      }),
    );
    await run.end();
    expect(outcomes(run)).toEqual(['regression']);
    expect(verdictOf(run, 1)).toMatchObject({ rank: [9, 5], stable: true });
  });
});

describe('the paired check', () => {
  test('a candidate that is no better than the base is now is unstable, and the base bundle stays as it is', async () => {
    // The seed was certified at [5, 5] by bad luck: measured again, it is at [4, 5] like the candidate.
    const run = scriptedRun(
      rounds([[at([4, 5])]], { verifier: { override: (tree, _, said) => (tree === base ? { rank: [4, 5] } : said) } }),
    );
    const [genesis] = structuredClone(run.store.chain);
    await run.end();
    expect(outcomes(run)).toEqual(['unstable']);
    expect(run.store.chain).toEqual([genesis]);
    // It ends with the first measurement of the base that shows it.
    expect(charged(run)).toEqual([2]);
    expect(verdictOf(run, 1)).toMatchObject({ kind: 'ranked', rank: [4, 5], stable: true });
  });

  test('one coordinate that is separated is enough', async () => {
    const run = scriptedRun(
      rounds([[at([4, 4])]], { verifier: { override: (tree, _, said) => (tree === base ? { rank: [5, 3] } : said) } }),
    );
    await run.end();
    expect(outcomes(run)).toEqual(['commit']);
    expect(run.store.chain[1]?.rank).toEqual([4, 4]);
  });

  test('a base that is worse now excuses nothing: what is worse than certified is rejected', async () => {
    const run = scriptedRun(
      rounds([[at([4, 6])]], { verifier: { override: (tree, _, said) => (tree === base ? { rank: [9, 9] } : said) } }),
    );
    await run.end();
    expect(outcomes(run)).toEqual(['incomparable']);
    expect(run.verifier.began).toEqual([treeAt([4, 6])]);
  });

  test('a base without a rank leaves the candidate without a verdict, and the tree open', async () => {
    const run = scriptedRun(
      rounds([[at([4, 5])], [at([4, 5])]], {
        verifier: { override: (tree, time, said) => (tree === base && time === 1 ? { noVerdict: 'tampered' } : said) },
      }),
    );
    await run.end();
    expect(outcomes(run)).toEqual(['no_verdict', 'commit']);
    expect(verdictOf(run, 1)).toMatchObject({
      kind: 'no_verdict',
      code: 'tampered',
      message: expect.stringContaining('the base could not be measured'),
    });
  });

  test('with one confirmation run the base is measured once beside the screening run', async () => {
    const run = scriptedRun(rounds([[at([4, 5])]], { contract: { measurement: { confirmRuns: 1, paired: true } } }));
    await run.end();
    expect(outcomes(run)).toEqual(['commit']);
    expect(run.verifier.began).toEqual([treeAt([4, 5]), base]);
  });
});

describe('faults that are not the candidate’s', () => {
  const faultOnce = (code: 'infra' | 'crash' | 'setup_timeout' | 'transfer' | 'parse', when: number): ScriptedVerifierOptions => {
    let calls = 0;
    return { override: (_tree, _time, said) => (++calls === when ? { noVerdict: code } : said) };
  };

  test.each(['infra', 'crash', 'setup_timeout', 'transfer', 'parse'] as const)(
    '%s is tried again, at any measurement, and charged',
    async (code) => {
      for (let when = 1; when <= 6; when++) {
        const run = scriptedRun(rounds([[at([4, 5])]], { contract: { infraRetries: 1 }, verifier: faultOnce(code, when) }));
        await run.end();
        expect([when, ...outcomes(run), ...charged(run)]).toEqual([when, 'commit', 7]);
        const verdict = verdictOf(run, 1);
        const ofBase = when % 2 === 0;
        expect(verdict?.kind === 'ranked' ? verdict.runs.length : 0).toBe(ofBase ? 3 : 4);
      }
    },
  );

  test.each(['malformed', 'attestation', 'tampered', 'verifier_timeout'] as const)(
    '%s is a finding and is not tried again',
    async (code) => {
      const run = scriptedRun(rounds([[{ state: { noVerdict: code } }]], { contract: { infraRetries: 2 } }));
      await run.end();
      expect(outcomes(run)).toEqual(['no_verdict']);
      expect(charged(run)).toEqual([1]);
    },
  );

  test('repetitions are shared by the measurements of an attempt', async () => {
    const run = scriptedRun(
      rounds([[at([4, 5])]], {
        contract: { infraRetries: 2 },
        verifier: {
          override: (tree, time, said) =>
            tree === base && time > 2 ? said : tree === base ? { noVerdict: 'infra' } : time === 2 ? { noVerdict: 'infra' } : said,
        },
      }),
    );
    await run.end();
    // Two repetitions went into the first measurement of the base, so none is left for the second one of the candidate.
    expect(outcomes(run)).toEqual(['no_verdict']);
    expect(verdictOf(run, 1)).toMatchObject({ code: 'infra' });
    expect(charged(run)).toEqual([5]);
  });

  test('no repetition begins after the deadline', async () => {
    let clock = 0;
    const run = scriptedRun(
      rounds([[{ state: { noVerdict: 'infra' } }]], {
        contract: { infraRetries: 100 },
        verifier: { onBegin: () => (clock += 1_500) },
        monotonicMs: () => clock,
      }),
    );
    await run.end();
    // Four timeouts of a second each: executions begin at 0, 1.5 and 3 s, the next would at 4.5 s.
    expect(charged(run)).toEqual([3]);
  });
});

describe('budget', () => {
  test('a round takes what every slot needs to be confirmed, and stops where a commit could not be', async () => {
    const run = scriptedRun(
      rounds(
        [
          [at([4, 5]), at([9, 9]), at([9, 8])],
          [at([3, 5]), at([9, 7]), at([9, 6])],
        ],
        { budget: { verifierRuns: 15 } },
      ),
    );
    expect(await run.end()).toMatchObject({ kind: 'stopped', reason: 'budget' });
    // 15 buy two slots of six; the commit takes six and the rejection one; eight are left for one more slot, then two for none.
    expect(run.store.transitions.map(({ round, slot, outcome }) => [round, slot, outcome])).toEqual([
      [1, 0, 'commit'],
      [1, 1, 'regression'],
      [2, 0, 'regression'],
      [3, 0, 'commit'],
    ]);
    expect(run.store.used().verifierRuns).toBe(14);
  });

  test('a winner whose confirmation is no longer paid for has no verdict, for the reason budget', async () => {
    // Six executions are left and reserved; one repetition of the screening run takes the last measurement of the base away.
    let calls = 0;
    const run = scriptedRun(
      rounds([[at([4, 5])]], {
        contract: { infraRetries: 1 },
        budget: { verifierRuns: 6 },
        verifier: { override: (_tree, _time, said) => (++calls === 1 ? { noVerdict: 'infra' } : said) },
      }),
    );
    expect(await run.end()).toMatchObject({ reason: 'budget' });
    expect(outcomes(run)).toEqual(['no_verdict']);
    expect(verdictOf(run, 1)).toMatchObject({ kind: 'no_verdict', code: 'budget' });
    expect(run.store.used().verifierRuns).toBe(6);
    expect(run.store.chain).toHaveLength(1);
  });

  test('time that is used up ends a confirmation too, and is never charged beyond the limit', async () => {
    const run = scriptedRun(rounds([[at([4, 5])]], { budget: { verifierMs: 2_500 }, verifier: { durationMs: () => 1_000 } }));
    await run.end();
    expect(outcomes(run)).toEqual(['no_verdict']);
    expect(verdictOf(run, 1)).toMatchObject({ code: 'budget' });
    expect(run.store.used().verifierMs).toBe(2_500);
    expect(run.store.overshoot().verifierMs).toBe(500);
  });

  test('a dimension without a limit never ends a confirmation', async () => {
    const run = scriptedRun(rounds([[at([4, 5])]], { verifier: { durationMs: () => 1_000_000, executions: () => 3 } }));
    await run.end();
    expect(outcomes(run)).toEqual(['commit']);
  });
});

describe('a stop in the middle of a confirmation', () => {
  test('aborts the whole round', async () => {
    const run: ScriptedRun = scriptedRun(
      rounds([[at([4, 5]), at([6, 6])]], {
        verifier: {
          hang: (begun) => begun === 4,
          onBegin: (_, begun) => (begun === 4 ? setImmediate(() => ensure(run.loops[0], 'loop').stop()) : undefined),
        },
      }),
    );
    expect(await run.end()).toEqual({ kind: 'stopped', reason: 'user', note: null });
    expect(outcomes(run)).toEqual(['aborted', 'aborted']);
    expect(run.store.chain).toHaveLength(1);
  });
});

test('killed at any measurement of a confirmation and resumed, the chain is that of an undisturbed run', async () => {
  const options = (verifier: ScriptedVerifierOptions = {}): ScriptedRunOptions => ({
    contract: { caps: [12, 12, 12], measurement: three },
    seed: { rank: [3, 4, 3] },
    script: randomScript(11, 12),
    header: { slots: 2, budget: { attempts: 500 } },
    verifier,
  });
  const whole = scriptedRun(options());
  await whole.end();
  expect(whole.store.stop()).toBe('zero_rank');
  const ids = whole.store.chain.map(({ id }) => id);
  let aborted = 0;
  const measured = whole.verifier.began.length;
  expect(measured).toBeGreaterThan(12);
  for (let kill = 1; kill <= measured; kill++) {
    let begun = 0;
    const run: ScriptedRun = scriptedRun(
      options({ order: kill, onBegin: () => (++begun === kill ? ensure(run.loops[0], 'loop').close() : undefined) }),
    );
    expect(await run.end()).toEqual({ kind: 'closed' });
    run.store.recover();
    await run.end();
    expect(run.store.chain.map(({ id }) => id)).toEqual(ids);
    aborted += outcomes(run).filter((outcome) => outcome === 'aborted').length;
  }
  expect(aborted).toBeGreaterThanOrEqual(measured);
});

describe('the cache', () => {
  test('a would-be commit from the cache is confirmed from the beginning', async () => {
    const options = rounds([[at([4, 5])]]);
    const run = scriptedRun(options);
    const tree = treeAt([4, 5]);
    const known = { kind: 'ranked' as const, rank: [4, 5], runs: [], stable: true, advisory: {}, details: {} };
    const sha = 'c'.repeat(64);
    run.store.verdicts.set(sha, known);
    run.store.trees.set(tree, []);
    await run.go((state) => ({ ...state, cached: [...state.cached, { tree, verdictSha: sha, verdict: known, n: null }] })).done;
    expect(run.store.transitions.map(({ outcome, verdictSource }) => [outcome, verdictSource])).toEqual([['commit', 'fresh']]);
    expect(run.verifier.began).toEqual([tree, base, tree, base, tree, base]);
    expect(charged(run)).toEqual([6]);
  });
});
