// Where the engine of a data folder listens: a socket that only this user can reach, named after the folder's real path.
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** `sun_path` holds 108 bytes with its closing NUL. */
const maxSocketPath = 107;

export type AddressInput = {
  readonly env?: NodeJS.ProcessEnv;
  readonly platform?: NodeJS.Platform;
  readonly uid?: number;
  readonly temp?: string;
};

/**
 * Addresses for the folder with the real path `dataDir`, best first: an engine listens on the first, a client asks each in turn (a
 * session over SSH or cron may lack XDG_RUNTIME_DIR and must still find the window's engine). Folders that are not ours alone are left
 * out; the fallback in the temporary folder is created. Empty only where no private folder can be had.
 */
export function engineAddresses(
  dataDir: string,
  { env = process.env, platform = process.platform, uid = process.getuid?.() ?? 0, temp = tmpdir() }: AddressInput = {},
): string[] {
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 24);
  if (platform === 'win32') {
    const user = createHash('sha256')
      .update(env['USERNAME'] ?? '')
      .digest('hex')
      .slice(0, 8);
    return [`\\\\.\\pipe\\pawl-${user}-${name}`];
  }
  const runtime = env['XDG_RUNTIME_DIR'];
  const fallback = path.join(temp, `pawl-${uid}`);
  makePrivate(fallback);
  const folders = [...(runtime !== undefined && path.isAbsolute(runtime) ? [runtime] : []), `/run/user/${uid}`, fallback];
  return [...new Set(folders)]
    .filter((folder) => isPrivate(folder, uid))
    .map((folder) => path.join(folder, folder === fallback ? `${name}.sock` : `pawl-${name}.sock`))
    .filter((file) => Buffer.byteLength(file) <= maxSocketPath);
}

/** A folder, not a link to one, that is ours and closed to everybody else. */
function isPrivate(folder: string, uid: number): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat !== undefined && stat.isDirectory() && stat.uid === uid && (stat.mode & 0o077) === 0;
}

function makePrivate(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    // There already, or not creatable; isPrivate decides whether it is used.
  }
}
