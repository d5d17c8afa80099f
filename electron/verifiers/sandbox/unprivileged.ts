// Run as root, a limit on processes binds nobody and every file of the machine can be read: then verifiers, and with them what they run,
// belong to a user without rights, or do not run at all.
import { hash } from 'node:crypto';
import { lchownSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, lstat, mkdir, realpath } from 'node:fs/promises';
import path from 'node:path';

/** uid and gid that verifiers run with. */
export type Owner = { readonly uid: number; readonly gid: number };

/** In no distribution's range of users, and inside the 65,536 ids that a container usually has. */
const dedicated = 65_100;
const nobody = 65_534;

/** Whether this user namespace has `id`, from the text of /proc/self/uid_map or gid_map. */
export function isMapped(id: number, map: string): boolean {
  return map
    .trim()
    .split('\n')
    .some((line) => {
      const [first = NaN, , count = NaN] = line.trim().split(/\s+/).map(Number);
      return id >= first && id < first + count;
    });
}

const readMap = (name: string): string => {
  try {
    return readFileSync(`/proc/self/${name}`, 'latin1');
  } catch {
    // No user namespaces: every id exists.
    return '0 0 4294967295';
  }
};

/** Whom verifiers belong to: null for ourselves (we are nobody special); a text when we are root and there is nobody else to be. */
export function verifierOwner(): Owner | null | string {
  if (process.getuid?.() !== 0) return null;
  for (const id of [dedicated, nobody]) {
    if (isMapped(id, readMap('uid_map')) && isMapped(id, readMap('gid_map'))) return { uid: id, gid: id };
  }
  return `Pawl runs as root, and in this container there is no other user that verifiers could run as (neither ${dedicated} nor ${nobody} is mapped); run it as another user`;
}

/** Gives `folder` and everything in it, made by us and still untouched by others, to `owner`. */
export function giveTo({ uid, gid }: Owner, folder: string): void {
  lchownSync(folder, uid, gid);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const child = path.join(folder, entry.name);
    if (entry.isDirectory()) giveTo({ uid, gid }, child);
    else lchownSync(child, uid, gid);
  }
}

/** Whether a user without rights may pass through `folder` and all that it lies in. */
async function isReachable(folder: string): Promise<boolean> {
  for (let at = await realpath(folder); ; at = path.dirname(at)) {
    if (((await lstat(at)).mode & 0o001) === 0) return false;
    if (at === path.dirname(at)) return true;
  }
}

/**
 * A folder in which verifications can be laid out: `tmpDir` itself, except as root where the way to it is closed to others (a data folder
 * in /root); then one in /tmp that belongs to `tmpDir` alone, the same each time. Makes it. Rejects when somebody else has made it.
 */
export async function verificationFolder(tmpDir: string): Promise<string> {
  await mkdir(tmpDir, { recursive: true, mode: 0o700 });
  if (process.getuid?.() !== 0) return tmpDir;
  // Others may pass through, and see no names.
  const mode = 0o711;
  if (await isReachable(path.dirname(tmpDir))) {
    await chmod(tmpDir, mode);
    return tmpDir;
  }
  const folder = path.join('/tmp', `pawl-verify-${hash('sha256', tmpDir, 'hex').slice(0, 16)}`);
  await mkdir(folder, { mode }).catch(() => {});
  const stat = await lstat(folder);
  if (!stat.isDirectory() || stat.uid !== 0 || (stat.mode & 0o022) !== 0)
    throw new Error(`${folder}, which Pawl as root uses for verifications, belongs to somebody else; remove it`);
  await chmod(folder, mode);
  return folder;
}
