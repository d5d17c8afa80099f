// The timeline as typed columns, computed from rows. One range scan over one table; ranks are touched only where they differ from genesis.
import { maxColumns, type BucketColumns, type RowColumns, type RunColumns } from '#shared/contract/run.ts';
import type { RunId } from '#shared/domain/ids.ts';
import { outcomes } from '#shared/domain/transition.ts';
import { Rank } from '#shared/domain/verdict.ts';
import { type ReadableDb, sql } from '../db.ts';
import { StoreError } from '../errors.ts';
import { numberOf, rowKey } from '../keys.ts';
import { encodeRank, parsePairs } from '../sparse-rank.ts';
import { genesisRank } from './genesis-rank.ts';
import { runPlace } from './runs.ts';

type RawRow = [
  outcome: number,
  round: number,
  slot: number,
  base: number,
  bundle: number | null,
  duplicateOf: number | null,
  rank: string | null,
];
type RawBucketRow = [outcome: number, base: number, bundle: number | null, potential: number | null, rank: string | null];

export const selectRows = sql<RawRow>(
  'SELECT outcome, round, slot, base, bundle, duplicate_of, rank FROM transition WHERE key BETWEEN ? AND ? ORDER BY key',
);
export const selectBucketRows = sql<RawBucketRow>(
  'SELECT outcome, base, bundle, potential, rank FROM transition WHERE key BETWEEN ? AND ? ORDER BY key',
);
export const selectBase = sql<{ rank: string; era_start: number; potential: number }>(
  'SELECT rank, era_start, potential FROM bundle WHERE key = ?',
);
export const selectCommitBefore = sql<{ bundle: number }>(
  'SELECT key AS bundle FROM bundle WHERE key BETWEEN ? AND ? AND (transition IS NULL OR transition < ?) ORDER BY key DESC LIMIT 1',
);

type Base = { readonly genesis: Rank; readonly potential: number; readonly pairs: readonly number[] };

// The bundles that a range was tried on, each read once.
const bases = (db: ReadableDb) => {
  const known = new Map<number, Base>();
  return (key: number): Base => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const row = db.get(selectBase, key);
    if (row === undefined) throw new StoreError('corrupt', `${db.file}: the bundle with the key ${key} is not there`);
    const genesis = genesisRank(db, row.era_start);
    const base: Base = { genesis, potential: row.potential, pairs: parsePairs(encodeRank(Rank.parse(JSON.parse(row.rank)), genesis)) };
    known.set(key, base);
    return base;
  };
};

type Range = { readonly no: number; readonly m: number; readonly from: number; readonly count: number };

const rowColumns = (db: ReadableDb, { no, m, from, count }: Range): RowColumns => {
  const columns: RowColumns = {
    kind: 'rows',
    from,
    count,
    m,
    outcome: new Uint8Array(count),
    round: new Uint32Array(count),
    slot: new Uint16Array(count),
    baseSeq: new Uint32Array(count),
    bundleSeq: new Int32Array(count).fill(-1),
    duplicateOf: new Int32Array(count).fill(-1),
    ranks: new Int32Array(count * m).fill(-1),
  };
  const baseOf = bases(db);
  let i = 0;
  for (const [outcome, round, slot, base, bundle, duplicateOf, rank] of db.iterateRaw(
    selectRows,
    rowKey(no, from),
    rowKey(no, from + count - 1),
  )) {
    columns.outcome[i] = outcome;
    columns.round[i] = round;
    columns.slot[i] = slot;
    columns.baseSeq[i] = numberOf(base);
    if (bundle !== null) columns.bundleSeq[i] = numberOf(bundle);
    if (duplicateOf !== null && outcomes[outcome] === 'duplicate') columns.duplicateOf[i] = duplicateOf;
    if (rank !== null) {
      const { genesis } = baseOf(base);
      if (genesis.length === m) {
        const at = i * m;
        columns.ranks.set(genesis, at);
        const pairs = parsePairs(rank);
        for (let p = 0; p < pairs.length; p += 2) {
          const k = at + (pairs[p] ?? 0);
          columns.ranks[k] = (columns.ranks[k] ?? 0) + (pairs[p + 1] ?? 0);
        }
      }
    }
    i++;
  }
  return columns;
};

