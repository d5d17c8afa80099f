// One engine per data folder: the lock is an SQLite transaction, so the system releases it however the process ends.
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { RpcError } from '#shared/contract/errors.ts';

export type Lock = { release(): void };

/** Takes the folder's lock for this process; null where another holds it. Throws `unavailable` where `lock.db` cannot be used at all. */
export function takeLock(dataDir: string): Lock | null {
  const file = path.join(dataDir, 'lock.db');
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { timeout: 0 });
    db.exec('BEGIN EXCLUSIVE');
    const held = db;
    return { release: () => held.close() };
  } catch (error) {
    db?.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return null;
    throw lockError(file, error);
  }
}

/** Why the file is no lock, and what to do about it. */
export function lockError(file: string, error: unknown): RpcError {
  const code = error instanceof Database.SqliteError ? error.code : '';
  const what =
    code === 'SQLITE_FULL'
      ? 'the disk is full. Make room, or use another folder with --data DIR.'
      : code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')
        ? 'it is damaged. Delete it while no Pawl runs.'
        : `${String(error)}. Look at its owner, its permissions and the room on its disk.`;
  return new RpcError('unavailable', `${file} cannot be used as the lock of its folder: ${what}`, { file });
}

/** Who holds a lock: the number of the process where the system tells, and whether it is suspended. */
export type Holder = { readonly pid: number; readonly suspended: boolean };

/** The process that holds the folder's lock; null where the system does not tell (it does on Linux) or nobody holds it. */
export function lockHolder(dataDir: string): Holder | null {
  if (process.platform !== 'linux') return null;
  try {
    const { dev, ino } = statSync(path.join(dataDir, 'lock.db'), { bigint: true });
    const pid = holderIn(readFileSync('/proc/locks', 'utf8'), dev, ino);
    if (pid === null) return null;
    // The name of the program, in parentheses, may hold anything; the state follows it.
    const [state = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').slice(-1);
    return { pid, suspended: state.startsWith('T') };
  } catch {
    return null;
  }
}

/** Finds the writer of a file in the text of /proc/locks. Processes of another container have no number here. */
export function holderIn(locks: string, dev: bigint, ino: bigint): number | null {
  const hex = (value: bigint) => value.toString(16).padStart(2, '0');
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & 0xfffff000n);
  const minor = (dev & 0xffn) | ((dev >> 12n) & 0xffffff00n);
  const file = `${hex(major)}:${hex(minor)}:${ino}`;
  for (const line of locks.split('\n')) {
    const [, , , mode, pid, name] = line.trim().split(/\s+/);
    if (mode === 'WRITE' && name === file && Number(pid) > 0) return Number(pid);
  }
  return null;
}

/** For people: who it is, and what to do about it. Ends with a full stop. */
export function holderText(holder: Holder | null): string {
  if (holder === null) return 'another Pawl that does not answer. Close that window or command (or end its process).';
  const { pid, suspended } = holder;
  return suspended
    ? `another Pawl (process ${pid}) that is suspended, as by Ctrl-Z. Let it go on (fg in its terminal, or kill -CONT ${pid}), or end it.`
    : `another Pawl (process ${pid}) that does not answer. Close that window or command, or end its process.`;
}
