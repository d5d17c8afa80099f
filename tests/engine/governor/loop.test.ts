// What holds over whole runs: the order of completion, the budget, stops, crashes, failures of the store.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { budgetDimensions } from '#shared/domain/budget.ts';
import { relate } from '#shared/domain/rank.ts';
import { ensure } from '#shared/lib/assert.ts';
import { createRandom } from '#shared/lib/random.ts';
import type { RunLoop } from '#electron/governor/types.ts';
import { randomScript } from '../../support/engine/random-script.ts';
import type { Scripted } from '../../support/engine/scripted-proposer.ts';
import { createdRun, scriptedRun, type ScriptedRun, type ScriptedRunOptions } from '../../support/engine/scripted-run.ts';

const cap = 12;
const base: Pick<ScriptedRunOptions, 'contract' | 'seed'> = { contract: { caps: [cap, cap, cap] }, seed: { rank: [3, 4, 3] } };
/** How often a would-be commit is measured; a loop that measures once is the special case. */
type Measured = { readonly confirmRuns: number; readonly paired: boolean; readonly infraRetries?: number };
const confirmations: fc.Arbitrary<Measured> = fc.record({ confirmRuns: fc.integer({ min: 1, max: 3 }), paired: fc.boolean() });
const confirmed: Measured = { confirmRuns: 3, paired: true };

const options = (seed: number, attempts: number, slots = 4, measurement?: Measured): ScriptedRunOptions => ({
  ...base,
  ...(measurement === undefined ? {} : { contract: { ...base.contract, measurement } }),
  script: randomScript(seed, cap),
  header: { slots, budget: { attempts } },
});

/** Everything that must not depend on timing. Run references of verdicts name executions, so verdict records are left out. */
const essence = ({ store }: ScriptedRun) => ({
  chain: store.chain.map(({ id }) => id),
  transitions: store.transitions.map(({ verdict: _verdict, ...t }) => t),
  memory: store.memory.map(({ id }) => id),
  events: store.events.map(({ type, body }) => [type, 'n' in body ? body.n : null]),
  stop: store.stop(),
});

describe('completion order', () => {
  test('the same chain, transitions, memory and order of events whichever verification ends first, at any concurrency', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.nat(),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 6 }),
        confirmations,
        async (seed, order, concurrency, slots, measurement) => {
          const inOrder = scriptedRun({ ...options(seed, 30, slots, measurement), verifier: { concurrency: 1 } });
          const shuffled = scriptedRun({ ...options(seed, 30, slots, measurement), verifier: { order, concurrency } });
          await Promise.all([inOrder.end(), shuffled.end()]);
          expect(essence(shuffled)).toEqual(essence(inOrder));
          expect(shuffled.verifier.mostAtOnce()).toBeLessThanOrEqual(concurrency);
        },
      ),
      { numRuns: 40 },
    );
  });

  test('verifications do end out of order in that test', async () => {
    const run = scriptedRun({ ...options(1, 40), verifier: { order: 5, concurrency: 4 } });
    await run.end();
    expect(run.verifier.ended).not.toEqual(run.verifier.began);
  });
});

test('along every chain no coordinate worsens and every commit is strict progress; transitions = commits + memory', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.integer({ min: 1, max: 8 }),
      confirmations,
      fc.integer({ min: 0, max: 9 }),
      async (seed, slots, measurement, noise) => {
        // A verifier that is off by one in so many measurements of ten may cost commits, never a law.
        const random = createRandom(['noise', seed]);
        const run = scriptedRun({
          ...options(seed, 60, slots, measurement),
          verifier: {
            override: (_tree, _time, said) =>
              'rank' in said && random.int(10) < noise ? { ...said, rank: said.rank.map((r) => Math.min(cap, r + random.int(2))) } : said,
          },
        });
        await run.end();
        const { chain, transitions, memory } = run.store;
        for (const [i, child] of chain.slice(1).entries()) expect(relate(child.rank, ensure(chain[i], 'parent').rank)).toBe('dominates');
        expect(transitions.length).toBe(chain.length - 1 + memory.length);
        expect(transitions.every(({ n }, i) => n === i + 1)).toBe(true);
      },
    ),
    { numRuns: 30 },
  );
});

