// Transitions: pages of rows without bodies, and one with everything.
import type { TransitionDetail, TransitionRow } from '#shared/contract/run.ts';
import { features } from '#shared/domain/features.ts';
import { parseEventLine } from '#shared/domain/event-chain.ts';
import type { RunId, Sha } from '#shared/domain/ids.ts';
import { type FileChange, MemoryEntry } from '#shared/domain/memory.ts';
import { type Outcome, outcomes, type Transition, type VerdictSource } from '#shared/domain/transition.ts';
import type { ManifestEntry, TreeFile } from '#shared/domain/tree.ts';
import type { Rank, Verdict } from '#shared/domain/verdict.ts';
import { assertNever, ensure } from '#shared/lib/assert.ts';
import { truncateUtf8, utf8Length } from '#shared/lib/text.ts';
import { fileChanges } from '#electron/verifiers/changes.ts';
import { decodeCost } from '../amounts.ts';
import { type ReadableDb, sql } from '../db.ts';
import { StoreError } from '../errors.ts';
import { maxInRun, numberOf, rowKey } from '../keys.ts';
import { decodeRank } from '../sparse-rank.ts';
import { outputsOf, registrationsOf } from './autos.ts';
import { getBlob, getManifest } from './blobs.ts';
import { bundleAt } from './bundles.ts';
import { genesisRank } from './genesis-rank.ts';
import { runPlace } from './runs.ts';
import { getVerdict } from './verdicts.ts';

type Row = {
  readonly key: number;
  readonly outcome: number;
  readonly round: number;
  readonly slot: number;
  readonly base: number;
  readonly base_id: Sha;
  readonly era_start: number;
  readonly bundle: number | null;
  readonly bundle_id: Sha | null;
  readonly duplicate_of: number | null;
  readonly source: VerdictSource;
  readonly kind: Verdict['kind'] | null;
  readonly code: string | null;
  readonly rank: string | null;
  readonly cost: string;
  readonly tree: Sha | null;
};
type WholeRow = Row & {
  readonly event_from: number;
  readonly event_to: number;
  readonly verdict: Sha | null;
  readonly request: Sha | null;
  readonly response: Sha | null;
  readonly features_shown: Sha | null;
};

const columns =
  't.key, t.outcome, t.round, t.slot, t.base, b.id AS base_id, b.era_start, t.bundle, c.id AS bundle_id, t.duplicate_of, t.source, t.kind, t.code, t.rank, t.cost, t.tree';
const tables = 'transition t JOIN bundle b ON b.key = t.base LEFT JOIN bundle c ON c.key = t.bundle';

export const selectPage = sql<Row>(`SELECT ${columns} FROM ${tables} WHERE t.key > ? AND t.key <= ? ORDER BY t.key LIMIT ?`);
export const selectOne = sql<WholeRow>(
  `SELECT ${columns}, t.event_from, t.event_to, t.verdict, t.request, t.response, t.features_shown FROM ${tables} WHERE t.key = ?`,
);
export const selectMemory = sql<{ body: string }>('SELECT body FROM memory WHERE key = ?');
export const selectUses = sql<{ entry: Sha }>('SELECT entry FROM memory_use WHERE transition = ? ORDER BY position');
export const selectEvents = sql<{ line: string }>('SELECT line FROM event WHERE key BETWEEN ? AND ? ORDER BY key');

const outcomeOf = (code: number): Outcome => ensure(outcomes[code], `outcome with the code ${code}`);

const rankOf = (db: ReadableDb, { rank, era_start }: Row): Rank | null =>
  rank === null ? null : decodeRank(rank, genesisRank(db, era_start));

const toRow = (db: ReadableDb, row: Row): TransitionRow => ({
  n: numberOf(row.key),
  round: row.round,
  slot: row.slot,
  outcome: outcomeOf(row.outcome),
  base: row.base_id,
  baseSeq: numberOf(row.base),
  tree: row.tree,
  rank: rankOf(db, row),
  verdictSource: row.source,
  verdictKind: row.kind,
  code: row.code,
  bundle: row.bundle_id,
  bundleSeq: row.bundle === null ? null : numberOf(row.bundle),
  duplicateOf: row.duplicate_of,
  cost: decodeCost(row.cost),
});

/** Rows with after < n, oldest first, at most `limit`, by keyset. Throws a StoreError of kind `not_found`. */
export function pageTransitions(db: ReadableDb, { run, after, limit }: { run: RunId; after: number; limit: number }): TransitionRow[] {
  return db.snapshot(() => {
    const { no } = runPlace(db, run);
    return db.all(selectPage, rowKey(no, Math.min(after, maxInRun)), rowKey(no, maxInRun), limit).map((row) => toRow(db, row));
  });
}

/** What the verifier wrote is shown up to this many bytes. */
export const maxOutputBytes = 65_536;

const decoder = new TextDecoder();

