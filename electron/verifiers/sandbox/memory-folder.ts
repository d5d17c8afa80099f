// Sandboxed verifications are laid out in memory where the system has a file system for that: making a file on a disk takes half a
// millisecond on some machines, and a verification makes ten. What can grow there is bounded by the sandbox; verifications without one stay
// in the data folder.
import { hash } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, rmdirSync, statfsSync } from 'node:fs';
import path from 'node:path';

const shm = '/dev/shm';
/** Less free space than this, and the disk is the better place. */
const enoughBytes = 512 * 1024 * 1024;
/** Larger jobs are no burden for a disk, and would be one for memory. */
const jobBytes = 16 * 1024 * 1024;

const usable = (() => {
  let known: boolean | null = null;
  return (): boolean => {
    known ??= (() => {
      try {
        const lines = readFileSync('/proc/self/mounts', 'utf8')
          .split('\n')
          .map((line) => line.split(' '));
        const [, , type, options = ''] = lines.findLast(([, point]) => point === shm) ?? [];
        return type === 'tmpfs' && !options.split(',').some((option) => option === 'noexec' || option === 'ro');
      } catch {
        return false;
      }
    })();
    return known;
  };
})();

/** The folder in memory that belongs to `tmpDir` and to this user alone; null where there is no such file system. Makes nothing. */
export function memoryFolderOf(tmpDir: string): string | null {
  if (process.platform !== 'linux' || !usable()) return null;
  return path.join(shm, `pawl-verify-${process.getuid?.() ?? 0}-${hash('sha256', tmpDir, 'hex').slice(0, 16)}`);
}

/** Makes it, for a job with so many bytes of files; null where the job is better laid out in `tmpDir`. */
export function makeMemoryFolder(tmpDir: string, bytes: number): string | null {
  const folder = memoryFolderOf(tmpDir);
  if (folder === null || bytes > jobBytes) return null;
  try {
    const { bavail, bsize } = statfsSync(shm);
    if (bavail * bsize < enoughBytes) return null;
    mkdirSync(folder, { mode: 0o711, recursive: true });
    const stat = lstatSync(folder);
    // Somebody else may have been there first.
    return stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0 ? folder : null;
  } catch {
    return null;
  }
}

/** Removes it when nothing is in it any more. */
export function dropMemoryFolder(tmpDir: string): void {
  const folder = memoryFolderOf(tmpDir);
  if (folder === null) return;
  try {
    rmdirSync(folder);
  } catch {
    // In use, or not there.
  }
}