describe('budget', () => {
  const limit = fc.option(fc.integer({ min: 1, max: 40 }), { nil: null });
  test('never exceeded in any dimension, whatever usage is reported; what is beyond stands in overshoot', async () => {
    const amount = fc.oneof(fc.nat(5), fc.constantFrom(1_000, Number.MAX_SAFE_INTEGER, Number.NaN, -1, 0.5));
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.integer({ min: 1, max: 5 }),
        fc.record({
          rounds: limit,
          requests: limit,
          verifierRuns: limit,
          verifierMs: fc.option(fc.integer({ min: 1, max: 30_000 }), { nil: null }),
          wallMs: fc.option(fc.integer({ min: 1, max: 30_000 }), { nil: null }),
          promptTokens: limit,
        }),
        fc.array(
          fc.oneof(fc.constant('missing' as const), fc.record({ requests: amount, promptTokens: amount, completionTokens: amount })),
          { minLength: 1 },
        ),
        fc.array(fc.record({ durationMs: fc.nat(20_000), executions: fc.integer({ min: 1, max: 4 }) }), { minLength: 1 }),
        fc.record({ confirmRuns: fc.integer({ min: 1, max: 3 }), paired: fc.boolean(), infraRetries: fc.integer({ min: 0, max: 2 }) }),
        async (seed, slots, budget, usages, executions, measurement) => {
          let clock = 0;
          const run = scriptedRun({
            ...options(seed, 25, slots, measurement),
            header: { slots, budget: { attempts: 25, ...budget } },
            proposer: { usage: ({ n }) => ensure(usages[n % usages.length], 'usage') },
            verifier: {
              durationMs: (i) => ensure(executions[i % executions.length], 'execution').durationMs,
              executions: (i) => ensure(executions[i % executions.length], 'execution').executions,
              onBegin: () => {
                clock += 700;
              },
            },
            monotonicMs: () => clock,
          });
          const end = await run.end();
          // The model store refuses a commit above the budget, so a breach would end the run as failed.
          expect(end.kind).toBe('stopped');
          const used = run.store.used();
          for (const d of budgetDimensions)
            expect(used[d]).toBeLessThanOrEqual({ attempts: 25, completionTokens: null, ...budget }[d] ?? Number.POSITIVE_INFINITY);
          const sum = run.store.transitions.reduce((total, { cost }) => total + cost.charged.verifierRuns, 0);
          expect(used.verifierRuns).toBe(sum);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('an execution that took longer than its reservation is overshoot', async () => {
    const run = scriptedRun({
      ...options(3, 4),
      header: { slots: 1, budget: { attempts: 4, verifierMs: 2_000 } },
      script: ({ draw }) => ({ state: { rank: [9, 9, 9], salt: draw } }),
      verifier: { durationMs: () => 1_500 },
    });
    expect(await run.end()).toMatchObject({ reason: 'budget' });
    expect(run.store.used().verifierMs).toBe(2_000);
    expect(run.store.overshoot().verifierMs).toBe(1_000);
    expect(run.store.transitions).toHaveLength(2);
  });

  test('fewer slots where fewer fit, lowest first', async () => {
    const run = scriptedRun({
      ...options(3, 100),
      header: { slots: 4, budget: { attempts: 100, verifierRuns: 6 } },
      script: ({ draw }) => ({ state: { rank: [9, 9, 9], salt: draw } }),
    });
    expect(await run.end()).toMatchObject({ reason: 'budget' });
    expect(run.store.transitions.map(({ round, slot }) => [round, slot])).toEqual([
      [1, 0],
      [1, 1],
      [1, 2],
      [1, 3],
      [2, 0],
      [2, 1],
    ]);
    expect(run.store.used().verifierRuns).toBe(6);
  });

  test('the wall budget counts by the monotonic clock, over rounds without a gap', async () => {
    let clock = 1_000_000;
    const run = scriptedRun({
      ...options(3, 100),
      header: { slots: 1, budget: { attempts: 100, wallMs: 5_000 } },
      script: ({ draw }) => ({ state: { rank: [9, 9, 9], salt: draw } }),
      monotonicMs: () => (clock += 100),
    });
    expect(await run.end()).toMatchObject({ reason: 'budget' });
    expect(run.store.used().wallMs).toBe(5_000);
    expect(run.store.transitions.length).toBeGreaterThan(2);
  });
});

describe('stops', () => {
  test('zero rank', async () => {
    const run = scriptedRun({ ...options(1, 10), script: () => ({ state: { rank: [0, 0, 0] } }) });
    expect(await run.end()).toEqual({ kind: 'stopped', reason: 'zero_rank', note: null });
    expect(run.store.transitions.map(({ outcome }) => outcome)).toEqual(['commit', 'duplicate', 'duplicate', 'duplicate']);
    expect(run.store.events.at(-1)).toMatchObject({ type: 'stop', body: { reason: 'zero_rank' } });
  });

  test('a verifier that gives no verdict K times in a row', async () => {
    const run = scriptedRun({
      ...options(1, 100),
      header: { slots: 3, budget: { attempts: 100 }, verifierDeadAfter: 5 },
      script: ({ draw }) => ({ state: { noVerdict: 'crash', salt: draw } }),
    });
    expect(await run.end()).toEqual({
      kind: 'stopped',
      reason: 'verifier_dead',
      note: expect.stringMatching(/^6 attempts in a row got no verdict; the last one: /),
    });
    expect(run.store.transitions).toHaveLength(6);
  });

  test('a verdict in between begins the count again', async () => {
    const run = scriptedRun({
      ...options(1, 20),
      header: { slots: 1, budget: { attempts: 20 }, verifierDeadAfter: 3 },
      script: ({ draw }) => ({ state: draw % 3 === 0 ? { rank: [9, 9, 9], salt: draw } : { noVerdict: 'crash', salt: draw } }),
    });
    expect(await run.end()).toMatchObject({ reason: 'budget' });
  });

  test('a task folder that changed, before the next round', async () => {
    let asked = 0;
    const run = scriptedRun({ ...options(1, 100), contractChanged: () => (++asked > 2 ? 'verifier/check.js was changed' : null) });
    expect(await run.end()).toEqual({ kind: 'stopped', reason: 'contract_changed', note: 'verifier/check.js was changed' });
    expect(run.store.transitions).toHaveLength(8);
    expect(run.store.openRoundNumber()).toBeNull();
  });

  const distinct = (draw: number): Scripted => ({ state: { rank: [3, 3, 3], salt: draw } });

  test('by the user while a verification runs: the whole round is aborted, charged at its reservation', async () => {
    const loops: RunLoop[] = [];
    const run = scriptedRun({
      ...options(1, 100),
      script: ({ draw }) => distinct(draw),
      verifier: { hang: (i) => i === 4, onBegin: (_, i) => (i === 4 ? setImmediate(() => ensure(loops[0], 'loop').stop()) : undefined) },
    });
    loops.push(run.go());
    expect(await loops[0]?.done).toEqual({ kind: 'stopped', reason: 'user', note: null });
    expect(run.store.transitions.map(({ outcome, tree, verdict }) => [outcome, tree, verdict])).toEqual(
      Array.from({ length: 4 }, () => ['aborted', null, null]),
    );
    expect(run.store.transitions.every(({ response }) => response !== null)).toBe(true);
    expect(run.store.chain).toHaveLength(1);
    expect(run.store.used()).toMatchObject({ attempts: 4, rounds: 1, requests: 4, verifierRuns: 4 });
    expect(run.store.memory.map(({ outcome }) => outcome)).toEqual(['aborted', 'aborted', 'aborted', 'aborted']);
  });

  test('by the user while proposing: aborted without a response', async () => {
    const loops: RunLoop[] = [];
    const run = scriptedRun({
      ...options(1, 100),
      proposer: { hang: ({ slot }) => slot === 2, onPropose: ({ slot }) => (slot === 3 ? ensure(loops[0], 'loop').stop() : undefined) },
    });
    loops.push(run.go());
    expect(await loops[0]?.done).toMatchObject({ reason: 'user' });
    expect(run.store.transitions.map(({ outcome, request }) => [outcome, request])).toEqual(
      Array.from({ length: 4 }, () => ['aborted', null]),
    );
  });

  test('by the user once every verification had ended: the round is decided', async () => {
    const loops: RunLoop[] = [];
    const run = scriptedRun({
      ...options(1, 100),
      script: ({ draw }) => distinct(draw),
      store: { before: (operation) => (operation === 'commitRound' ? ensure(loops[0], 'loop').stop() : undefined) },
    });
    loops.push(run.go());
    expect(await loops[0]?.done).toMatchObject({ reason: 'user' });
    expect(run.store.transitions.map(({ outcome }) => outcome)).toEqual(expect.arrayContaining(['commit', 'not_selected']));
    expect(run.store.stop()).toBe('user');
  });
});

describe('crashes', () => {
  const undisturbed = async (seed: number, measurement: Measured) => {
    const run = scriptedRun(options(seed, 500, 4, measurement));
    await run.end();
    return run;
  };

  /** Ends the loop at the given writes (counted over the whole life of the run), and goes on each time. */
  const disturbed = async (seed: number, kills: readonly number[], how: 'close' | 'stop', measurement: Measured) => {
    let writes = 0;
    const loops: RunLoop[] = [];
    const run = scriptedRun({
      ...options(seed, 500, 4, measurement),
      verifier: { order: seed },
      store: {
        before: () => {
          if (kills.includes(++writes)) loops.at(-1)?.[how]();
        },
      },
    });
    for (;;) {
      const loop = run.go();
      loops.push(loop);
      const end = await loop.done;
      expect(end.kind).not.toBe('failed');
      if (end.kind === 'stopped' && end.reason !== 'user') return run;
      run.store.recover();
      run.store.resume();
    }
  };

  test('a run that is killed and resumed anywhere ends at the same chain as an undisturbed one', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(50),
        fc.uniqueArray(fc.integer({ min: 1, max: 120 }), { maxLength: 6 }),
        fc.constantFrom('close' as const, 'stop' as const),
        fc.constantFrom({ confirmRuns: 1, paired: false }, confirmed),
        async (seed, kills, how, measurement) => {
          const [whole, broken] = await Promise.all([undisturbed(seed, measurement), disturbed(seed, kills, how, measurement)]);
          expect(whole.store.stop()).toBe('zero_rank');
          expect(broken.store.chain.map(({ id }) => id)).toEqual(whole.store.chain.map(({ id }) => id));
          const decided = broken.store.transitions.filter(({ outcome }) => outcome !== 'aborted');
          expect(decided.map(({ outcome, tree, base }) => [outcome, tree, base])).toEqual(
            whole.store.transitions.map(({ outcome, tree, base }) => [outcome, tree, base]),
          );
        },
      ),
      { numRuns: 40 },
    );
  });

  test('kills in the middle of rounds do abort attempts in that test', async () => {
    const run = await disturbed(7, [2, 4], 'close', confirmed);
    expect(run.store.transitions.filter(({ outcome }) => outcome === 'aborted').length).toBe(8);
  });

  test('a closing engine leaves its round open and decides nothing', async () => {
    const loops: RunLoop[] = [];
    const run = scriptedRun({ ...options(1, 100), verifier: { hang: () => true, onBegin: () => ensure(loops[0], 'loop').close() } });
    loops.push(run.go());
    expect(await loops[0]?.done).toEqual({ kind: 'closed' });
    expect(run.store.openRoundNumber()).toBe(1);
    expect(run.store.transitions).toHaveLength(0);
  });
});

