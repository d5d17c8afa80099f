// A write that fails at any statement leaves the state before it; a crash leaves an open round that recovery ends once.
import { describe, expect, test } from 'vitest';
import { verifyEventChain } from '#shared/domain/event-chain.ts';
import { addAmounts, noAmounts } from '#shared/domain/budget-ledger.ts';
import { sql, type ReadableDb, type WritableDb } from '#electron/store/db.ts';
import { StoreError } from '#electron/store/errors.ts';
import { getReplayHead } from '#electron/store/read/replay.ts';
import { getResumeState } from '#electron/store/read/resume.ts';
import { getSummary } from '#electron/store/read/runs.ts';
import { getTransition } from '#electron/store/read/transitions.ts';
import { commitRound } from '#electron/store/write/commit-round.ts';
import { createRun } from '#electron/store/write/create-run.ts';
import { openRound, storeProposals } from '#electron/store/write/open-round.ts';
import { recover } from '#electron/store/write/recover.ts';
import { stopRun } from '#electron/store/write/stop-run.ts';
import { database, reader, round, start, temporaryFolder } from './support/database.ts';
import { createScenario, type SlotSpec } from './support/scenario.ts';

const tables = [
  'blob',
  'tree',
  'contract',
  'run',
  'header',
  'verdict',
  'verifier_run',
  'bundle',
  'transition',
  'memory',
  'memory_use',
  'round_slot',
  'event',
  'salt',
  'journal',
  'setting',
];
const dump = (db: ReadableDb) => tables.map((table) => [table, db.all(sql(`SELECT * FROM ${table} ORDER BY 1`))]);
const lines = (db: ReadableDb) => db.all(sql<{ line: string }>('SELECT line FROM event ORDER BY key')).map(({ line }) => line);

const four: SlotSpec[] = [
  { kind: 'ranked', text: 'winner', rank: [1, 2, 2], output: 'said' },
  { kind: 'ranked', text: 'worse', rank: [3, 3, 3] },
  { kind: 'invalid' },
  { kind: 'no_verdict', text: 'crashes' },
];

// A database whose k-th statement from now on fails; 0 = none.
const failing = () => {
  let left = 0;
  let seen = 0;
  const db = database(temporaryFolder(), {
    onStatement: (text) => {
      seen++;
      if (left > 0 && --left === 0) throw new Error(`injected before ${text.slice(0, 40)}`);
    },
  });
  return {
    db,
    failAt: (k: number) => {
      left = k;
      seen = 0;
    },
    statements: () => seen,
  };
};

const scenario = () => createScenario({ caps: [4, 4, 4], genesis: [2, 2, 2], header: { budget: { attempts: 40 } } });

type Write = { readonly name: string; readonly prepare: (db: WritableDb) => () => void };
const writes: readonly Write[] = [
  {
    name: 'createRun',
    prepare: (db) => {
      const input = scenario().create();
      return () => createRun(db, input);
    },
  },
  {
    name: 'openRound',
    prepare: (db) => {
      const s = scenario();
      start(db, s);
      const input = s.open(4);
      return () => openRound(db, input);
    },
  },
  {
    name: 'storeProposals',
    prepare: (db) => {
      const s = scenario();
      start(db, s);
      openRound(db, s.open(4));
      const input = s.proposals(4);
      return () => storeProposals(db, input);
    },
  },
  {
    name: 'commitRound',
    prepare: (db) => {
      const s = scenario();
      start(db, s);
      openRound(db, s.open(4));
      storeProposals(db, s.proposals(4));
      const input = s.commit(four);
      return () => commitRound(db, input);
    },
  },
  {
    name: 'stopRun',
    prepare: (db) => {
      const s = scenario();
      start(db, s);
      return () =>
        stopRun(db, {
          run: s.run,
          at: '2026-01-02T00:00:00.000Z',
          reason: 'user',
          note: null,
          event: { type: 'stop', body: { reason: 'user' } },
        });
    },
  },
  {
    name: 'recover',
    prepare: (db) => {
      const s = scenario();
      start(db, s);
      openRound(db, s.open(4));
      storeProposals(db, s.proposals(4));
      return () => recover(db, '2026-01-02T00:00:00.000Z');
    },
  },
];

describe.each(writes)('$name', ({ prepare }) => {
  test('failing at every statement leaves the state before, seen by a second connection too', () => {
    const { db, failAt, statements } = failing();
    const r = reader(db);
    const write = prepare(db);
    const before = dump(db);
    let k = 1;
    for (; ; k++) {
      failAt(k);
      let failed: unknown = null;
      try {
        write();
      } catch (error) {
        failed = error;
      }
      if (failed === null) break;
      expect(failed).toBeInstanceOf(StoreError);
      expect(failed).toMatchObject({ message: expect.stringContaining('injected before') });
      expect(dump(db)).toEqual(before);
      expect(dump(r)).toEqual(before);
    }
    // The last round ran through: every statement, BEGIN and COMMIT included, was made to fail once.
    expect(k).toBe(statements() + 1);
    expect(statements()).toBeGreaterThan(4);
    expect(dump(r)).not.toEqual(before);
    expect(verifyEventChain(lines(r))).toMatchObject({ ok: true });
  });
});

