// Fixed places of a shared sandbox: where other people's test scripts expect their files, and where they may write.
import { compareUtf8 } from '../lib/text.ts';

/** Absolute path inside the sandbox; `from` is a folder of the verifier that is seen there, or null for an empty folder that can be written. */
export type Place = { readonly at: string; readonly from: string | null };

/** What every sandbox brings itself; nothing of a task can be there. */
export const systemPlaces: readonly string[] = '/usr /bin /sbin /lib /lib32 /lib64 /etc /nix /proc /dev /tmp /oldroot /newroot'.split(' ');

/** Where the verification itself is laid out. */
const ownPlaces = ['/task', '/report.json'] as const;

const isAtOrBeneath = (path: string, parent: string): boolean => path === parent || path.startsWith(`${parent}/`);

/** Why `at` can be no place of a task, as the end of a sentence that begins with it; null where it can. */
export function placeProblem(at: string): string | null {
  const parts = at.split('/').slice(1);
  if (!at.startsWith('/') || at.length > 500 || at.includes('\0') || parts.some((part) => part === '' || part === '.' || part === '..'))
    return 'is no absolute path without ".", ".." and a "/" at its end';
  const taken = [...systemPlaces, ...ownPlaces].find((own) => isAtOrBeneath(at, own));
  return taken === undefined ? null : `is at or below ${taken}, which every sandbox has itself`;
}

/** The places in the order in which a contract holds them. */
export const sortPlaces = (places: readonly Place[]): Place[] => [...places].sort((a, b) => compareUtf8(a.at, b.at));

/** Two of `places` of which one lies in the other, or null: what is mounted has nothing mounted in it. */
export function nestedPlaces(places: readonly Place[]): readonly [inner: string, outer: string] | null {
  for (const inner of places) {
    const outer = places.find((other) => other !== inner && isAtOrBeneath(inner.at, other.at));
    if (outer !== undefined) return [inner.at, outer.at];
  }
  return null;
}
