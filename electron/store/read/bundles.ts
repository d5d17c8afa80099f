// The certified chain.
import type { ChainColumns } from '#shared/contract/run.ts';
import { CertifiedBundle, LatentRef } from '#shared/domain/bundle.ts';
import type { RunId, Sha } from '#shared/domain/ids.ts';
import type { Manifest } from '#shared/domain/tree.ts';
import { Rank } from '#shared/domain/verdict.ts';
import { type ReadableDb, sql } from '../db.ts';
import { StoreError } from '../errors.ts';
import { maxInRun, numberOf, rowKey } from '../keys.ts';
import { getManifest } from './blobs.ts';
import { runPlace } from './runs.ts';

type BundleRow = {
  readonly key: number;
  readonly run: RunId;
  readonly header: Sha;
  readonly id: Sha;
  readonly edge: CertifiedBundle['edge'];
  readonly transition: number | null;
  readonly potential: number;
  readonly era: number;
  readonly parent: Sha | null;
  readonly contract: Sha;
  readonly tree: Sha;
  readonly verdict: Sha;
  readonly summary: Sha;
  readonly latent: string | null;
  readonly rank: string;
  readonly summary_text: string;
};

export const selectBundle = sql<BundleRow>(
  `SELECT b.key, r.id AS run, r.header_sha AS header, b.id, b.edge, b.transition, b.potential, b.era, b.parent, b.contract, b.tree, b.verdict, b.summary,
     b.latent, b.rank, b.summary_text
   FROM bundle b JOIN run r ON r.no = b.key >> 32 WHERE b.key = ?`,
);
export const selectChain = sql<{ id: Sha; transition: number | null; rank: string }>(
  'SELECT id, transition, rank FROM bundle WHERE key BETWEEN ? AND ? ORDER BY key',
);

/** The bundle with this key; null where there is none. */
export function bundleAt(db: ReadableDb, key: number): CertifiedBundle | null {
  const row = db.get(selectBundle, key);
  if (row === undefined) return null;
  const { key: at, latent, rank, summary_text, ...columns } = row;
  return CertifiedBundle.parse({
    ...columns,
    format: 'pawl.bundle/1',
    seq: numberOf(at),
    latent: latent === null ? null : LatentRef.parse(JSON.parse(latent)),
    rank: JSON.parse(rank),
    summaryText: summary_text,
  });
}

export function getBundle(db: ReadableDb, { run, seq }: { run: RunId; seq: number }): { bundle: CertifiedBundle; files: Manifest } | null {
  return db.snapshot(() => {
    const { no } = runPlace(db, run);
    const bundle = seq > maxInRun ? null : bundleAt(db, rowKey(no, seq));
    if (bundle === null) return null;
    const files = getManifest(db, bundle.tree);
    if (files === null) throw new StoreError('corrupt', `${db.file}: tree ${bundle.tree} of bundle ${bundle.id} is not there`);
    return { bundle, files };
  });
}

/** The whole chain as columns. A rank of an era with another number of obligations stands as -1. */
export function getChain(db: ReadableDb, run: RunId): ChainColumns {
  return db.snapshot(() => {
    const { no, m } = runPlace(db, run);
    const rows = db.all(selectChain, rowKey(no, 0), rowKey(no, maxInRun));
    const ranks = new Int32Array(rows.length * m).fill(-1);
    for (const [i, row] of rows.entries()) {
      const rank = Rank.parse(JSON.parse(row.rank));
      if (rank.length === m) ranks.set(rank, i * m);
    }
    return {
      count: rows.length,
      m,
      ids: rows.map(({ id }) => id),
      transition: Int32Array.from(rows, ({ transition }) => transition ?? -1),
      ranks,
    };
  });
}
