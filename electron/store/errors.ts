// What can go wrong in the store, as one typed error that crosses the threads.
import Database from 'better-sqlite3';
import { messageOf } from '#shared/lib/message-of.ts';

const storeErrorKinds = [
  /** A rule of the schema or of a write was broken; nothing was written. */
  'constraint',
  /** Something that is written once would have been changed. */
  'immutable',
  /** The head, the round or the state of the run is not the one that the caller decided against. */
  'conflict',
  'not_found',
  /** Bytes or a file are damaged or are not what they should be. */
  'corrupt',
  /** The file or folder cannot be opened or written. */
  'readonly',
  /** The disk is full. */
  'full',
  /** The disk or its file system reports an error. */
  'io',
  /** Written by a newer version. */
  'incompatible',
  'closed',
  /** A thread of the store has ended by itself: nothing can be read or written until the store is opened again. */
  'lost',
  'other',
] as const;
export type StoreErrorKind = (typeof storeErrorKinds)[number];

/** `message` says what is wrong, where, and where possible what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly kind: StoreErrorKind;

  constructor(kind: StoreErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

const kindOf = (code: string, message: string): StoreErrorKind => {
  if (code.startsWith('SQLITE_CONSTRAINT')) return message.includes('immutable') ? 'immutable' : 'constraint';
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') return 'corrupt';
  if (
    code.startsWith('SQLITE_READONLY') ||
    code.startsWith('SQLITE_CANTOPEN') ||
    code === 'SQLITE_PERM' ||
    code === 'EACCES' ||
    code === 'EROFS' ||
    code === 'EPERM'
  )
    return 'readonly';
  if (code === 'SQLITE_FULL' || code === 'ENOSPC' || code === 'EDQUOT') return 'full';
  if (code.startsWith('SQLITE_IOERR') || code === 'EIO') return 'io';
  return 'other';
};

const advice: Partial<Record<StoreErrorKind, string>> = {
  corrupt: 'the file is damaged or is not a database; restore it from a copy or move it away',
  readonly: 'the file or its folder cannot be opened for writing; check its owner and permissions',
  full: 'the disk is full; nothing of this write was kept',
  io: 'the disk reports an error; look at its health and at the messages of the system',
};

const codeOf = (error: unknown): string => {
  if (error instanceof Database.SqliteError) return error.code;
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
};

/** Any error as a StoreError; `file` is the database or blob file at fault. */
export function toStoreError(error: unknown, file: string): StoreError {
  if (error instanceof StoreError) return error;
  const message = messageOf(error);
  const code = codeOf(error);
  const kind = kindOf(code, message);
  const more = advice[kind];
  if (kind === 'constraint' || kind === 'immutable') return new StoreError(kind, message, { cause: error });
  return new StoreError(kind, `${file}: ${message}${code === '' ? '' : ` (${code})`}${more === undefined ? '' : `; ${more}`}`, {
    cause: error,
  });
}
