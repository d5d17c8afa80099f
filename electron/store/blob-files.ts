// Blobs too large for the database: files blobs/ab/<sha>, written whole before the transaction that names them.
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Sha } from '#shared/domain/ids.ts';
import { StoreError, toStoreError } from './errors.ts';
import type { BeforeStep, FileStep } from './write-step.ts';
import { messageOf } from '#shared/lib/message-of.ts';

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

/** Makes a blob's file durable. Throws a StoreError that names it; then the file is not there, or whole and named by no row. */
export type BlobWriter = (sha: Sha, bytes: Uint8Array) => void;

/** Writes files below `dir`: temporary name, fsync, rename, fsync of the folders. */
export function createBlobWriter(dir: string, beforeStep?: BeforeStep): BlobWriter {
  const step = (what: FileStep, path: string) => beforeStep?.({ kind: 'file', step: what, path });
  const sync = (folder: string) => {
    step('sync folder', folder);
    syncFolder(folder);
  };
  // A folder that is there may have been made by a process that died before it was durable, so each is made so once by this one.
  const durable = new Set<string>();
  const makeFolder = (folder: string) => {
    if (durable.has(folder)) return;
    step('make folder', folder);
    mkdirSync(folder, { recursive: true });
    sync(dir);
    sync(dirname(dir));
    durable.add(folder);
  };
  return (sha, bytes) => {
    const file = blobFile(dir, sha);
    const temporary = `${file}.tmp`;
    try {
      makeFolder(dirname(file));
      step('open', temporary);
      const fd = openSync(temporary, 'w', 0o600);
      try {
        step('write', temporary);
        writeAll(fd, bytes);
        step('sync', temporary);
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
      step('rename', file);
      renameSync(temporary, file);
      sync(dirname(file));
    } catch (error) {
      // Whatever became of the folder, the next one makes sure of it.
      durable.delete(dirname(file));
      rmSync(temporary, { force: true });
      throw toStoreError(error, file);
    }
  };
}

/** Throws a StoreError of kind `corrupt` when the file is gone or cannot be read. */
export function readBlobFile(dir: string, sha: Sha): Uint8Array {
  const file = blobFile(dir, sha);
  try {
    return readFileSync(file);
  } catch (error) {
    throw new StoreError('corrupt', `blob ${sha} cannot be read from ${file}: ${messageOf(error)}`, {
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
