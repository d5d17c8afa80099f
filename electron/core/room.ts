// Whether a data folder's disk has room for another round. A round that cannot be stored has cost its proposals and verifications for nothing.
import { statfs } from 'node:fs/promises';

/** Bytes: the log of the database may grow by so much before a checkpoint gives them back (db.ts). */
export const leastRoom = 16 * 1024 * 1024;

const inMb = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MB`;

type Statfs = (folder: string) => Promise<{ readonly bavail: number; readonly bsize: number; readonly blocks: number }>;

/** Gives null while there is room, else what is missing and where, in words. A file system that does not say how large it is has room. */
export function roomIn(dataDir: string, ask: Statfs = statfs): () => Promise<string | null> {
  return async () => {
    let free: number;
    try {
      const { bavail, bsize, blocks } = await ask(dataDir);
      free = blocks === 0 ? leastRoom : bavail * bsize;
    } catch {
      return null;
    }
    if (free >= leastRoom) return null;
    return `the disk of ${dataDir} is full: ${inMb(free)} are left, and a round needs ${inMb(leastRoom)}`;
  };
}
