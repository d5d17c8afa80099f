// Reads the files of a task folder as bytes: regular files only, no link is followed, names must be UTF-8.
import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { TreeFile } from '#shared/domain/tree.ts';
import { err, ok, type Result } from '#shared/lib/result.ts';
import { messageOf } from '#shared/lib/message-of.ts';

export type ReadProblem = {
  readonly file: string;
  readonly code: 'missing_file' | 'link' | 'special_file' | 'bad_path' | 'too_large' | 'unreadable';
  readonly message: string;
};

/** A folder may hold so much; a task is no place for data sets. */
export const folderLimits = { files: 20_000, bytes: 256 * 1024 * 1024 } as const;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const unreadable = (file: string, error: unknown): ReadProblem => ({
  file,
  code: 'unreadable',
  message: `cannot be read: ${messageOf(error)}`,
});

/** Reads one regular file of at most `maxBytes` below `root`; `file` is relative and names it in problems. */
export async function readOne(root: string, file: string, maxBytes: number): Promise<Result<TreeFile, ReadProblem>> {
  const full = path.join(root, file);
  try {
    const stat = await lstat(full);
    if (stat.isSymbolicLink())
      return err({ file, code: 'link', message: 'is a symbolic link; a task holds regular files only, put a copy in its place' });
    if (!stat.isFile()) return err({ file, code: 'special_file', message: 'is no regular file; remove it' });
    if (stat.size > maxBytes) return err({ file, code: 'too_large', message: `has ${stat.size} bytes, at most ${maxBytes} are allowed` });
    const handle = await open(full, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const bytes = new Uint8Array(await handle.readFile());
      if (bytes.length > maxBytes) return err({ file, code: 'too_large', message: `has more than the ${maxBytes} bytes that are allowed` });
      // Windows has no such bit; there every file reads as `file`.
      const exec = process.platform !== 'win32' && (stat.mode & 0o100) !== 0;
      return ok({ path: file, mode: exec ? 'exec' : 'file', bytes });
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return err({ file, code: 'missing_file', message: 'is missing' });
    return err(unreadable(file, error));
  }
}

/**
 * All regular files below `root`/`folder`, with paths relative to `root`, and what is wrong: links, special files, names that are not
 * UTF-8, too many files or bytes. Empty folders are not kept. Reading stops at the limits. What has the name `without`, at any depth, is
 * not looked at.
 */
export async function readFolder(root: string, folder: string, without?: string): Promise<{ files: TreeFile[]; problems: ReadProblem[] }> {
  const files: TreeFile[] = [];
  const problems: ReadProblem[] = [];
  let bytes = 0;
  const folders = [folder];
  const top = await lstat(path.join(root, folder)).catch(() => null);
  if (top === null || !top.isDirectory()) {
    const code = top === null ? 'missing_file' : top.isSymbolicLink() ? 'link' : 'special_file';
    const message =
      code === 'link'
        ? 'is a symbolic link; put the folder itself in its place'
        : `${top === null ? 'is missing' : 'is no folder'}; make a folder of this name in the task`;
    return { files, problems: [{ file: `${folder}/`, code, message }] };
  }
  for (let at = folders.shift(); at !== undefined; at = folders.shift()) {
    let names: Buffer[];
    try {
      names = await readdir(path.join(root, at), { encoding: 'buffer' });
    } catch (error) {
      problems.push(unreadable(`${at}/`, error));
      continue;
    }
    for (const raw of names) {
      let name: string;
      try {
        name = decoder.decode(raw);
      } catch {
        problems.push({ file: `${at}/${raw.toString('latin1')}`, code: 'bad_path', message: 'has a name that is not UTF-8; rename it' });
        continue;
      }
      if (name === without) continue;
      const relative = `${at}/${name}`;
      const stat = await lstat(path.join(root, relative)).catch(() => null);
      if (stat?.isDirectory() === true) {
        folders.push(relative);
        continue;
      }
      const file = await readOne(root, relative, folderLimits.bytes - bytes);
      if (!file.ok) {
        problems.push(file.error);
        continue;
      }
      files.push(file.value);
      bytes += file.value.bytes.length;
      if (files.length > folderLimits.files) {
        problems.push({ file: `${folder}/`, code: 'too_large', message: `holds more than ${folderLimits.files} files` });
        return { files, problems };
      }
    }
  }
  return { files, problems };
}