// Both lists are in order of the coordinate, so that equal coordinates meet.
const countChanges = (candidate: readonly number[], base: readonly number[], better: Uint32Array, worse: Uint32Array, at: number): void => {
  let a = 0;
  let b = 0;
  while (a < candidate.length || b < base.length) {
    const ca = candidate[a] ?? Number.POSITIVE_INFINITY;
    const cb = base[b] ?? Number.POSITIVE_INFINITY;
    const coordinate = Math.min(ca, cb);
    let difference = 0;
    if (ca === coordinate) {
      difference += candidate[a + 1] ?? 0;
      a += 2;
    }
    if (cb === coordinate) {
      difference -= base[b + 1] ?? 0;
      b += 2;
    }
    const k = at + coordinate;
    if (difference < 0) better[k] = (better[k] ?? 0) + 1;
    else if (difference > 0) worse[k] = (worse[k] ?? 0) + 1;
  }
};

const bucketColumns = (db: ReadableDb, { no, m, from, count }: Range, resolution: number): BucketColumns => {
  const buckets = Math.ceil(count / resolution);
  const columns: BucketColumns = {
    kind: 'buckets',
    from,
    count: buckets,
    m,
    resolution,
    outcomes: new Uint32Array(buckets * outcomes.length),
    potentialMin: new Int32Array(buckets).fill(-1),
    potentialMax: new Int32Array(buckets).fill(-1),
    headPotential: new Int32Array(buckets),
    better: new Uint32Array(buckets * m),
    worse: new Uint32Array(buckets * m),
  };
  const baseOf = bases(db);
  // The head before the range; a commit of the same round may stand right before it.
  const before = db.get(selectCommitBefore, rowKey(no, 0), rowKey(no, from), from);
  let head = before === undefined ? 0 : baseOf(before.bundle).potential;
  let i = 0;
  for (const [outcome, base, bundle, potential, rank] of db.iterateRaw(selectBucketRows, rowKey(no, from), rowKey(no, from + count - 1))) {
    const b = Math.floor(i++ / resolution);
    const o = b * outcomes.length + outcome;
    columns.outcomes[o] = (columns.outcomes[o] ?? 0) + 1;
    if (bundle !== null) head = baseOf(bundle).potential;
    columns.headPotential[b] = head;
    if (potential === null || rank === null) continue;
    const min = columns.potentialMin[b] ?? -1;
    if (min === -1 || potential < min) columns.potentialMin[b] = potential;
    if (potential > (columns.potentialMax[b] ?? -1)) columns.potentialMax[b] = potential;
    const { genesis, pairs } = baseOf(base);
    if (genesis.length === m) countChanges(parsePairs(rank), pairs, columns.better, columns.worse, b * m);
  }
  return columns;
};

/**
 * Transitions from..to (inclusive, cut at the last one) as columns: rows at resolution 1, else buckets of `resolution` transitions.
 * At most `maxColumns` of them. Throws a StoreError of kind `not_found` or `constraint`.
 */
export function getColumns(
  db: ReadableDb,
  { run, from, to, resolution }: { run: RunId; from: number; to: number; resolution: number },
): RunColumns {
  if (from < 1 || resolution < 1) throw new StoreError('constraint', `no columns from ${from} at resolution ${resolution}`);
  return db.snapshot(() => {
    const { no, m, transitions } = runPlace(db, run);
    const count = Math.max(0, Math.min(to, transitions) - from + 1);
    if (count / resolution > maxColumns) {
      throw new StoreError(
        'constraint',
        `${count} transitions at resolution ${resolution} are more than ${maxColumns} columns; ask for a coarser resolution`,
      );
    }
    const range: Range = { no, m, from, count };
    return resolution === 1 ? rowColumns(db, range) : bucketColumns(db, range, resolution);
  });
}
