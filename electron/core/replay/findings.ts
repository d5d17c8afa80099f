// What a replay found: counted always, listed up to a limit, so that a run that is wrong from the beginning fills no memory.
import { maxListed, type ReplayMismatch, type ReplayMissing } from '#shared/contract/replay.ts';
import type { AuditFinding } from '#shared/domain/audit/places.ts';
import { differences, type Fields, shownValue } from '#shared/domain/replay.ts';
import type { Json } from '#shared/lib/canonical-json.ts';

export type Findings = {
  readonly mismatches: readonly ReplayMismatch[];
  readonly missing: readonly ReplayMissing[];
  readonly counts: { mismatches: number; missing: number };
  mismatch(where: string, field: string, stored: Json | undefined, recomputed: Json | undefined): void;
  lacks(where: string, what: string): void;
  /** Names every field in which the two records differ; true where there is none. */
  compare(where: string, stored: Fields, recomputed: Fields): boolean;
  /** Bytes that are not there or not what their name says. */
  damaged(where: string, what: string): void;
};

/** `tell` hears everything, listed or not. */
export function createFindings(tell: (found: AuditFinding) => void = () => {}): Findings {
  const mismatches: ReplayMismatch[] = [];
  const missing: ReplayMissing[] = [];
  const counts = { mismatches: 0, missing: 0 };
  // The same object is met more than once: behind its salt and in its tree.
  const named = new Set<string>();
  const add = (found: ReplayMismatch): void => {
    counts.mismatches++;
    tell({ kind: 'differs', ...found });
    if (mismatches.length < maxListed) mismatches.push(found);
  };
  const lacks = (where: string, what: string): void => {
    counts.missing++;
    tell({ kind: 'missing', where, what });
    if (missing.length < maxListed) missing.push({ where, what });
  };
  return {
    mismatches,
    missing,
    counts,
    mismatch: (where, field, stored, recomputed) => add({ where, field, stored: shownValue(stored), recomputed: shownValue(recomputed) }),
    lacks,
    compare: (where, stored, recomputed) => {
      const found = differences(stored, recomputed);
      for (const difference of found) add({ where, ...difference });
      return found.length === 0;
    },
    damaged: (where, what) => {
      if (named.has(where)) return;
      if (named.size < maxListed) named.add(where);
      if (what === 'it is not stored') lacks(where, what);
      else add({ where, field: 'bytes', stored: shownValue(what), recomputed: null });
    },
  };
}
