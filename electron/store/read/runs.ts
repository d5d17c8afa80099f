// Runs as rows of the library and as heads of the run screen. Counters come from the row; nothing is counted here.
import { z } from 'zod';
import type { OutcomeCounts, RunDetail, RunSummary } from '#shared/contract/run.ts';
import { ContractBody } from '#shared/domain/contract.ts';
import { RunHeader } from '#shared/domain/header.ts';
import type { RunId, Sha } from '#shared/domain/ids.ts';
import { outcomes, type RunStatus, type StopReason } from '#shared/domain/transition.ts';
import { Rank } from '#shared/domain/verdict.ts';
import { amountColumns, toAmounts, toBudget } from '../amounts.ts';
import { type ReadableDb, sql } from '../db.ts';
import { StoreError } from '../errors.ts';
import { numberOf } from '../keys.ts';

type CountColumn = `n_${(typeof outcomes)[number]}`;
type AmountColumn = `${'max' | 'used' | 'over'}_${string}`;

type SummaryRow = Readonly<Record<CountColumn, number>> &
  Readonly<Record<AmountColumn, number | null>> & {
    readonly no: number;
    readonly id: RunId;
    readonly contract: Sha;
    readonly header_sha: Sha;
    readonly parent: Sha | null;
    readonly proposer: string;
    readonly slots: number;
    readonly seed: number;
    readonly task_id: string;
    readonly task_title: string;
    readonly started_at: string;
    readonly updated_at: string;
    readonly stop: StopReason | null;
    readonly note: string | null;
    readonly rounds: number;
    readonly transitions: number;
    readonly memories: number;
    readonly genesis_id: Sha | null;
    readonly genesis_potential: number | null;
    readonly head: number | null;
    readonly head_id: Sha | null;
    readonly head_era: number | null;
    readonly head_potential: number | null;
    readonly head_rank: string | null;
  };

const columns = `r.no, r.id, r.contract, r.header_sha, r.parent, r.proposer, r.slots, r.seed, r.task_id, r.task_title, r.started_at, r.updated_at, r.stop,
  r.note, r.rounds, r.transitions, r.memories, ${[...outcomes.map((o) => `n_${o}`), ...amountColumns('max'), ...amountColumns('used'), ...amountColumns('over')].map((c) => `r.${c}`).join(', ')},
  g.id AS genesis_id, g.potential AS genesis_potential, r.head, h.id AS head_id, h.era AS head_era, h.potential AS head_potential, h.rank AS head_rank`;
const tables = 'run r LEFT JOIN bundle g ON g.key = r.no << 32 LEFT JOIN bundle h ON h.key = r.head';

// By number: an id begins with the time, and a clock may have been set back since the run before.
export const selectPage = sql<SummaryRow>(`SELECT ${columns} FROM ${tables} WHERE r.no < ? ORDER BY r.no DESC LIMIT ?`);
/** A walk down the numbers: runs of other tasks are passed over, and those are few thousands at most. */
export const selectTaskPage = sql<SummaryRow>(
  `SELECT ${columns} FROM ${tables} WHERE r.no < ? AND r.task_id = ? ORDER BY r.no DESC LIMIT ?`,
);
export const selectSummary = sql<SummaryRow>(`SELECT ${columns} FROM ${tables} WHERE r.id = ?`);
export const selectBodies = sql<{ header: string; contract: string }>(
  'SELECT h.body AS header, c.body AS contract FROM run r JOIN header h ON h.run = r.no JOIN contract c ON c.sha = r.contract WHERE r.id = ?',
);
export const selectPrefix = sql<{ id: RunId }>('SELECT id FROM run WHERE id >= ? AND id < ? ORDER BY id LIMIT 2');
export const selectRunNo = sql<RunPlace>('SELECT r.no, r.transitions, c.m FROM run r JOIN contract c ON c.sha = r.contract WHERE r.id = ?');

/** Where a run's rows lie, how many transitions it has and how many obligations its contract. */
export type RunPlace = { readonly no: number; readonly transitions: number; readonly m: number };

// Ids consist of characters below this one: `run_`, hexadecimal digits and dashes.
const afterAnyId = '~';

const Proposer = RunHeader.shape.proposer.shape.kind;
const Note = z.string();

