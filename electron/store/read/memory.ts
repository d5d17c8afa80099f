// Exploration memory for a proposer. The choice itself is shared/domain/retrieve.ts; it is made here, in a reader's thread, so that no
// long history crosses to the engine.
import { ContractBody } from '#shared/domain/contract.ts';
import type { RunId, Sha } from '#shared/domain/ids.ts';
import { MemoryEntry } from '#shared/domain/memory.ts';
import { type MemoryLimits, retrieve } from '#shared/domain/retrieve.ts';
import { type ReadableDb, sql } from '../db.ts';
import { StoreError } from '../errors.ts';
import { maxInRun, numberOf, rowKey } from '../keys.ts';
import { branchOf } from './branches.ts';
import { bundleAt } from './bundles.ts';

export const selectMemoryRun = sql<{ no: number; head: number | null; contract: Sha; body: string }>(
  'SELECT r.no, r.head, r.contract, c.body FROM run r JOIN contract c ON c.sha = r.contract WHERE r.id = ?',
);
export const selectMemories = sql<{ body: string }>('SELECT body FROM memory WHERE key BETWEEN ? AND ? ORDER BY key');
export const selectBundleIds = sql<{ id: Sha }>('SELECT id FROM bundle WHERE key BETWEEN ? AND ? ORDER BY key');
// All slots of a round are shown the same: that is one time.
export const selectUseCounts = sql<{ entry: Sha; times: number }>(
  'SELECT u.entry, count(DISTINCT t.round) AS times FROM memory_use u JOIN transition t ON t.key = u.transition WHERE u.transition BETWEEN ? AND ? GROUP BY u.entry',
);

type Known = { readonly entries: MemoryEntry[]; readonly ancestors: Sha[]; readonly counters: Map<Sha, number> };

// A run knows its own attempts up to `transitions` and bundles up to `seq`, and of the run that it branched from what was there then.
const collect = (db: ReadableDb, no: number, seq: number, transitions: number, known: Known): Known => {
  const last = rowKey(no, Math.min(transitions, maxInRun));
  for (const { body } of db.iterate(selectMemories, rowKey(no, 1), last)) known.entries.push(MemoryEntry.parse(JSON.parse(body)));
  for (const { id } of db.iterate(selectBundleIds, rowKey(no, 0), rowKey(no, seq))) known.ancestors.push(id);
  for (const { entry, times } of db.all(selectUseCounts, rowKey(no, 1), last))
    known.counters.set(entry, (known.counters.get(entry) ?? 0) + times);
  const parent = branchOf(db, no);
  return parent === null ? known : collect(db, parent.no, parent.seq, parent.transitions, known);
};

/** What `retrieve` chooses for the head of a run, from its own memory and that of the runs it branched from. Throws a StoreError of kind `not_found`. */
export function retrieveMemory(db: ReadableDb, { run, limits }: { run: RunId; limits: MemoryLimits }): MemoryEntry[] {
  return db.snapshot(() => {
    const row = db.get(selectMemoryRun, run);
    const head = row === undefined || row.head === null ? null : bundleAt(db, row.head);
    if (row === undefined || head === null) throw new StoreError('not_found', `there is no run ${run} with a certified bundle`);
    const known = collect(db, row.no, numberOf(row.head ?? 0), maxInRun, { entries: [], ancestors: [], counters: new Map() });
    const { obligations } = ContractBody.parse(JSON.parse(row.body));
    return retrieve({ ...known, head, contract: { sha: row.contract, obligations }, limits });
  });
}
