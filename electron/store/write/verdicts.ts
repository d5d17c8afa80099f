// Verdicts and the executions behind them.
import type { Sha } from '#shared/domain/ids.ts';
import { potential } from '#shared/domain/rank.ts';
import type { Rank, Verdict } from '#shared/domain/verdict.ts';
import { assertNever, ensure } from '#shared/lib/assert.ts';
import type { VerdictInput } from '../api.ts';
import { sql, type WritableDb } from '../db.ts';
import { StoreError } from '../errors.ts';
import { genesisRank } from '../read/genesis-rank.ts';
import { decodeRank, encodeRank } from '../sparse-rank.ts';
import { insertInto } from './insert.ts';

/** The era that ranks are stored against: the key of the bundle that opened it, and its rank. */
export type Era = { readonly key: number; readonly rank: Rank };

/** What a transition repeats of its verdict. `rank` is sparse, against the era of the transition's base. */
export type VerdictFacts = {
  readonly kind: Verdict['kind'];
  readonly code: string | null;
  readonly potential: number | null;
  readonly rank: string | null;
};

type VerdictRow = { kind: Verdict['kind']; code: string | null; potential: number | null; era: number | null; rank: string | null };

const selectVerdict = sql<VerdictRow>('SELECT kind, code, potential, era, rank FROM verdict WHERE sha = ?');
const insertRows = insertInto('verdict', ['sha', 'tree', 'contract', 'kind', 'code', 'era', 'rank', 'potential', 'body']);
const insertVerifierRuns = insertInto('verifier_run', [
  'key',
  'id',
  'nonce',
  'tree',
  'started_at',
  'duration_ms',
  'exit_code',
  'signal',
  'report',
  'output',
  'result',
]);

const factsOf = (verdict: Verdict, era: Era | null): VerdictFacts => {
  if (verdict.kind !== 'ranked') return { kind: verdict.kind, code: verdict.code, potential: null, rank: null };
  if (era === null) throw new StoreError('constraint', 'a ranked verdict without a genesis to store it against');
  return { kind: 'ranked', code: null, potential: potential(verdict.rank), rank: encodeRank(verdict.rank, era.rank) };
};

// Everything but kind, code and rank, which have columns.
const bodyOf = (verdict: Verdict): string => {
  switch (verdict.kind) {
    case 'ranked': {
      const { runs, stable, advisory, details } = verdict;
      return JSON.stringify({ runs, stable, advisory, details });
    }
    case 'invalid':
      return JSON.stringify({ message: verdict.message });
    case 'no_verdict':
      return JSON.stringify({ message: verdict.message, runs: verdict.runs });
    default:
      return assertNever(verdict, 'verdict');
  }
};

/**
 * Stores verdicts with their runs, except those that are stored already (the same sha is the same verdict). `era` may be null where none
 * has a rank. Returns the facts by sha.
 */
export function insertVerdicts(db: WritableDb, verdicts: readonly VerdictInput[], era: Era | null): Map<Sha, VerdictFacts> {
  const facts = new Map<Sha, VerdictFacts>();
  const fresh: VerdictInput[] = [];
  for (const input of verdicts) {
    const { sha, verdict } = input;
    if (facts.has(sha)) continue;
    facts.set(sha, factsOf(verdict, era));
    if (db.get(selectVerdict, sha) === undefined) fresh.push(input);
  }
  const last = insertRows(
    db,
    fresh.map(({ sha, tree, contract, verdict }) => {
      const { kind, code, rank, potential: sum } = ensure(facts.get(sha), 'facts');
      return [sha, tree, contract, kind, code, rank === null ? null : (era?.key ?? null), rank, sum, bodyOf(verdict)];
    }),
  );
  // Rowids go up by one, from the largest: nothing is deleted here, and nobody else writes meanwhile.
  const first = last - fresh.length + 1;
  insertVerifierRuns(
    db,
    fresh.flatMap(({ runs }, v) =>
      runs.map((r, i) => [
        (first + v) * 65_536 + i,
        r.id,
        r.nonce,
        r.tree,
        r.startedAt,
        r.durationMs,
        r.exitCode,
        r.signal,
        r.report,
        r.output,
        r.result,
      ]),
    ),
  );
  return facts;
}

/** What is stored of a verdict from an earlier round or an ancestor, against `era`. Throws a StoreError when there is none. */
export function storedFacts(db: WritableDb, sha: string, era: Era): VerdictFacts {
  const row = db.get(selectVerdict, sha);
  if (row === undefined) throw new StoreError('constraint', `a transition names the verdict ${sha}, which is neither stored nor given`);
  const { kind, code, potential, rank } = row;
  if (rank === null || row.era === null || row.era === era.key) return { kind, code, potential, rank };
  return { kind, code, potential, rank: encodeRank(decodeRank(rank, genesisRank(db, row.era)), era.rank) };
}
