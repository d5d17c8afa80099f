// Verdicts as they were stored, whole again.
import type { Sha } from '#shared/domain/ids.ts';
import { Verdict } from '#shared/domain/verdict.ts';
import { z } from 'zod';
import { type ReadableDb, sql } from '../db.ts';
import { decodeRank } from '../sparse-rank.ts';
import { genesisRank } from './genesis-rank.ts';

export type VerdictRow = {
  readonly kind: string;
  readonly code: string | null;
  readonly era: number | null;
  readonly rank: string | null;
  readonly body: string;
};

export const selectVerdict = sql<VerdictRow>('SELECT kind, code, era, rank, body FROM verdict WHERE sha = ?');

const Body = z.record(z.string(), z.unknown());

/** Restores a verdict from its row. */
export function toVerdict(db: ReadableDb, { kind, code, era, rank, body }: VerdictRow): Verdict {
  const rest = Body.parse(JSON.parse(body));
  return Verdict.parse(
    rank === null || era === null ? { kind, code, ...rest } : { kind, rank: decodeRank(rank, genesisRank(db, era)), ...rest },
  );
}

export function getVerdict(db: ReadableDb, sha: Sha): Verdict | null {
  const row = db.get(selectVerdict, sha);
  return row === undefined ? null : toVerdict(db, row);
}
