// What a decision replay reads: rows as they are stored, in the order of a run, page by page. Nothing is parsed on the way that a damaged
// or forged row could turn into an error: the replay names what it finds. Bytes are checked against their hashes here, in the reader's thread.
import type { RunId, Sha } from '#shared/domain/ids.ts';
import type { ReplayEvent, ReplayHead, ReplaySalt, ReplayTransition, StoredBundle, StoredVerdict, StoredVerifierRun } from '../api.ts';
import { compact } from '../bytes.ts';
import { type ReadableDb, sql, type SqlValue } from '../db.ts';
import { maxInRun, numberOf, rowKey } from '../keys.ts';
import { decodeRank } from '../sparse-rank.ts';
import { getBlob, getManifest } from './blobs.ts';
import { branchOf } from './branches.ts';
import { genesisRank } from './genesis-rank.ts';
import { messageOf } from '#shared/lib/message-of.ts';

type Columns = Readonly<Record<string, SqlValue>>;

const selectRunRow = sql<Columns>('SELECT * FROM run WHERE id = ?');
const selectHeader = sql<{ body: string }>('SELECT body FROM header WHERE run = ?');
const selectContract = sql<{ m: number; caps: string; body: string }>('SELECT m, caps, body FROM contract WHERE sha = ?');
const last = (table: string) => sql<{ key: number | null }>(`SELECT max(key) AS key FROM ${table} WHERE key BETWEEN ? AND ?`);
export const selectLast = {
  event: last('event'),
  salt: last('salt'),
  transition: last('transition'),
  bundle: last('bundle'),
  slot: last('round_slot'),
};
const selectMemories = sql<{ n: number }>('SELECT count(*) AS n FROM memory WHERE key BETWEEN ? AND ?');
const selectBundleRow = sql<StoredBundle>('SELECT * FROM bundle WHERE key = ?');
export const selectEventRows = sql<Omit<ReplayEvent, 'seq'> & { key: number }>(
  'SELECT key, type, sha, line FROM event WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?',
);
export const selectSaltRows = sql<{ key: number; commitment: Sha; salt: Uint8Array; object: Sha }>(
  'SELECT key, commitment, salt, object FROM salt WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?',
);
export const selectTransitionRows = sql<
  Omit<ReplayTransition, 'n' | 'memory' | 'uses' | 'outputs' | 'registrations' | 'certified' | 'damage'>
>('SELECT * FROM transition WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?');
export const selectMemoryRows = sql<{ key: number; id: Sha; body: string }>('SELECT key, id, body FROM memory WHERE key BETWEEN ? AND ?');
export const selectUseRows = sql<{ transition: number; entry: Sha }>(
  'SELECT transition, entry FROM memory_use WHERE transition BETWEEN ? AND ? ORDER BY transition, position',
);
export const selectOutputRows = sql<{ transition: number; tree: Sha; record: Sha }>(
  'SELECT transition, tree, record FROM auto_output WHERE transition BETWEEN ? AND ? ORDER BY transition, position',
);
export const selectRegistrationRows = sql<{ transition: number; record: Sha; refusal: string | null }>(
  'SELECT transition, record, refusal FROM auto_registration WHERE transition BETWEEN ? AND ? ORDER BY transition, position',
);
export const selectVerdictRow = sql<Omit<StoredVerdict, 'ranks' | 'runs'> & { no: number; rank: string | null }>(
  'SELECT no, sha, tree, contract, kind, code, era, rank, potential, body FROM verdict WHERE sha = ?',
);
export const selectVerifierRuns = sql<Omit<StoredVerifierRun, 'reportBytes' | 'damage'>>(
  'SELECT id, nonce, tree, started_at, duration_ms, exit_code, signal, report, output, result FROM verifier_run WHERE key BETWEEN ? AND ? ORDER BY key',
);

type Bytes = { readonly bytes: Uint8Array | null; readonly damage: string | null };

const bytesOf = (db: ReadableDb, sha: Sha): Bytes => {
  try {
    const bytes = getBlob(db, sha);
    return bytes === null ? { bytes, damage: 'it is not stored' } : { bytes: compact(bytes), damage: null };
  } catch (error) {
    return { bytes: null, damage: messageOf(error) };
  }
};

/** Where a run begins and how far it goes now; null where there is none. */
export function getReplayHead(db: ReadableDb, run: RunId): ReplayHead | null {
  return db.snapshot(() => {
    const row = db.get(selectRunRow, run);
    const no = row?.['no'];
    const contract = row?.['contract'];
    if (row === undefined || typeof no !== 'number' || typeof contract !== 'string') return null;
    const count = (query: (typeof selectLast)[keyof typeof selectLast]): number => {
      const key = db.get(query, rowKey(no, 0), rowKey(no, maxInRun))?.key ?? null;
      return key === null ? -1 : numberOf(key);
    };
    return {
      no,
      row,
      header: db.get(selectHeader, no)?.body ?? null,
      contract: db.get(selectContract, contract) ?? null,
      events: count(selectLast.event) + 1,
      salts: count(selectLast.salt) + 1,
      transitions: Math.max(0, count(selectLast.transition)),
      bundles: count(selectLast.bundle) + 1,
      memories: db.get(selectMemories, rowKey(no, 0), rowKey(no, maxInRun))?.n ?? 0,
      open: count(selectLast.slot) > Math.max(0, count(selectLast.transition)),
      genesis: db.get(selectBundleRow, rowKey(no, 0)) ?? null,
      branch: branchOf(db, no),
    };
  });
}

