// A write that fails at any statement leaves the state before it; a crash leaves an open round that recovery ends once.
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readSync, statSync, truncateSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { verifyEventChain } from '#shared/domain/event-chain.ts';
import { addAmounts, noAmounts } from '#shared/domain/budget-ledger.ts';
import { sql, type ReadableDb } from '#electron/store/db.ts';
import { StoreError } from '#electron/store/errors.ts';
import { getReplayHead } from '#electron/store/read/replay.ts';
import { getResumeState } from '#electron/store/read/resume.ts';
import { getSummary } from '#electron/store/read/runs.ts';
import { getTransition } from '#electron/store/read/transitions.ts';
import type { BeforeStep, WriteStep } from '#electron/store/write-step.ts';
import { commitRound } from '#electron/store/write/commit-round.ts';
import { openRound, storeProposals } from '#electron/store/write/open-round.ts';
import { recover } from '#electron/store/write/recover.ts';
import { database, reader, round, start, temporaryFolder } from './support/database.ts';
import { createScenario } from './support/scenario.ts';
import { logFile } from './support/files.ts';
import { copyAsLeft, stateOf } from './support/state.ts';
import { four, later, storeWrites, type StoreWrite, threeCounts } from './support/writes.ts';

const integrity = (db: ReadableDb) => db.all(sql<{ integrity_check: string }>('PRAGMA integrity_check')).map((row) => row.integrity_check);
/** The event chain of each run. */
const chains = (db: ReadableDb): string[][] => {
  const byRun = new Map<number, string[]>();
  for (const { run, line } of db.all(sql<{ run: number; line: string }>('SELECT key >> 32 AS run, line FROM event ORDER BY key')))
    byRun.set(run, [...(byRun.get(run) ?? []), line]);
  return [...byRun.values()];
};
const lines = (db: ReadableDb) => db.all(sql<{ line: string }>('SELECT line FROM event ORDER BY key')).map(({ line }) => line);

// Writes to a database in a folder of its own and is told of every step.
const watched = () => {
  const steps: WriteStep[] = [];
  let before: BeforeStep = () => {};
  const dir = temporaryFolder();
  const db = database(dir, {
    beforeStep: (step) => {
      steps.push(step);
      before(step);
    },
  });
  return {
    db,
    dir,
    /** Of the writes since the last call. */
    take: () => steps.splice(0),
    onStep: (fn: BeforeStep) => {
      before = fn;
    },
  };
};

const nameOf = (step: WriteStep): string => (step.kind === 'file' ? step.step : step.text.trim().replace(/\s+/g, ' ').slice(0, 40));

const onceMore = (write: () => unknown): StoreWrite['again'] => {
  try {
    const items = write();
    return Array.isArray(items) && items.length === 0 ? 'nothing' : 'another';
  } catch (error) {
    if (error instanceof StoreError) return 'refused';
    throw error;
  }
};

describe.each(storeWrites)('$name', ({ prepare, again, files }) => {
  test('failing at any step leaves the state before, seen by a second connection too, and then it can be done', () => {
    const { db, take, onStep } = watched();
    const r = reader(db);
    const write = prepare(db);
    const before = stateOf(db);
    const failAt = (k: number): unknown => {
      take();
      let left = k;
      onStep((step) => {
        if (--left === 0) throw new Error(`injected before ${nameOf(step)}`);
      });
      try {
        write(db);
        return null;
      } catch (error) {
        return error;
      }
    };
    let failures = 0;
    for (let failed = failAt(1); failed !== null; failed = failAt(failures + 1)) {
      failures++;
      expect(failed).toBeInstanceOf(StoreError);
      expect(failed).toMatchObject({ message: expect.stringContaining('injected before') });
      expect(stateOf(db)).toEqual(before);
      expect(stateOf(r)).toEqual(before);
    }
    // The last time it ran through: every step, BEGIN and COMMIT included, was made to fail once.
    expect(take()).toHaveLength(failures);
    expect(failures).toBeGreaterThan(3);
    expect(stateOf(r)).not.toEqual(before);
    for (const chain of chains(r)) expect(verifyEventChain(chain)).toMatchObject({ ok: true });
    onStep(() => {});
    const untouched = watched();
    prepare(untouched.db)(untouched.db);
    expect(stateOf(r)).toEqual(stateOf(untouched.db));
  });

  test('dying at any step leaves the state before or after, and what comes next ends in the state after', () => {
    const { db, dir, take, onStep } = watched();
    const write = prepare(db);
    const before = stateOf(db);
    take();
    const left: { readonly at: string; readonly dir: string }[] = [];
    onStep((step) => {
      const to = temporaryFolder();
      copyAsLeft(dir, to);
      left.push({ at: nameOf(step), dir: to });
    });
    write(db);
    const committed = temporaryFolder();
    copyAsLeft(dir, committed);
    onStep(() => {});
    const after = stateOf(db);
    expect(after).not.toEqual(before);
    const names = left.map(({ at }) => at);
    for (const [at, times] of [
      ['BEGIN IMMEDIATE', 1],
      ['COMMIT', 1],
      ['write', files],
      ['rename', files],
    ] as const)
      expect([at, names.filter((name) => name === at)]).toEqual([at, Array.from({ length: times }, () => at)]);
    for (const { at, dir: copy } of left) {
      const survivor = database(copy);
      // Nothing is durable before COMMIT has returned.
      expect([at, stateOf(survivor)]).toEqual([at, before]);
      expect(integrity(survivor)).toEqual(['ok']);
      write(survivor);
      expect([at, stateOf(survivor)]).toEqual([at, after]);
      survivor.close();
    }
    // Committed, and nobody was told.
    const unheard = database(committed);
    expect(stateOf(unheard)).toEqual(after);
    expect(onceMore(() => write(unheard))).toBe(again);
  });
});