describe('a store that fails', () => {
  for (const operation of ['openRound', 'storeProposals', 'commitRound', 'stopRun'] as const) {
    test(`at ${operation}: the run ends as failed, nothing is half written, and it can go on to the same chain`, async () => {
      const whole = scriptedRun(options(11, 60));
      await whole.end();
      let armed = true;
      const at = operation === 'stopRun' ? 1 : 3;
      const run = scriptedRun({
        ...options(11, 60),
        store: {
          before: (op, count) => {
            if (armed && op === operation && count >= at) throw new Error('disk full');
          },
        },
        ...(operation === 'stopRun' ? { contractChanged: () => (armed ? 'changed' : null) } : {}),
      });
      const end = await run.end();
      if (end.kind !== 'failed') throw new Error(`ended as ${end.kind}`);
      expect(end.error).toEqual(new Error('disk full'));
      expect(run.logged).toContain('the loop of a run failed');
      expect(run.store.transitions.every(({ round }) => round < at)).toBe(operation !== 'storeProposals');
      armed = false;
      // What could not be stored then is stored first now.
      expect(end.abandoned !== null).toBe(operation === 'commitRound');
      if (end.abandoned !== null) await run.store.commitRound(end.abandoned);
      expect(run.store.openRoundNumber()).toBeNull();
      await run.end();
      const trees = (store: ScriptedRun['store']) => store.chain.map(({ tree }) => tree);
      const [short, long] = [trees(run.store), trees(whole.store)];
      expect(long.slice(0, short.length)).toEqual(short);
      expect(short.length).toBeGreaterThan(1);
    });
  }
});

