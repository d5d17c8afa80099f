// The row of a run as the writes need it: its state, to be checked and moved on.
import { type Amounts, budgetDimensions } from '#shared/domain/budget.ts';
import type { RunId } from '#shared/domain/ids.ts';
import type { StopReason } from '#shared/domain/transition.ts';
import { amountColumns, amountValues } from '../amounts.ts';
import { sql, type WritableDb } from '../db.ts';
import { StoreError } from '../errors.ts';

export type RunRow = {
  readonly no: number;
  readonly contract: string;
  readonly header_sha: string;
  readonly stop: StopReason | null;
  readonly head: number | null;
  readonly events: number;
  readonly last_event: string;
  readonly salts: number;
  readonly rounds: number;
  readonly transitions: number;
};

const selectRun = sql<RunRow>(
  'SELECT no, contract, header_sha, stop, head, events, last_event, salts, rounds, transitions FROM run WHERE id = ?',
);
const selectBudget = sql<Readonly<Record<string, number | null>>>(
  `SELECT ${[...amountColumns('max'), ...amountColumns('used')].join(', ')} FROM run WHERE no = ?`,
);
const updateStop = sql('UPDATE run SET stop = ?, note = ? WHERE no = ?');
const advanceRun = sql('UPDATE run SET updated_at = ?, events = ?, last_event = ?, salts = ? WHERE no = ?');

/** Throws a StoreError of kind `not_found`. */
export function runRow(db: WritableDb, run: RunId): RunRow {
  const row = db.get(selectRun, run);
  if (row === undefined) throw new StoreError('not_found', `there is no run ${run}`);
  return row;
}

/** A run that may go on: it has a head and no stop reason. Throws a StoreError of kind `conflict`. */
export function goingRun(db: WritableDb, run: RunId): RunRow & { readonly head: number } {
  const row = runRow(db, run);
  const { head, stop } = row;
  if (head === null) throw new StoreError('conflict', `run ${run} was not started: nothing is certified`);
  if (stop !== null) throw new StoreError('conflict', `run ${run} has stopped (${stop})`);
  return { ...row, head };
}

/** Throws a StoreError when `amounts` on top of what is used exceed the budget: recovery charges them, so they have to fit. */
export function checkFits(db: WritableDb, no: number, amounts: Amounts): void {
  const row = db.get(selectBudget, no) ?? {};
  for (const [i, asked] of amountValues(amounts).entries()) {
    const d = budgetDimensions[i] ?? '';
    const max = row[`max_${d}`] ?? null;
    const used = row[`used_${d}`] ?? 0;
    if (max !== null && used + asked > max) {
      throw new StoreError('constraint', `the reservation of ${asked} ${d} does not fit: ${used} of ${max} are used`);
    }
  }
}

/** Sets or takes back why a run stopped. */
export function setStop(db: WritableDb, no: number, stop: { readonly reason: StopReason; readonly note: string | null } | null): void {
  const note = stop?.note ?? null;
  db.run(updateStop, stop?.reason ?? null, note === null ? null : JSON.stringify(note), no);
}

/** Moves a run on without changing counters of transitions. */
export function advance(
  db: WritableDb,
  no: number,
  at: string,
  { events, last, salts }: { events: number; last: string; salts: number },
): void {
  db.run(advanceRun, at, events, last, salts, no);
}
