// The same runs over the reference model and over the real store: what one holds after any kill, the other holds too.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { ResumeState, Store } from '#electron/store/api.ts';
import { openStore } from '#electron/store/store.ts';
import { ensure } from '#shared/lib/assert.ts';
import { runGovernor } from '#electron/governor/governor.ts';
import { verdictRecord } from '#electron/governor/verdict-record.ts';
import type { GovernorDeps, RunLoop } from '#electron/governor/types.ts';
import { loadTree } from '#electron/core/runs/stored-files.ts';
import { verifierFiles } from '../../support/engine/builders.ts';
import { randomScript } from '../../support/engine/random-script.ts';
import { createScriptedProposer } from '../../support/engine/scripted-proposer.ts';
import {
  changesScripted,
  checkScripted,
  createdRun,
  freshSalt,
  scriptedRun,
  type ScriptedRunOptions,
} from '../../support/engine/scripted-run.ts';
import { createScriptedVerifier } from '../../support/engine/scripted-verifier.ts';

const worker = new URL('../../../electron/store/worker.ts', import.meta.url);
const cap = 12;
const optionsOf = (seed: number): ScriptedRunOptions => ({
  contract: { caps: [cap, cap, cap], measurement: seed % 2 === 0 ? { confirmRuns: 3, paired: true } : {} },
  seed: { rank: [4, 4, 4] },
  script: randomScript(seed, cap),
  header: { slots: 3, budget: { attempts: 300 } },
});

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** What both stores must agree on; verdicts by tree, whatever their executions were called. */
const facts = (state: ResumeState) => ({
  head: state.head.id,
  nextN: state.nextN,
  nextRound: state.nextRound,
  nextDraw: state.nextDraw,
  used: state.used,
  stop: state.stop,
  streak: state.noVerdictStreak,
  cached: [
    ...new Map(
      state.cached
        .filter(({ verdict }) => verdict.kind !== 'no_verdict')
        .map(({ tree, verdict }) => [tree, verdict.kind === 'ranked' ? verdict.rank : verdict.kind]),
    ),
  ].sort(([a], [b]) => (a < b ? -1 : 1)),
});

test('after every kill both are in the same state, and both end at the same chain', async () => {
  for (const seed of [3, 8]) {
    const options = optionsOf(seed);
    const dataDir = await mkdtemp(path.join(tmpdir(), 'pawl-governor-'));
    cleanups.push(() => rm(dataDir, { recursive: true, force: true }));
    const model = scriptedRun({ ...options, store: { before: () => killAt(model.loops) } });
    const created = createdRun(options);
    let writes = 0;
    const kills = [2, 7, 12, 18];
    const killAt = (loops: RunLoop[]) => {
      if (kills.includes(++writes)) loops.at(-1)?.close();
    };

    // The model first, with its kills counted over its own writes.
    const states: ReturnType<typeof facts>[] = [];
    for (;;) {
      const end = await model.end();
      model.store.recover();
      states.push(facts(model.store.state()));
      if (end.kind === 'stopped') break;
    }

    let store = await openStore({ dataDir, worker });
    cleanups.push(() => store.close());
    await store.createRun(created);
    writes = 0;
    const loops: RunLoop[] = [];
    const killing = <A extends unknown[]>(write: (...input: A) => Promise<void>) => {
      return (...input: A): Promise<void> => {
        killAt(loops);
        return write(...input);
      };
    };
    const verifiers = createScriptedVerifier({ order: seed });
    for (const expected of states) {
      const state = ensure(await store.getResumeState(created.run), 'resume state');
      // A cached verdict is named in the chain by the hash of its record, so it has to come back whole.
      for (const { tree, verdictSha, verdict } of state.cached)
        expect(verdictRecord(tree, state.contract.sha, verdict).sha).toBe(verdictSha);
      const open: Store = store;
      const deps: GovernorDeps = {
        store: {
          openRound: killing((input) => open.openRound(input)),
          retrieveMemory: (input) => open.retrieveMemory(input),
          storeProposals: killing((input) => open.storeProposals(input)),
          commitRound: killing((input) => open.commitRound(input)),
          stopRun: killing((input) => open.stopRun(input)),
        },
        verifiers,
        proposer: createScriptedProposer(options.script),
        check: checkScripted,
        changes: changesScripted,
        contractChanged: () => Promise.resolve(null),
        now: () => '2026-01-01T00:00:00.000Z',
        monotonicMs: () => 0,
        salt: freshSalt,
        log: () => {},
      };
      const loop = runGovernor(deps, { ...state, run: created.run, headFiles: await loadTree(store, state.head.tree), verifierFiles });
      loops.push(loop);
      const end = await loop.done;
      expect(end.kind).not.toBe('failed');
      await store.close();
      store = await openStore({ dataDir, worker });
      await store.recover('2026-01-01T00:00:00.000Z');
      expect(facts(ensure(await store.getResumeState(created.run), 'resume state'))).toEqual(expected);
    }
    const { ids } = await store.getChain(created.run);
    expect(ids).toEqual(model.store.chain.map(({ id }) => id));
    expect(ids.length).toBeGreaterThan(3);
  }
});
