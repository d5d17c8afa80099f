// Opening a round, and storing what came back from the proposer before anything is parsed.
import { addAmounts, noAmounts } from '#shared/domain/budget-ledger.ts';
import type { JournalItem } from '#shared/contract/app.ts';
import type { Sha } from '#shared/domain/ids.ts';
import { amountValues } from '../amounts.ts';
import type { OpenRound, StoreProposals } from '../api.ts';
import { sql, type WritableDb } from '../db.ts';
import { StoreError } from '../errors.ts';
import { maxInRun, rowKey } from '../keys.ts';
import { appendEvents, appendJournal, appendSalts, checkInstant } from './append.ts';
import { insertContent, prepareContent } from './blobs.ts';
import { advance, checkFits, goingRun, type RunRow } from './run-row.ts';

const openSlots = sql<{ round: number }>('SELECT round FROM round_slot WHERE key BETWEEN ? AND ? ORDER BY key LIMIT 1');
const clearSlots = sql('DELETE FROM round_slot WHERE key BETWEEN ? AND ?');
const selectHeadId = sql<{ id: Sha }>('SELECT id FROM bundle WHERE key = ?');
const insertSlot = sql('INSERT INTO round_slot (key, round, slot, draw, reserved, event_from) VALUES (?, ?, ?, ?, ?, ?)');
const setProposal = sql('UPDATE round_slot SET request = ?, response = ? WHERE key = ? AND request IS NULL');

/** The number of the open round of a run, or null. Slots with a transition are what is left of the round before. */
export function openRoundNumber(db: WritableDb, { no, transitions }: RunRow): number | null {
  return db.get(openSlots, rowKey(no, transitions + 1), rowKey(no, maxInRun))?.round ?? null;
}

/** Throws a StoreError of kind `conflict` when the run is not where the caller thinks, `constraint` when numbers or reservations do not fit. */
export function openRound(db: WritableDb, input: OpenRound): JournalItem[] {
  checkInstant(input.at);
  return db.transaction(() => {
    const { run, at, round, slots } = input;
    const row = goingRun(db, run);
    const { no } = row;
    const open = openRoundNumber(db, row);
    if (open !== null) throw new StoreError('conflict', `run ${run}: round ${open} is open`);
    if (db.get(selectHeadId, row.head)?.id !== input.base)
      throw new StoreError('conflict', `run ${run}: the base of round ${round} is not the head`);
    if (round !== row.rounds + 1) throw new StoreError('conflict', `run ${run}: round ${round} does not follow round ${row.rounds}`);
    if (slots.length === 0) throw new StoreError('constraint', `run ${run}: round ${round} has no slots`);
    for (const [i, { n, slot }] of slots.entries()) {
      if (n !== row.transitions + 1 + i)
        throw new StoreError('constraint', `run ${run}: attempt ${n} does not follow attempt ${row.transitions + i}`);
      if (slots.findIndex((s) => s.slot === slot) !== i)
        throw new StoreError('constraint', `run ${run}: slot ${slot} stands twice in round ${round}`);
    }
    checkFits(
      db,
      no,
      slots.reduce((sum, { reserved }) => addAmounts(sum, reserved), noAmounts()),
    );
    db.run(clearSlots, rowKey(no, 0), rowKey(no, row.transitions));
    for (const { n, slot, draw, reserved } of slots)
      db.run(insertSlot, rowKey(no, n), round, slot, draw, JSON.stringify(amountValues(reserved)), row.events);
    const end = appendEvents(db, no, { events: row.events, last: row.last_event }, at, [input.event]);
    advance(db, no, at, { ...end, salts: row.salts });
    return [appendJournal(db, no, run, 'round')];
  });
}

/** Throws a StoreError of kind `conflict` when an attempt is not open or has its request already. */
export function storeProposals(db: WritableDb, input: StoreProposals): JournalItem[] {
  checkInstant(input.at);
  const content = prepareContent(
    db,
    input.items.flatMap(({ request, response }) => (response === null ? [request] : [request, response])),
    [],
  );
  return db.transaction(() => {
    const { run, at, items } = input;
    const row = goingRun(db, run);
    insertContent(db, content);
    for (const { n, request, response } of items) {
      const open = n > row.transitions && db.run(setProposal, request.sha, response?.sha ?? null, rowKey(row.no, n)).changes === 1;
      if (!open) throw new StoreError('conflict', `run ${run}: attempt ${n} is not open, or has its request already`);
    }
    const end = appendEvents(db, row.no, { events: row.events, last: row.last_event }, at, input.events);
    advance(db, row.no, at, { ...end, salts: appendSalts(db, row.no, row.salts, input.salts) });
    return [appendJournal(db, row.no, run, 'proposals')];
  });
}