test('a process that is killed leaves what such a copy shows', () => {
  const dying = fileURLToPath(new URL('support/dying-write.ts', import.meta.url));
  const name = 'commitRound';
  const { db, take } = watched();
  const write = storeWrites.find((w) => w.name === name)?.prepare(db);
  take();
  write?.(db);
  const steps = take();
  const kinds = steps.map(nameOf);
  for (const k of [kinds.indexOf('rename'), kinds.lastIndexOf('sync folder'), steps.length - 20, steps.length - 1]) {
    const dir = temporaryFolder();
    const { signal, stderr } = spawnSync(process.execPath, [dying, dir, name, String(k + 1)], { encoding: 'utf8' });
    expect([signal, stderr]).toEqual(['SIGKILL', '']);
    const survivor = database(dir);
    const { db: fresh } = watched();
    const again = storeWrites.find((w) => w.name === name)?.prepare(fresh);
    expect(stateOf(survivor)).toEqual(stateOf(fresh));
    again?.(survivor);
    expect(stateOf(survivor)).toEqual(stateOf(db));
    expect(integrity(survivor)).toEqual(['ok']);
  }
});

test('a commit whose log reached the disk in part is no commit', () => {
  const { db, dir } = watched();
  const write = storeWrites.find(({ name }) => name === 'commitRound')?.prepare(db);
  const before = stateOf(db);
  const from = statSync(logFile(dir)).size;
  write?.(db);
  const after = stateOf(db);
  const to = statSync(logFile(dir)).size;
  expect(to).toBeGreaterThan(from + 4_096);
  const cuts = Array.from({ length: 24 }, (_, i) => from + Math.round(((to - from) * i) / 24));
  for (const cut of [...cuts, to - 1, to]) {
    const copy = temporaryFolder();
    copyAsLeft(dir, copy);
    truncateSync(logFile(copy), cut);
    const survivor = database(copy);
    expect([cut, stateOf(survivor)]).toEqual([cut, cut === to ? after : before]);
    expect(integrity(survivor)).toEqual(['ok']);
    survivor.close();
  }
  // All of its length is there, but not all of its bytes.
  for (const cut of cuts) {
    const copy = temporaryFolder();
    copyAsLeft(dir, copy);
    const fd = openSync(logFile(copy), 'r+');
    const bytes = new Uint8Array(Math.min(512, to - cut));
    readSync(fd, bytes, 0, bytes.length, cut);
    writeSync(
      fd,
      bytes.map((byte) => ~byte),
      0,
      undefined,
      cut,
    );
    closeSync(fd);
    const survivor = database(copy);
    expect([cut, stateOf(survivor)]).toEqual([cut, before]);
    survivor.close();
  }
});

describe('recovery', () => {
  const interrupted = (proposed: boolean) => {
    const db = database();
    const s = threeCounts();
    start(db, s);
    round(db, s, four);
    const open = s.open(3);
    openRound(db, open);
    if (proposed) storeProposals(db, s.proposals(3));
    return { db, s, open };
  };
  const at = later;

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
    const before = stateOf(db);
    expect(recover(db, at)).toEqual([]);
    expect(stateOf(db)).toEqual(before);
    const state = getResumeState(db, s.run);
    expect(state).toMatchObject({ nextN: 8, nextRound: 3, nextDraw: 5 });
    s.aborted([5, 6, 7].map((n) => getTransition(db, { run: s.run, n })?.transition).filter((t) => t !== undefined));
    const input = round(db, s, [{ kind: 'ranked', text: 'after', rank: [0, 2, 2] }]);
    expect(input.transitions[0]).toMatchObject({ n: 8, outcome: 'commit' });
    expect(getSummary(db, s.run)?.head?.id).toBe(s.head().id);
  });

  test('the slots of a round that ended are not open, and go when the next one opens', () => {
    const db = database();
    const s = threeCounts();
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

  test('of several runs that dies at any step has ended some of them, each whole, and the next one ends the others', () => {
    const { db, dir, onStep } = watched();
    for (const i of [0, 1, 2]) {
      const s = threeCounts(i);
      start(db, s);
      openRound(db, s.open(2));
    }
    // After each of its transactions.
    const states = [stateOf(db)];
    const copies: string[] = [];
    onStep((step) => {
      if (nameOf(step) === 'BEGIN IMMEDIATE') states.push(stateOf(db));
      const to = temporaryFolder();
      copyAsLeft(dir, to);
      copies.push(to);
    });
    expect(recover(db, at)).toHaveLength(3);
    onStep(() => {});
    states.splice(1, 1);
    states.push(stateOf(db));
    expect(new Set(states.map((state) => JSON.stringify(state))).size).toBe(4);
    const reached = copies.map((copy) => {
      const survivor = database(copy);
      const left = states.findIndex((state) => JSON.stringify(state) === JSON.stringify(stateOf(survivor)));
      expect(recover(survivor, at)).toHaveLength(3 - left);
      expect(stateOf(survivor)).toEqual(states[3]);
      survivor.close();
      return left;
    });
    expect(new Set(reached)).toEqual(new Set([0, 1, 2]));
  });
});
