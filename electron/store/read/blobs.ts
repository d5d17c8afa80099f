// Plain bytes and manifests, checked against their hashes.
import type { Sha } from '#shared/domain/ids.ts';
import { Manifest } from '#shared/domain/tree.ts';
import { readBlobFile } from '../blob-files.ts';
import { type Codec, decode } from '../codec.ts';
import { type ReadableDb, sql } from '../db.ts';
import { StoreError } from '../errors.ts';

type BlobRow = { sha: string; size: number; codec: Codec; dict: string | null; bytes: Uint8Array | null };

export const selectBlob = sql<BlobRow>('SELECT sha, size, codec, dict, bytes FROM blob WHERE sha = ?');
export const selectTree = sql<{ sha: string; size: number; codec: 'raw' | 'zstd'; manifest: Uint8Array }>(
  'SELECT sha, size, codec, manifest FROM tree WHERE sha = ?',
);

const stored = (db: ReadableDb, { sha, bytes }: BlobRow): Uint8Array => bytes ?? readBlobFile(db.blobsDir, sha);

/** Plain bytes of a blob; null where there is none. Throws a StoreError of kind `corrupt` when they are damaged. */
export function getBlob(db: ReadableDb, sha: Sha): Uint8Array | null {
  const row = db.get(selectBlob, sha);
  if (row === undefined) return null;
  const { size, codec } = row;
  if (row.dict === null) return decode({ sha, size, codec, bytes: stored(db, row) }, 'blob');
  const dict = db.get(selectBlob, row.dict);
  // A dictionary has none itself: its own row cannot lead further.
  if (dict === undefined || dict.dict !== null)
    throw new StoreError('corrupt', `blob ${sha} is damaged: its dictionary ${row.dict} is not there`);
  const dictionary = decode({ sha: dict.sha, size: dict.size, codec: dict.codec, bytes: stored(db, dict) }, 'blob');
  return decode({ sha, size, codec, bytes: stored(db, row), dictionary }, 'blob');
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** The files of a tree; null where there is no such tree. Throws a StoreError of kind `corrupt` when the manifest is damaged. */
export function getManifest(db: ReadableDb, tree: Sha): Manifest | null {
  const row = db.get(selectTree, tree);
  if (row === undefined) return null;
  const { size, codec, manifest } = row;
  return Manifest.parse(JSON.parse(decoder.decode(decode({ sha: tree, size, codec, bytes: manifest }, 'tree'))));
}
