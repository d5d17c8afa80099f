// One row of the certified chain.
import { hash } from 'node:crypto';
import { BundleBody, type CertifiedBundle } from '#shared/domain/bundle.ts';
import type { Sha } from '#shared/domain/ids.ts';
import { canonicalJson } from '#shared/lib/canonical-json.ts';
import { sql, type WritableDb } from '../db.ts';
import { StoreError } from '../errors.ts';
import { rowKey } from '../keys.ts';

const insertRow = sql(
  `INSERT INTO bundle (key, id, edge, transition, potential, era, era_start, parent, contract, tree, verdict, summary, latent, rank, summary_text)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);

const fields = new Set(Object.keys(BundleBody.shape));

// As bundleId does, with the platform's hash: this stands between a decision and its commit. The tests compare the two.
const idOf = (bundle: CertifiedBundle): Sha =>
  hash('sha256', canonicalJson(Object.fromEntries(Object.entries(bundle).filter(([field]) => fields.has(field)))));

/** I7: the id recomputes from the body. Throws a StoreError when it does not, or when header or summary are not those of the run. */
export function checkBundle(bundle: CertifiedBundle, header: string): void {
  if (bundle.header !== header) throw new StoreError('constraint', `bundle ${bundle.id} has another header than its run`);
  if (!bundle.summaryText.isWellFormed() || hash('sha256', bundle.summaryText) !== bundle.summary) {
    throw new StoreError('constraint', `bundle ${bundle.id}: its summary is not the hash of its text`);
  }
  const id = idOf(bundle);
  if (id !== bundle.id) throw new StoreError('constraint', `bundle ${bundle.id}: its body has the id ${id}`);
}

/** Inserts a checked bundle; the triggers check it against its parent. Returns its key. */
export function insertBundle(db: WritableDb, no: number, eraStart: number | null, bundle: CertifiedBundle): number {
  const { id, edge, transition, potential, era, parent, contract, tree, verdict, summary, latent, rank, summaryText } = bundle;
  const key = rowKey(no, bundle.seq);
  db.run(
    insertRow,
    key,
    id,
    edge,
    transition,
    potential,
    era,
    eraStart ?? key,
    parent,
    contract,
    tree,
    verdict,
    summary,
    latent === null ? null : JSON.stringify(latent),
    JSON.stringify(rank),
    summaryText,
  );
  return key;
}
