// Blobs too large for the database: files blobs/ab/<sha>, written whole before the transaction that names them.
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Sha } from '#shared/domain/ids.ts';
import { StoreError, toStoreError } from './errors.ts';

const shaPattern = /^[0-9a-f]{64}$/;

export function blobFile(dir: string, sha: Sha): string {
  if (!shaPattern.test(sha)) throw new StoreError('constraint', `not a SHA-256: ${JSON.stringify(sha.slice(0, 80))}`);
  return join(dir, sha.slice(0, 2), sha);
}

// A rename is durable once its folder is. Windows cannot open a folder and makes renames durable by itself.
const syncFolder = (folder: string): void => {
  if (process.platform === 'win32') return;
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
};

const writeAll = (fd: number, bytes: Uint8Array): void => {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
};

/** Writes the file (temporary name, fsync, rename, fsync of the folders). Throws a StoreError that names it; then there is no such file. */
export function writeBlobFile(dir: string, sha: Sha, bytes: Uint8Array): void {
  const file = blobFile(dir, sha);
  const folder = dirname(file);
  const temporary = `${file}.tmp`;
  try {
    const fresh = !existsSync(folder);
    mkdirSync(folder, { recursive: true });
    if (fresh) {
      syncFolder(dir);
      syncFolder(dirname(dir));
    }
    const fd = openSync(temporary, 'w', 0o600);
    try {
      writeAll(fd, bytes);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, file);
    syncFolder(folder);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw toStoreError(error, file);
  }
}

/** Throws a StoreError of kind `corrupt` when the file is gone or cannot be read. */
export function readBlobFile(dir: string, sha: Sha): Uint8Array {
  const file = blobFile(dir, sha);
  try {
    return readFileSync(file);
  } catch (error) {
    throw new StoreError('corrupt', `blob ${sha} cannot be read from ${file}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** Folders that may hold blob files. */
export function blobFolders(dir: string): string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^[0-9a-f]{2}$/.test(entry.name))
    .map((entry) => join(dir, entry.name))
    .sort();
}

/** Removes files of one folder that no row names: leftovers of a crash between a file and its transaction. Returns how many. */
export function collectOrphans(folder: string, known: (sha: Sha) => boolean): number {
  let removed = 0;
  for (const name of readdirSync(folder)) {
    const leftover = /^[0-9a-f]{64}\.tmp$/.test(name) || (shaPattern.test(name) && !known(name));
    if (!leftover) continue;
    rmSync(join(folder, name), { force: true });
    removed++;
  }
  return removed;
}
