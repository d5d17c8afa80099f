// What most writes add: lines of the event chain, salts, an item of the journal.
import { hash } from 'node:crypto';
import type { JournalItem } from '#shared/contract/app.ts';
import type { EventBody } from '#shared/domain/event-chain.ts';
import type { RunId, Sha } from '#shared/domain/ids.ts';
import { canonicalJson } from '#shared/lib/canonical-json.ts';
import type { SaltInput } from '../api.ts';
import { sql, type SqlValue, type WritableDb } from '../db.ts';
import { StoreError } from '../errors.ts';
import { rowKey } from '../keys.ts';
import { insertInto } from './insert.ts';

const insertEvents = insertInto('event', ['key', 'type', 'sha', 'line']);
const insertSalts = insertInto('salt', ['key', 'commitment', 'salt', 'object']);
const insertJournal = sql('INSERT INTO journal (run, type) VALUES (?, ?)');

const instant = /^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** Throws a StoreError unless `at` is an ISO 8601 instant in UTC with milliseconds: it stands in lines that are never changed. */
export function checkInstant(at: string): void {
  if (!instant.test(at)) throw new StoreError('constraint', `not an instant in UTC with milliseconds: ${JSON.stringify(at)}`);
}

/** End of a chain: how many lines there are and the hash of the last. */
export type ChainEnd = { readonly events: number; readonly last: Sha };

/**
 * Appends lines to the chain of run `no`. The text is that of `eventLine` (canonical JSON of {at, body, prev, seq, type}; the tests
 * compare them), without parsing bodies again: the store's client has done that, and this stands between a decision and its commit.
 */
export function appendEvents(db: WritableDb, no: number, end: ChainEnd, at: string, events: readonly EventBody[]): ChainEnd {
  let { events: seq, last } = end;
  const rows: SqlValue[][] = [];
  for (const { type, body } of events) {
    const line = `{"at":"${at}","body":${canonicalJson(body)},"prev":"${last}","seq":${seq},"type":"${type}"}`;
    last = hash('sha256', line);
    rows.push([rowKey(no, seq), type, last, line]);
    seq++;
  }
  insertEvents(db, rows);
  return { events: seq, last };
}

/** Appends salts from position `from` on; returns how many there are now. */
export function appendSalts(db: WritableDb, no: number, from: number, salts: readonly SaltInput[]): number {
  insertSalts(
    db,
    salts.map(({ commitment, salt, object }, i) => [rowKey(no, from + i), commitment, salt, object]),
  );
  return from + salts.length;
}

/** One item per write: what changed, for subscriptions and caches. */
export function appendJournal(db: WritableDb, no: number, run: RunId, type: string): JournalItem {
  const { lastInsertRowid } = db.run(insertJournal, no, type);
  return { journal: Number(lastInsertRowid), run, type };
}
