// What is needed to go on with a run.
import { registeredBy } from '#shared/domain/auto-registry.ts';
import { ContractBody } from '#shared/domain/contract.ts';
import { RunHeader } from '#shared/domain/header.ts';
import type { RunId, Sha } from '#shared/domain/ids.ts';
import { outcomes, type StopReason } from '#shared/domain/transition.ts';
import { amountColumns, toAmounts } from '../amounts.ts';
import type { CachedRow, ResumeState } from '../api.ts';
import { type ReadableDb, sql } from '../db.ts';
import { StoreError } from '../errors.ts';
import { maxInRun, rowKey } from '../keys.ts';
import { heldRequests } from './autos.ts';
import { branchOf } from './branches.ts';
import { bundleAt } from './bundles.ts';
import { runPlace } from './runs.ts';
import { toVerdict, type VerdictRow } from './verdicts.ts';

type RunRow = Readonly<Record<`used_${string}`, number>> & {
  readonly no: number;
  readonly header_sha: Sha;
  readonly task_id: string;
  readonly task_title: string;
  readonly task_path: string;
  readonly stop: StopReason | null;
  readonly head: number | null;
  readonly rounds: number;
  readonly transitions: number;
  readonly n_aborted: number;
  readonly header: string;
  readonly contract: Sha;
  readonly contract_body: string;
};

export const selectRun = sql<RunRow>(
  `SELECT r.no, r.header_sha, r.task_id, r.task_title, r.task_path, r.stop, r.head, r.rounds, r.transitions, r.n_aborted,
     ${amountColumns('used')
       .map((c) => `r.${c}`)
       .join(', ')}, h.body AS header, c.sha AS contract, c.body AS contract_body
   FROM run r JOIN header h ON h.run = r.no JOIN contract c ON c.sha = r.contract WHERE r.id = ?`,
);
// Runs that disagreed are not final, and neither is a missing verdict (semantics.md, sections 2 and 3).
export const selectFinal = sql<VerdictRow & { n: number; tree: Sha; sha: Sha }>(
  `SELECT t.key & 4294967295 AS n, t.tree, v.sha, v.kind, v.code, v.era, v.rank, v.body FROM transition t JOIN verdict v ON v.sha = t.verdict
   WHERE t.key BETWEEN ? AND ? AND t.source = 'fresh' AND t.kind IN ('ranked', 'invalid') AND t.tree IS NOT NULL AND t.outcome <> ${outcomes.indexOf('unstable')}
   ORDER BY t.key`,
);
export const selectSeedVerdict = sql<VerdictRow & { tree: Sha; sha: Sha }>(
  'SELECT b.tree, v.sha, v.kind, v.code, v.era, v.rank, v.body FROM bundle b JOIN verdict v ON v.sha = b.verdict WHERE b.key = ?',
);
export const selectBackwards = sql<{ outcome: number; kind: string | null; source: string }>(
  'SELECT outcome, kind, source FROM transition WHERE key BETWEEN ? AND ? ORDER BY key DESC',
);

// Only what the verifier itself said counts: duplicates, aborted attempts and verdicts from the cache say neither that it is alive nor dead.
const streakOf = (db: ReadableDb, no: number): number => {
  let streak = 0;
  for (const { outcome, kind, source } of db.iterate(selectBackwards, rowKey(no, 1), rowKey(no, maxInRun))) {
    if (outcomes[outcome] === 'no_verdict') streak++;
    else if (kind === 'ranked' && source === 'fresh') break;
  }
  return streak;
};

// Final verdicts of a run up to attempt `to`, that of its seed first; later ones win where a tree stands twice.
const finalVerdicts = (db: ReadableDb, no: number, to: number): CachedRow[] => {
  const seed = db.get(selectSeedVerdict, rowKey(no, 0));
  const own = db.all(selectFinal, rowKey(no, 1), rowKey(no, Math.min(to, maxInRun)));
  return [
    ...(seed === undefined ? [] : [{ tree: seed.tree, verdictSha: seed.sha, verdict: toVerdict(db, seed), n: null }]),
    ...own.map((v) => ({ tree: v.tree, verdictSha: v.sha, verdict: toVerdict(db, v), n: v.n })),
  ];
};

// Of each ancestor what was known when its branch was made: a parent that goes on meanwhile changes nothing.
const ancestorVerdicts = (db: ReadableDb, no: number): CachedRow[] => {
  const parent = branchOf(db, no);
  return parent === null ? [] : [...ancestorVerdicts(db, parent.no), ...finalVerdicts(db, parent.no, parent.transitions)];
};

/** Final verdicts of the runs that a branch comes from, oldest first; none for any other run. Throws a StoreError of kind `not_found`. */
export function getAncestorVerdicts(db: ReadableDb, run: RunId): CachedRow[] {
  return db.snapshot(() => ancestorVerdicts(db, runPlace(db, run).no));
}

/** Null where there is no such run or nothing is certified. */
export function getResumeState(db: ReadableDb, run: RunId): ResumeState | null {
  return db.snapshot(() => {
    const row = db.get(selectRun, run);
    if (row === undefined || row.head === null) return null;
    const head = bundleAt(db, row.head);
    const own = finalVerdicts(db, row.no, row.transitions);
    if (head === null || own[0]?.n !== null)
      throw new StoreError('corrupt', `${db.file}: the head or the genesis of run ${run} is not there`);
    const contract = ContractBody.parse(JSON.parse(row.contract_body));
    return {
      header: RunHeader.parse(JSON.parse(row.header)),
      headerSha: row.header_sha,
      contract: { ...contract, sha: row.contract },
      task: { id: row.task_id, title: row.task_title, path: row.task_path },
      head,
      nextN: row.transitions + 1,
      nextRound: row.rounds + 1,
      nextDraw: 1 + row.transitions - row.n_aborted,
      used: toAmounts(amountColumns('used').map((c) => row[`used_${c.slice(5)}`] ?? 0)),
      stop: row.stop,
      cached: [...ancestorVerdicts(db, row.no), ...own],
      noVerdictStreak: streakOf(db, row.no),
      registered: registeredBy({ ...contract, sha: row.contract }, heldRequests(db, row.no)),
    };
  });
}