const statusOf = ({ head, stop, proposer }: SummaryRow): RunStatus =>
  head === null ? 'not_started' : stop !== null ? 'stopped' : proposer === 'human' ? 'waiting' : 'interrupted';

const countsOf = (row: SummaryRow): OutcomeCounts => {
  const count = (o: (typeof outcomes)[number]) => row[`n_${o}`];
  return {
    commit: count('commit'),
    tie: count('tie'),
    regression: count('regression'),
    incomparable: count('incomparable'),
    not_selected: count('not_selected'),
    duplicate: count('duplicate'),
    unstable: count('unstable'),
    invalid: count('invalid'),
    no_verdict: count('no_verdict'),
    aborted: count('aborted'),
  };
};

const amountsOf = (row: SummaryRow, prefix: 'used' | 'over') =>
  toAmounts(amountColumns(prefix).map((c) => row[`${prefix}_${c.slice(prefix.length + 1)}`] ?? 0));

const toSummary = (row: SummaryRow): RunSummary => ({
  id: row.id,
  task: { id: row.task_id, title: row.task_title },
  contract: row.contract,
  proposer: Proposer.parse(row.proposer),
  slots: row.slots,
  seed: row.seed,
  status: statusOf(row),
  stop: row.stop,
  note: row.note === null ? null : Note.parse(JSON.parse(row.note)),
  startedAt: row.started_at,
  updatedAt: row.updated_at,
  transitions: row.transitions,
  rounds: row.rounds,
  counts: countsOf(row),
  genesis: row.genesis_id === null || row.genesis_potential === null ? null : { id: row.genesis_id, potential: row.genesis_potential },
  head:
    row.head === null || row.head_id === null || row.head_rank === null
      ? null
      : {
          id: row.head_id,
          seq: numberOf(row.head),
          era: row.head_era ?? 0,
          potential: row.head_potential ?? 0,
          rank: Rank.parse(JSON.parse(row.head_rank)),
        },
  budget: {
    max: toBudget(amountColumns('max').map((c) => row[`max_${c.slice(4)}`] ?? null)),
    used: amountsOf(row, 'used'),
    overshoot: amountsOf(row, 'over'),
  },
  parent: row.parent,
});

/**
 * The last one that was made first, by keyset: `before` is the last id of the page before. `task` is the id of a task: only its runs. Throws a
 * StoreError of kind `not_found`.
 */
export function listRuns(
  db: ReadableDb,
  { before, limit, task }: { before?: RunId | undefined; limit: number; task?: string | undefined },
): { runs: RunSummary[]; more: boolean } {
  return db.snapshot(() => {
    const from = before === undefined ? Number.MAX_SAFE_INTEGER : runPlace(db, before).no;
    const rows = task === undefined ? db.all(selectPage, from, limit + 1) : db.all(selectTaskPage, from, task, limit + 1);
    return { runs: rows.slice(0, limit).map(toSummary), more: rows.length > limit };
  });
}

export function getSummary(db: ReadableDb, run: RunId): RunSummary | null {
  const row = db.get(selectSummary, run);
  return row === undefined ? null : toSummary(row);
}

export function getRun(db: ReadableDb, run: RunId): RunDetail | null {
  return db.snapshot(() => {
    const row = db.get(selectSummary, run);
    const bodies = db.get(selectBodies, run);
    if (row === undefined || bodies === undefined) return null;
    return {
      ...toSummary(row),
      header: RunHeader.parse(JSON.parse(bodies.header)),
      headerSha: row.header_sha,
      contractBody: ContractBody.parse(JSON.parse(bodies.contract)),
      memoryEntries: row.memories,
    };
  });
}

/** Ids that begin with the prefix (with or without `run_`), at most two: one is the answer, two are an ambiguity. */
export function resolveRun(db: ReadableDb, prefix: string): RunId[] {
  const whole = prefix.startsWith('run_') ? prefix : `run_${prefix}`;
  return db.all(selectPrefix, whole, `${whole}${afterAnyId}`).map(({ id }) => id);
}

/** Throws a StoreError of kind `not_found`. */
export function runPlace(db: ReadableDb, run: RunId): RunPlace {
  const place = db.get(selectRunNo, run);
  if (place === undefined) throw new StoreError('not_found', `there is no run ${run}`);
  return place;
}