describe('recovery', () => {
  const interrupted = (proposed: boolean) => {
    const db = database();
    const s = scenario();
    start(db, s);
    round(db, s, four);
    const open = s.open(3);
    openRound(db, open);
    if (proposed) storeProposals(db, s.proposals(3));
    return { db, s, open };
  };
  const at = '2026-03-01T00:00:00.000Z';

  test.each([true, false])('aborts the open round, charged at its reservation (proposals stored: %s)', (proposed) => {
    const { db, s, open } = interrupted(proposed);
    const head = getSummary(db, s.run)?.head;
    const used = getSummary(db, s.run)?.budget.used ?? noAmounts();
    const items = recover(db, at);
    expect(items.map(({ run, type }) => [run, type])).toEqual([[s.run, 'recover']]);
    const summary = getSummary(db, s.run);
    expect(summary).toMatchObject({ status: 'interrupted', head, transitions: 7, rounds: 2, counts: { aborted: 3 }, updatedAt: at });
    expect(summary?.budget.used).toEqual(open.slots.reduce((sum, { reserved }) => addAmounts(sum, reserved), used));
    for (const { n, slot, reserved } of open.slots) {
      const detail = getTransition(db, { run: s.run, n });
      expect(detail?.transition).toMatchObject({
        n,
        slot,
        round: 2,
        outcome: 'aborted',
        tree: null,
        verdict: null,
        verdictSource: 'none',
        cost: { charged: reserved, overshoot: noAmounts() },
      });
      expect(detail?.transition.request === null).toBe(!proposed);
      expect(detail?.memory).toMatchObject({ outcome: 'aborted', tree: null, rank: null, signs: null });
      expect(detail?.changes).toBeNull();
      expect(detail?.events.at(-1)).toContain('"outcome":"aborted"');
    }
    expect(verifyEventChain(lines(db))).toMatchObject({ ok: true });
  });

  test('a second recovery changes nothing, and the run can go on', () => {
    const { db, s } = interrupted(true);
    recover(db, at);
    const before = dump(db);
    expect(recover(db, at)).toEqual([]);
    expect(dump(db)).toEqual(before);
    const state = getResumeState(db, s.run);
    expect(state).toMatchObject({ nextN: 8, nextRound: 3, nextDraw: 5 });
    s.aborted([5, 6, 7].map((n) => getTransition(db, { run: s.run, n })?.transition).filter((t) => t !== undefined));
    const input = round(db, s, [{ kind: 'ranked', text: 'after', rank: [0, 2, 2] }]);
    expect(input.transitions[0]).toMatchObject({ n: 8, outcome: 'commit' });
    expect(getSummary(db, s.run)?.head?.id).toBe(s.head().id);
  });

  test('the slots of a round that ended are not open, and go when the next one opens', () => {
    const db = database();
    const s = scenario();
    start(db, s);
    const slots = () => db.all(sql<{ round: number; slot: number }>('SELECT round, slot FROM round_slot ORDER BY key'));
    const input = round(db, s, four);
    expect(slots()).toHaveLength(4);
    expect(recover(db, at)).toEqual([]);
    expect(getReplayHead(db, s.run)?.open).toBe(false);
    expect(() => commitRound(db, { ...input, expectedHead: s.head().id })).toThrow(/round 1 is not open/);
    const late = s.proposals(4);
    const items = late.items.map((item, i) => ({ ...item, n: i + 1 }));
    expect(() => storeProposals(db, { ...late, items })).toThrow(/attempt 1 is not open/);
    openRound(db, s.open(2));
    expect(slots()).toEqual([0, 1].map((slot) => ({ round: 2, slot })));
    expect(getReplayHead(db, s.run)?.open).toBe(true);
    expect(recover(db, at)).toHaveLength(1);
    expect(getReplayHead(db, s.run)?.open).toBe(false);
  });

  test('every open run is recovered, the others are left alone', () => {
    const db = database();
    const many = [0, 1, 2, 3].map((i) => createScenario({ i, caps: [2], genesis: [1] }));
    for (const s of many) start(db, s);
    for (const s of [many[1], many[3]]) if (s !== undefined) openRound(db, s.open(1));
    expect(recover(db, at).map(({ run }) => run)).toEqual([many[1]?.run, many[3]?.run]);
    expect(getSummary(db, many[0]?.run ?? '')?.transitions).toBe(0);
  });
});
