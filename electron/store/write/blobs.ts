// Storing bytes and trees. `prepare` does all but the rows (hashing, compressing, files), `insert` those, inside the transaction.
import { hash } from 'node:crypto';
import { canonicalJson } from '#shared/lib/canonical-json.ts';
import { sortManifest } from '#shared/domain/tree-id.ts';
import type { Sha } from '#shared/domain/ids.ts';
import type { BlobInput, TreeInput } from '../api.ts';
import { encode, type Encoded } from '../codec.ts';
import { sql, type WritableDb } from '../db.ts';
import { StoreError } from '../errors.ts';

/** Stored bytes above this stand in a file: in the database they would swell its log and every checkpoint. */
export const maxInDatabase = 256 * 1_024;

const hasBlob = sql<{ no: number }>('SELECT no FROM blob WHERE sha = ?');
const hasTree = sql<{ size: number }>('SELECT size FROM tree WHERE sha = ?');
const insertBlob = sql('INSERT INTO blob (sha, size, codec, bytes) VALUES (?, ?, ?, ?)');
const insertTree = sql('INSERT INTO tree (sha, size, codec, manifest) VALUES (?, ?, ?, ?)');

export const blobExists = (db: WritableDb, sha: Sha): boolean => db.get(hasBlob, sha) !== undefined;

type PreparedBlob = { readonly sha: Sha; readonly size: number; readonly encoded: Encoded; readonly inFile: boolean };
type PreparedTree = { readonly sha: Sha; readonly size: number; readonly encoded: Encoded };
export type PreparedContent = { readonly blobs: readonly PreparedBlob[]; readonly trees: readonly PreparedTree[] };

const prepareBlobs = (db: WritableDb, inputs: readonly BlobInput[], seen: Set<Sha>): PreparedBlob[] => {
  const prepared: PreparedBlob[] = [];
  for (const { sha, bytes } of inputs) {
    const found = hash('sha256', bytes);
    if (found !== sha) throw new StoreError('constraint', `a blob was given as ${sha}, but its bytes have the SHA-256 ${found}`);
    if (seen.has(sha)) continue;
    seen.add(sha);
    if (blobExists(db, sha)) continue;
    const encoded = encode(bytes);
    const inFile = encoded.bytes.length > maxInDatabase;
    if (inFile) db.writeBlobFile(sha, encoded.bytes);
    prepared.push({ sha, size: bytes.length, encoded, inFile });
  }
  return prepared;
};

const prepareTrees = (db: WritableDb, inputs: readonly TreeInput[], given: ReadonlySet<Sha>): PreparedTree[] => {
  const prepared = new Map<Sha, PreparedTree>();
  for (const { tree, manifest } of inputs) {
    if (prepared.has(tree)) continue;
    const json = canonicalJson(sortManifest(manifest).map(({ mode, path, sha, size }) => ({ mode, path, sha, size })));
    const found = hash('sha256', json);
    if (found !== tree) throw new StoreError('constraint', `a tree was given as ${tree}, but its manifest has the SHA-256 ${found}`);
    if (db.get(hasTree, tree) !== undefined) continue;
    // I15: every tree resolves to bytes.
    for (const { path, sha } of manifest) {
      if (!given.has(sha) && !blobExists(db, sha)) {
        throw new StoreError('constraint', `tree ${tree}: the bytes of ${JSON.stringify(path)} (${sha}) are neither stored nor given`);
      }
    }
    const bytes = Buffer.from(json);
    prepared.set(tree, { sha: tree, size: bytes.length, encoded: encode(bytes) });
  }
  return [...prepared.values()];
};

/**
 * Checks hashes, leaves out what is stored already, compresses, and makes large blobs durable as files. Throws a StoreError when a hash is
 * wrong, a tree's bytes are missing or a file cannot be written: before any row is inserted.
 */
export function prepareContent(db: WritableDb, blobs: readonly BlobInput[], trees: readonly TreeInput[]): PreparedContent {
  const given = new Set<Sha>();
  const preparedBlobs = prepareBlobs(db, blobs, given);
  return { blobs: preparedBlobs, trees: prepareTrees(db, trees, given) };
}

/** Inside the transaction. */
export function insertContent(db: WritableDb, { blobs, trees }: PreparedContent): void {
  for (const { sha, size, encoded, inFile } of blobs) db.run(insertBlob, sha, size, encoded.codec, inFile ? null : encoded.bytes);
  for (const { sha, size, encoded } of trees) db.run(insertTree, sha, size, encoded.codec, encoded.bytes);
}
