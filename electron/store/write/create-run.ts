// The first transaction of a run.
import type { JournalItem } from '#shared/contract/app.ts';
import { contractSha, headerSha } from '#shared/domain/bundle-id.ts';
import type { Contract } from '#shared/domain/contract.ts';
import { firstPrev } from '#shared/domain/event-chain.ts';
import { RunId } from '#shared/domain/ids.ts';
import { amountColumns, budgetValues } from '../amounts.ts';
import type { CreateRun } from '../api.ts';
import { sql, type WritableDb } from '../db.ts';
import { StoreError } from '../errors.ts';
import { rowKey } from '../keys.ts';
import { appendEvents, appendJournal, appendSalts, checkInstant } from './append.ts';
import { insertContent, prepareContent } from './blobs.ts';
import { checkBundle, insertBundle } from './bundles.ts';
import { advance } from './run-row.ts';
import { insertVerdicts } from './verdicts.ts';

const max = amountColumns('max');
const insertRun = sql(
  `INSERT INTO run (id, contract, header_sha, parent, proposer, slots, seed, task_id, task_title, task_path, started_at, updated_at, stop, note, last_event, ${max.join(', ')})
   VALUES (${Array.from({ length: 15 + max.length }, () => '?').join(', ')})`,
);
const insertHeader = sql('INSERT INTO header (run, body) VALUES (?, ?)');
const hasContract = sql<{ m: number }>('SELECT m FROM contract WHERE sha = ?');
const insertContract = sql('INSERT INTO contract (sha, m, caps, body) VALUES (?, ?, ?, ?)');
const selectParent = sql<{ key: number }>('SELECT b.key FROM run r JOIN bundle b ON b.key = (r.no << 32 | ?) WHERE r.id = ?');
const insertBranch = sql('INSERT INTO branch (run, parent, transitions) VALUES (?, ?, ?)');
const setHead = sql('UPDATE run SET head = ? WHERE no = ?');

// SQLite would turn a lone surrogate into U+FFFD without a word.
const exact = (text: string, what: string): string => {
  if (!text.isWellFormed()) throw new StoreError('constraint', `${what} has a lone surrogate and cannot be stored exactly`);
  return text;
};

const check = ({ run, at, header, headerSha: sha, contract, verdict, genesis }: CreateRun): void => {
  if (!RunId.safeParse(run).success) throw new StoreError('constraint', `not a run id: ${JSON.stringify(run.slice(0, 80))}`);
  checkInstant(at);
  if (headerSha(header) !== sha) throw new StoreError('constraint', `run ${run}: the header has another SHA-256 than ${sha}`);
  if (contractSha(contract) !== contract.sha)
    throw new StoreError('constraint', `run ${run}: the contract has another SHA-256 than ${contract.sha}`);
  if (header.contract !== contract.sha) throw new StoreError('constraint', `run ${run}: its header names another contract`);
  if (verdict.contract !== contract.sha) throw new StoreError('constraint', `run ${run}: the seed was verified under another contract`);
  if (genesis === null) {
    if (verdict.verdict.kind === 'ranked') throw new StoreError('constraint', `run ${run}: its seed has a rank and no genesis`);
    return;
  }
  if (genesis.run !== run || genesis.seq !== 0 || genesis.edge !== 'genesis')
    throw new StoreError('constraint', `run ${run}: the genesis is not its first bundle`);
  if (genesis.tree !== header.seedTree || genesis.verdict !== verdict.sha)
    throw new StoreError('constraint', `run ${run}: the genesis does not certify the seed`);
  checkBundle(genesis, sha);
};

const insertContractOnce = (db: WritableDb, { sha, ...body }: Contract): void => {
  if (db.get(hasContract, sha) !== undefined) return;
  const caps = body.obligations.map(({ cap }) => cap);
  db.run(insertContract, sha, caps.length, JSON.stringify(caps), JSON.stringify(body));
};

/** Stores a run with its contract, header, seed and, if its seed has a rank, genesis. Throws a StoreError; then nothing is stored. */
export function createRun(db: WritableDb, input: CreateRun): JournalItem[] {
  check(input);
  const { run, at, header, contract, task, genesis, stop, verdict } = input;
  const content = prepareContent(db, input.blobs, input.trees);
  return db.transaction(() => {
    insertContent(db, content);
    insertContractOnce(db, contract);
    const note = stop?.note ?? input.note;
    const { lastInsertRowid } = db.run(
      insertRun,
      run,
      contract.sha,
      input.headerSha,
      header.parent,
      header.proposer.kind,
      header.slots,
      header.seed,
      exact(task.id, 'the id of the task'),
      exact(task.title, 'the title of the task'),
      exact(task.path, 'the path of the task'),
      at,
      at,
      stop?.reason ?? null,
      note === null ? null : JSON.stringify(note),
      firstPrev,
      ...budgetValues(header.budget),
    );
    const no = Number(lastInsertRowid);
    db.run(insertHeader, no, JSON.stringify(header));
    if (input.from !== undefined) {
      const parent = db.get(selectParent, input.from.seq, input.from.run);
      if (parent === undefined) throw new StoreError('not_found', `run ${input.from.run} has no bundle ${input.from.seq} to branch from`);
      db.run(insertBranch, no, parent.key, input.from.transitions);
    }
    insertVerdicts(db, [verdict], genesis === null ? null : { key: rowKey(no, 0), rank: genesis.rank });
    if (genesis !== null) db.run(setHead, insertBundle(db, no, null, genesis), no);
    const end = appendEvents(db, no, { events: 0, last: firstPrev }, at, input.events);
    advance(db, no, at, { ...end, salts: appendSalts(db, no, 0, input.salts) });
    return [appendJournal(db, no, run, 'create')];
  });
}
