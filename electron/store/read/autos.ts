// Automatic commands: what they said, and which ones proposers asked for.
import type { z } from 'zod';
import { AutoOutput, AutoRequestRecord } from '#shared/domain/auto-evidence.ts';
import type { RegisterRefusal } from '#shared/domain/auto-registry.ts';
import type { Sha } from '#shared/domain/ids.ts';
import { type ReadableDb, sql } from '../db.ts';
import { StoreError } from '../errors.ts';
import { maxInRun, rowKey } from '../keys.ts';
import { getBlob } from './blobs.ts';

export const selectOutputs = sql<{ record: Sha }>('SELECT record FROM auto_output WHERE transition = ? ORDER BY position');
export const selectRegistrations = sql<{ record: Sha; refusal: RegisterRefusal | null }>(
  'SELECT record, refusal FROM auto_registration WHERE transition = ? ORDER BY position',
);
export const selectHeld = sql<{ record: Sha }>(
  'SELECT record FROM auto_registration WHERE transition BETWEEN ? AND ? AND refusal IS NULL ORDER BY transition, position',
);

const decoder = new TextDecoder();

/** Throws a StoreError of kind `corrupt` where the record is gone or is none. */
function recordOf<T extends z.ZodType>(db: ReadableDb, schema: T, sha: Sha): z.output<T> {
  const bytes = getBlob(db, sha);
  const record = bytes === null ? undefined : schema.safeParse(jsonIn(bytes)).data;
  if (record === undefined) throw new StoreError('corrupt', `${db.file}: the record ${sha} of an automatic command is gone or damaged`);
  return record;
}

const jsonIn = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    return undefined;
  }
};

/** What automatic commands said while an attempt was made and about what it came to, in their order; each with its record's name. */
export function outputsOf(db: ReadableDb, transition: number): { readonly sha: Sha; readonly output: AutoOutput }[] {
  return db.all(selectOutputs, transition).map(({ record }) => ({ sha: record, output: recordOf(db, AutoOutput, record) }));
}

/** What an attempt asked to have registered, in its order. */
export function registrationsOf(
  db: ReadableDb,
  transition: number,
): { readonly request: AutoRequestRecord; readonly refusal: RegisterRefusal | null }[] {
  return db
    .all(selectRegistrations, transition)
    .map(({ record, refusal }) => ({ request: recordOf(db, AutoRequestRecord, record), refusal }));
}

/** The requests of run `no` that held, each once, in the order in which they first did. */
export function heldRequests(db: ReadableDb, no: number): AutoRequestRecord[] {
  // A program may ask for the same in every attempt.
  const records = new Set<Sha>();
  for (const { record } of db.iterate(selectHeld, rowKey(no, 1), rowKey(no, maxInRun))) records.add(record);
  return [...records].map((record) => recordOf(db, AutoRequestRecord, record));
}
