// What goes between the store's client and its threads.
import type { StoreErrorKind } from './errors.ts';

export type Role = 'writer' | 'reader';

export type WorkerOptions = { readonly role: Role; readonly file: string; readonly blobsDir: string };

/** `seq` numbers a thread's requests; the answer carries it back. */
export type Request = { readonly seq: number; readonly op: string; readonly input: unknown };

export type Answer =
  | { readonly type: 'ready'; readonly sqliteVersion: string }
  | { readonly type: 'failed'; readonly error: WireError }
  | { readonly type: 'value'; readonly seq: number; readonly value: unknown }
  | { readonly type: 'error'; readonly seq: number; readonly error: WireError };

export type WireError = { readonly kind: StoreErrorKind; readonly message: string; readonly stack: string | undefined };