describe('a disk without room', () => {
  const full = 'the disk of /data is full';

  test('before a round: nothing is opened or charged, and the run can go on', async () => {
    let asked = 0;
    const run = scriptedRun({ ...options(11, 60), room: () => (++asked === 3 ? full : null) });
    expect(await run.end()).toMatchObject({ kind: 'failed', error: { name: 'NoRoom', message: full }, abandoned: null });
    expect([run.store.openRoundNumber(), run.store.stop(), run.store.transitions.length]).toEqual([null, null, 8]);
    const whole = scriptedRun(options(11, 60));
    await whole.end();
    expect(await run.end()).toMatchObject({ kind: 'stopped' });
    expect(essence(run)).toEqual(essence(whole));
  });

  test('verifiers that fail for want of it are not dead', async () => {
    const starved = (room: () => string | null) =>
      scriptedRun({
        ...options(1, 100),
        header: { slots: 4, budget: { attempts: 100 }, verifierDeadAfter: 4 },
        script: ({ draw }) => ({ state: { noVerdict: 'infra', salt: draw } }),
        room,
      });
    expect(await starved(() => null).end()).toMatchObject({ kind: 'stopped', reason: 'verifier_dead' });
    let asked = 0;
    // There was room when the round began.
    const run = starved(() => (++asked > 1 ? full : null));
    expect(await run.end()).toMatchObject({ kind: 'failed', error: { name: 'NoRoom' } });
    expect(run.store.transitions.map(({ outcome }) => outcome)).toEqual(['no_verdict', 'no_verdict', 'no_verdict', 'no_verdict']);
    expect(run.store.stop()).toBeNull();
  });
});

