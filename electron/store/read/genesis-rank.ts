// Ranks against which others are stored.
import { Rank } from '#shared/domain/verdict.ts';
import { type ReadableDb, sql } from '../db.ts';
import { StoreError } from '../errors.ts';

export const selectRank = sql<{ rank: string }>('SELECT rank FROM bundle WHERE key = ?');

const readRank =
  (db: ReadableDb) =>
  (key: number): Rank => {
    const row = db.get(selectRank, key);
    if (row === undefined) throw new StoreError('corrupt', `${db.file}: the bundle with the key ${key} is not there`);
    return Rank.parse(JSON.parse(row.rank));
  };

/** The rank of the bundle that opened an era (kept per connection: it never changes). Not to be modified. */
export function genesisRank(db: ReadableDb, era: number): Rank {
  return db.genesisRank(era, readRank(db));
}
