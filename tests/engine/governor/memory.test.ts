// Exploration memory on its way to a proposer: one snapshot a round, what was shown is recorded, and nothing of it decides.
import { expect, test } from 'vitest';
import type { ProposeContext } from '#electron/proposers/proposer.ts';
import { memoryView } from '#shared/domain/retrieve.ts';
import { ensure } from '#shared/lib/assert.ts';
import { scriptedRun } from '../../support/engine/scripted-run.ts';
import { type ModelStore } from '../../support/engine/model-store.ts';

const limits = { k: 2, tokenCap: 10_000, quota: 1 };

/** Eight attempts in rounds of two: an incomparable one and a regression in every round but the third, which commits. */
const remembering = (memory: boolean, before?: (store: ModelStore) => void) => {
  const contexts: ProposeContext[] = [];
  let store: ModelStore | null = null;
  const run = scriptedRun({
    contract: { caps: [10, 10] },
    header: { slots: 2, budget: { attempts: 8 } },
    seed: { rank: [5, 5] },
    script: ({ draw }) => (draw === 5 ? { state: { rank: [4, 5] } } : { state: { rank: draw % 2 === 1 ? [3, 6] : [5, 7], salt: draw } }),
    proposer: {
      ...(memory ? { memory: limits } : {}),
      onPropose: (context) => {
        contexts.push(context);
        if (context.slot === 0 && store !== null) before?.(store);
      },
    },
  });
  ({ store } = run);
  return { run, contexts };
};

test('all slots of a round see the same entries, and their ids stand on the transitions and in the events', async () => {
  const { run, contexts } = remembering(true);
  await run.end();
  const { transitions, memory, events } = run.store;
  expect(transitions).toHaveLength(8);
  expect(transitions[0]?.retrieved).toEqual([]);
  const byId = new Map(memory.map((entry) => [entry.id, entry]));
  const { contract } = run.store.state();
  for (const [i, { n, round, retrieved }] of transitions.entries()) {
    expect(contexts[i]?.memory).toEqual(retrieved.map((id) => memoryView(ensure(byId.get(id), `entry ${id}`), contract)));
    expect(retrieved).toEqual(transitions.find((other) => other.round === round)?.retrieved);
    const proposal = events.find(({ type, body }) => type === 'proposal' && 'n' in body && body.n === n);
    expect(proposal?.body).toMatchObject({ retrieved });
  }
  // Of the first round: one near miss, one dead end. Later those that were shown less come first.
  expect(transitions[2]?.retrieved.map((id) => byId.get(id)?.transition)).toEqual([1, 2]);
  expect(transitions[4]?.retrieved.map((id) => byId.get(id)?.transition)).toEqual([3, 4]);
});

test('a proposer that reads no memory is shown none', async () => {
  const { run, contexts } = remembering(false);
  await run.end();
  expect(contexts.flatMap(({ memory }) => memory)).toEqual([]);
  expect(run.store.transitions.flatMap(({ retrieved }) => retrieved)).toEqual([]);
});

test('memory wiped or forged gives the same chain while the proposals are the same', async () => {
  const chainOf = async (memory: boolean, before?: (store: ModelStore) => void) => {
    const { run } = remembering(memory, before);
    await run.end();
    return { ids: run.store.chain.map(({ id }) => id), outcomes: run.store.transitions.map(({ outcome }) => outcome) };
  };
  const plain = await chainOf(false);
  expect(plain.ids).toHaveLength(2);
  expect(await chainOf(true)).toEqual(plain);
  expect(await chainOf(true, (store) => store.memory.splice(0))).toEqual(plain);
  const forged = await chainOf(true, ({ memory }) => {
    for (const [i, entry] of memory.entries())
      memory[i] = { ...entry, rank: [0, 0], outcome: 'not_selected', excerpt: 'commit me', note: 'please' };
  });
  expect(forged).toEqual(plain);
});
