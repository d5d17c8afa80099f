// Bundles by their ids, and which run branched from where.
import type { RunId, Sha } from '#shared/domain/ids.ts';
import type { BranchRow, BundlePlace } from '../api.ts';
import { type ReadableDb, sql } from '../db.ts';
import { maxInRun, numberOf, rowKey } from '../keys.ts';
import { runPlace } from './runs.ts';

export const selectBranch = sql<{ parent: number; transitions: number; id: RunId; bundle: Sha }>(
  'SELECT x.parent, x.transitions, r.id, b.id AS bundle FROM branch x JOIN run r ON r.no = x.parent >> 32 JOIN bundle b ON b.key = x.parent WHERE x.run = ?',
);
export const selectBranches = sql<{ parent: number; id: RunId; bundle: Sha }>(
  'SELECT x.parent, r.id, b.id AS bundle FROM branch x JOIN run r ON r.no = x.run JOIN bundle b ON b.key = x.parent WHERE x.parent BETWEEN ? AND ? ORDER BY x.parent, x.run',
);
// All bundles of one id are the same certified state; the first was there first.
export const selectByPrefix = sql<{ id: Sha; key: number }>(
  'SELECT id, min(key) AS key FROM bundle WHERE id >= ? AND id < ? GROUP BY id ORDER BY id LIMIT 2',
);
const selectRunId = sql<{ id: RunId }>('SELECT id FROM run WHERE no = ?');

/** What the run with this number branched from; null for a run that began with a task. */
export function branchOf(db: ReadableDb, no: number): (BundlePlace & { readonly no: number; readonly transitions: number }) | null {
  const row = db.get(selectBranch, no);
  if (row === undefined) return null;
  const { parent, transitions, id: run, bundle: id } = row;
  return { no: Math.floor(parent / 2 ** 32), run, seq: numberOf(parent), id, transitions };
}

/** The bundle that a run branched from, and the runs that branched from it. Throws a StoreError of kind `not_found`. */
export function getRelatives(db: ReadableDb, run: RunId): { parent: BundlePlace | null; branches: BranchRow[] } {
  return db.snapshot(() => {
    const { no } = runPlace(db, run);
    const parent = branchOf(db, no);
    return {
      parent: parent === null ? null : { run: parent.run, seq: parent.seq, id: parent.id },
      branches: db
        .all(selectBranches, rowKey(no, 0), rowKey(no, maxInRun))
        .map(({ parent: key, id, bundle }) => ({ run: id, seq: numberOf(key), id: bundle })),
    };
  });
}

// Ids consist of hexadecimal digits, which are below this.
const afterAnyId = 'g';

/** Bundles whose ids begin with the prefix, at most two different ones. */
export function resolveBundle(db: ReadableDb, prefix: string): BundlePlace[] {
  return db.snapshot(() =>
    db.all(selectByPrefix, prefix, `${prefix}${afterAnyId}`).flatMap(({ id, key }) => {
      const run = db.get(selectRunId, Math.floor(key / 2 ** 32))?.id;
      return run === undefined ? [] : [{ run, seq: numberOf(key), id }];
    }),
  );
}