const outputOf = (db: ReadableDb, verdict: Verdict | null): string | null => {
  if (verdict === null || verdict.kind === 'invalid') return null;
  const parts: string[] = [];
  let left = maxOutputBytes;
  for (const { output } of verdict.runs) {
    if (output === null || left <= 0) continue;
    const bytes = getBlob(db, output);
    if (bytes === null) throw new StoreError('corrupt', `${db.file}: the output ${output} of a verifier run is not there`);
    const text = truncateUtf8(decoder.decode(bytes.subarray(0, left)), left);
    parts.push(text);
    left -= Math.min(bytes.length, left);
  }
  return parts.length === 0 ? null : parts.join('\n');
};

/** Of what one automatic command said, and of what all of an attempt did, so much is shown. */
const maxAutoBytes = 16_384;
const maxAutosBytes = 262_144;

const autosOf = (db: ReadableDb, transition: number): TransitionDetail['autos'] => {
  let left = maxAutosBytes;
  return outputsOf(db, transition).map(({ sha, output: { name, command, tree, at, ending, output } }) => {
    const shown = truncateUtf8(output, Math.min(maxAutoBytes, left));
    left -= utf8Length(shown);
    return { name, command: [...command], tree, at, ending, output: shown, cut: shown.length < output.length, record: sha };
  });
};

const filesOf = (db: ReadableDb, entries: readonly ManifestEntry[], other: ReadonlyMap<string, ManifestEntry>): TreeFile[] =>
  entries
    // Equal files need no bytes to be compared.
    .filter(({ path, sha, mode }) => other.get(path)?.sha !== sha || other.get(path)?.mode !== mode)
    .map(({ path, sha, mode }) => ({ path, mode, bytes: ensure(getBlob(db, sha), `blob ${sha} of ${path}`) }));

const changesBetween = (db: ReadableDb, before: Sha, after: Sha): FileChange[] => {
  const old = ensure(getManifest(db, before), `tree ${before}`);
  const now = ensure(getManifest(db, after), `tree ${after}`);
  const byPath = (entries: readonly ManifestEntry[]) => new Map(entries.map((entry) => [entry.path, entry]));
  return fileChanges(filesOf(db, old, byPath(now)), filesOf(db, now, byPath(old))).changes;
};

const speaksOf = (line: string, n: number): boolean => {
  const event = parseEventLine(line);
  if (!event.ok) throw new StoreError('corrupt', `a stored event is damaged: ${event.error}`);
  switch (event.value.type) {
    case 'round':
      return event.value.body.slots.some((s) => s.n === n);
    case 'proposal':
    case 'register':
    case 'verdict':
    case 'auto':
    case 'decision':
      return event.value.body.n === n;
    case 'declare':
    case 'genesis':
    case 'recertify':
    case 'resume':
    case 'stop':
      return false;
    default:
      return assertNever(event.value, 'event');
  }
};

/** Everything about one transition; null where there is none. Throws a StoreError when what it names is damaged. */
export function getTransition(db: ReadableDb, { run, n }: { run: RunId; n: number }): TransitionDetail | null {
  return db.snapshot(() => {
    const { no } = runPlace(db, run);
    const key = rowKey(no, n);
    const row = n > maxInRun ? undefined : db.get(selectOne, key);
    if (row === undefined) return null;
    const base = ensure(bundleAt(db, row.base), `base of attempt ${n}`);
    const verdict = row.verdict === null ? null : ensure(getVerdict(db, row.verdict), `verdict ${row.verdict}`);
    const body = db.get(selectMemory, key)?.body;
    const memory = body === undefined ? null : MemoryEntry.parse(JSON.parse(body));
    const bundle = row.bundle === null ? null : bundleAt(db, row.bundle);
    const outcome = outcomeOf(row.outcome);
    const transition: Transition = {
      run,
      n,
      round: row.round,
      slot: row.slot,
      base: row.base_id,
      request: row.request,
      response: row.response,
      retrieved: db.all(selectUses, key).map(({ entry }) => entry),
      featuresShown: row.features_shown,
      tree: row.tree,
      duplicateOf: row.duplicate_of,
      verdict: row.verdict,
      verdictSource: row.source,
      outcome,
      bundle: row.bundle_id,
      cost: decodeCost(row.cost),
    };
    return {
      transition,
      baseSeq: base.seq,
      baseRank: base.rank,
      rank: rankOf(db, row),
      verdict,
      // I12: a function of the head's rank, the verdict and the decision.
      features: memory?.features ?? features(base.rank, verdict, outcome),
      changes: row.tree === null ? null : (memory?.changes ?? changesBetween(db, base.tree, row.tree)),
      memory,
      bundle,
      output: outputOf(db, verdict),
      autos: autosOf(db, key),
      registrations: registrationsOf(db, key).map(({ request: { name, command }, refusal }) => ({ name, command: [...command], refusal })),
      events: db
        .all(selectEvents, rowKey(no, row.event_from), rowKey(no, row.event_to))
        .map(({ line }) => line)
        .filter((line) => speaksOf(line, n)),
    };
  });
}