describe('without authority', () => {
  test('memory that is wiped or forged between rounds changes nothing in the chain', async () => {
    const honest = scriptedRun(options(5, 80));
    await honest.end();
    const runs: ScriptedRun[] = [];
    const forged = scriptedRun({
      ...options(5, 80),
      store: {
        before: () => {
          const memory = runs[0]?.store.memory;
          if (memory?.length)
            memory.splice(0, memory.length, ...memory.slice(0, 1).map((entry) => ({ ...entry, rank: [0, 0, 0], outcome: 'tie' as const })));
        },
      },
    });
    runs.push(forged);
    await forged.end();
    expect(forged.store.memory.length).toBeLessThan(honest.store.memory.length);
    expect(forged.store.chain).toEqual(honest.store.chain);
  });
});

describe('the first transaction', () => {
  test('a seed at zero rank: genesis, stop zero_rank, no attempt', () => {
    const created = createdRun({ ...base, seed: { rank: [0, 0, 0] } });
    expect(created.genesis).toMatchObject({ potential: 0, seq: 0, edge: 'genesis' });
    expect(created.stop).toEqual({ reason: 'zero_rank', note: null });
    expect(created.events.map(({ type }) => type)).toEqual(['declare', 'verdict', 'genesis', 'stop']);
  });

  test('a seed without a verdict: nothing is certified, and the note says why', () => {
    const created = createdRun({ ...base, seed: { noVerdict: 'crash' } });
    expect(created.genesis).toBeNull();
    expect(created.stop).toBeNull();
    expect(created.note).toBe('the seed got no verdict (crash): scripted');
    expect(created.events.map(({ type }) => type)).toEqual(['declare', 'verdict']);
  });

  test('a malformed rank of the seed certifies nothing', () => {
    const created = createdRun({ ...base, seed: { rank: [1, 2, cap + 1] } });
    expect(created.genesis).toBeNull();
    expect(created.note).toContain('malformed');
  });

  test('the genesis id does not depend on run id, time or path', () => {
    const [a, b] = [createdRun(base), createdRun(base)];
    expect(a.genesis?.id).toBe(b.genesis?.id);
  });
});
