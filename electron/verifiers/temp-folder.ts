// Fresh folders for verifications: laid out from bytes, never through a link, and removed whatever was left in them.
import { constants, mkdirSync, readdirSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import { checkPath } from '#shared/domain/tree-id.ts';
import type { FileIn } from './runner-contract.ts';

const tempPrefix = 'v-';

/** The folder of the verification `id`, which its name makes known as ours. */
export const tempFolder = (tmpDir: string, id: string): string => path.join(tmpDir, `${tempPrefix}${id}`);

// An operation of Node's file system costs some 10 microseconds when it blocks and five to ten times that, on two threads, when it does
// not. What is small is done at once: less than a millisecond in which the runner hears nothing.
const smallFiles = 64;
const smallBytes = 1024 * 1024;

/**
 * Writes `files` below `root`, an empty folder that nobody else writes to. A file that exists is an error and no link is followed
 * (O_EXCL). Throws an Error that names the path for a path that `checkPath` refuses.
 */
export async function writeFiles(root: string, files: readonly FileIn[]): Promise<void> {
  const made = new Set<string>();
  const small = files.length <= smallFiles && files.reduce((sum, { bytes }) => sum + bytes.length, 0) <= smallBytes;
  for (const file of files) {
    const checked = checkPath(file.path);
    if (!checked.ok) throw new Error(checked.error);
    const target = path.join(root, file.path);
    const folder = path.dirname(target);
    const mode = file.mode === 'exec' ? 0o755 : 0o644;
    if (!made.has(folder)) {
      if (small) mkdirSync(folder, { recursive: true });
      else await mkdir(folder, { recursive: true });
      made.add(folder);
    }
    if (small) {
      writeFileSync(target, file.bytes, { flag: 'wx', mode });
      continue;
    }
    const handle = await open(target, 'wx', mode);
    try {
      await handle.writeFile(file.bytes);
    } finally {
      await handle.close();
    }
  }
}

export type ReadBack =
  | { readonly kind: 'file'; readonly bytes: Uint8Array; readonly exec: boolean }
  | { readonly kind: 'missing' }
  | { readonly kind: 'not_regular' }
  | { readonly kind: 'too_large' };

/** Reads a file that somebody else may have replaced: never follows a link, never blocks on a pipe, at most `maxBytes`. */
export async function readBack(file: string, maxBytes: number): Promise<ReadBack> {
  let handle;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return { kind: 'missing' };
    // ELOOP: a link; ENXIO: a socket; EACCES: no longer readable.
    return { kind: 'not_regular' };
  }
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return { kind: 'not_regular' };
    if (stat.size > maxBytes) return { kind: 'too_large' };
    const bytes = Buffer.alloc(stat.size + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
      // It grew between stat and read: somebody is still writing.
      if (length > stat.size) return { kind: 'not_regular' };
    }
    return { kind: 'file', bytes: new Uint8Array(bytes.subarray(0, length)), exec: (stat.mode & 0o100) !== 0 };
  } finally {
    await handle.close();
  }
}

/** The `code` of a Node error. */
export function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? code : '';
}

/**
 * Removes `folder` and everything in it: huge, without permissions, or nested deeper than a path can be long. Links are removed, never
 * followed. Rejects when something cannot be removed.
 */
export async function removeTree(folder: string): Promise<void> {
  if (removeSmall(folder, { left: 4 * smallFiles })) return;
  try {
    await rm(folder, { recursive: true, force: true });
  } catch {
    await removeFlattening(folder);
  }
}

/** Removes what is small and plain; false where something is left. */
function removeSmall(folder: string, budget: { left: number }): boolean {
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (budget.left-- <= 0) return false;
      const child = path.join(folder, entry.name);
      if (!entry.isDirectory()) unlinkSync(child);
      else if (!removeSmall(child, budget)) return false;
    }
    rmdirSync(folder);
    return true;
  } catch {
    // Without permissions, with names that are not UTF-8, or gone.
    return false;
  }
}

/** Moves every folder up beside the first before it is emptied, so that no path grows, and gives itself the permissions it lacks. */
async function removeFlattening(root: string): Promise<void> {
  let moved = 0;
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    await chmod(folder, 0o700);
    for (const name of await readdir(folder, { encoding: 'buffer' })) {
      const child = Buffer.concat([Buffer.from(`${folder}/`), name]);
      if ((await lstat(child)).isDirectory()) {
        const flat = `${root}.${moved++}`;
        // Renaming a folder needs the right to write its `..` entry.
        await chmod(child, 0o700);
        await rename(child, flat);
        folders.push(flat);
      } else await unlink(child);
    }
    await rmdir(folder);
  }
}

/** Removes every folder of an earlier verification inside `tmpDir`. */
export async function removeLeftovers(tmpDir: string): Promise<void> {
  let names: string[];
  try {
    names = await readdir(tmpDir);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  for (const name of names) if (name.startsWith(tempPrefix)) await removeTree(path.join(tmpDir, name));
}