type Page = { readonly no: number; readonly after: number; readonly to: number; readonly limit: number };

/** The text of a contract, as it is stored; null where there is none. */
export function getContractBody(db: ReadableDb, sha: Sha): string | null {
  return db.get(selectContract, sha)?.body ?? null;
}

/** Lines with after < seq <= to. */
export function pageReplayEvents(db: ReadableDb, { no, after, to, limit }: Page): ReplayEvent[] {
  return db
    .all(selectEventRows, rowKey(no, after + 1), rowKey(no, to), limit)
    .map(({ key, type, sha, line }) => ({ seq: numberOf(key), type, sha, line }));
}

/** Bytes behind one page of salts, so that large responses come few at a time. */
const maxPageBytes = 4 * 1_024 * 1_024;

/** Salts with after < position <= to, each with what it hides; fewer than `limit` where that is large. */
export function pageReplaySalts(db: ReadableDb, { no, after, to, limit }: Page): ReplaySalt[] {
  return db.snapshot(() => {
    const page: ReplaySalt[] = [];
    let size = 0;
    for (const { key, commitment, salt, object } of db.all(selectSaltRows, rowKey(no, after + 1), rowKey(no, to), limit)) {
      const verdict = getStoredVerdict(db, object);
      const { bytes, damage } = verdict === null ? bytesOf(db, object) : { bytes: null, damage: null };
      page.push({ position: numberOf(key), commitment, salt: compact(salt), object, verdict, bytes, damage });
      size += (bytes?.length ?? 0) + (verdict?.runs.reduce((sum, { reportBytes }) => sum + (reportBytes?.length ?? 0), 0) ?? 0);
      if (size > maxPageBytes) break;
    }
    return page;
  });
}

/** A verdict with its executions and their reports; null where there is none. */
export function getStoredVerdict(db: ReadableDb, sha: Sha): StoredVerdict | null {
  const row = db.get(selectVerdictRow, sha);
  if (row === undefined) return null;
  const { no, rank, ...columns } = row;
  let ranks: StoredVerdict['ranks'] = null;
  if (rank !== null && columns.era !== null) {
    try {
      ranks = { sparse: rank, rank: decodeRank(rank, genesisRank(db, columns.era)) };
    } catch {
      ranks = { sparse: rank, rank: null };
    }
  }
  const runs = db.all(selectVerifierRuns, no * 65_536, no * 65_536 + 65_535).map((run) => {
    const { bytes, damage } = run.report === null ? { bytes: null, damage: null } : bytesOf(db, run.report);
    return { ...run, reportBytes: bytes, damage };
  });
  return { ...columns, ranks, runs };
}

/** Transitions with after < n <= to, with their memory, their bundle and whether their trees resolve to bytes. */
export function pageReplayTransitions(db: ReadableDb, { no, after, to, limit }: Page): ReplayTransition[] {
  return db.snapshot(() => {
    const rows = db.all(selectTransitionRows, rowKey(no, after + 1), rowKey(no, to), limit);
    const first = rows[0]?.key ?? 0;
    const end = rows.at(-1)?.key ?? -1;
    const memories = new Map(db.all(selectMemoryRows, first, end).map((memory) => [memory.key, memory]));
    const uses = Map.groupBy(db.all(selectUseRows, first, end), ({ transition }) => transition);
    const outputs = Map.groupBy(db.all(selectOutputRows, first, end), ({ transition }) => transition);
    const registrations = Map.groupBy(db.all(selectRegistrationRows, first, end), ({ transition }) => transition);
    const check = checkTrees(db);
    return rows.map((row) => {
      const { key, tree, request, response, verdict } = row;
      const damage = tree === null ? [] : check(tree);
      // Those of other attempts stand behind the salts and are read with them.
      if (verdict === null && tree === null) {
        for (const sha of [request, response]) {
          const problem = sha === null ? null : bytesOf(db, sha).damage;
          if (sha !== null && problem !== null) damage.push({ where: `blob ${sha}`, what: problem });
        }
      }
      return {
        ...row,
        n: numberOf(key),
        memory: memories.get(key) ?? null,
        uses: (uses.get(key) ?? []).map(({ entry }) => entry),
        outputs: (outputs.get(key) ?? []).map(({ tree: on, record }) => ({ tree: on, record })),
        registrations: (registrations.get(key) ?? []).map(({ record, refusal }) => ({ record, refusal })),
        certified: row.bundle === null ? null : (db.get(selectBundleRow, row.bundle) ?? null),
        damage,
      };
    });
  });
}

/** I15: whether a tree resolves to bytes; each tree and each file is read once a page. */
const checkTrees = (db: ReadableDb) => {
  const known = new Map<Sha, string | null>();
  const seen = new Set<Sha>();
  return (tree: Sha): { where: string; what: string }[] => {
    if (seen.has(tree)) return [];
    seen.add(tree);
    const damage: { where: string; what: string }[] = [];
    try {
      const manifest = getManifest(db, tree);
      if (manifest === null) return [{ where: `tree ${tree}`, what: 'it is not stored' }];
      for (const { sha } of manifest) {
        const problem = known.has(sha) ? null : bytesOf(db, sha).damage;
        known.set(sha, problem);
        if (problem !== null) damage.push({ where: `blob ${sha}`, what: problem });
      }
    } catch (error) {
      damage.push({ where: `tree ${tree}`, what: messageOf(error) });
    }
    return damage;
  };
};
