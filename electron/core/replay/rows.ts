// Recomputed records in the shape in which the store keeps them, compared with its rows column by column.
import type { Cost } from '#shared/domain/budget.ts';
import { outcomes, type Transition } from '#shared/domain/transition.ts';
import type { CertifiedBundle } from '#shared/domain/bundle.ts';
import { potential } from '#shared/domain/rank.ts';
import type { MemoryEntry } from '#shared/domain/memory.ts';
import { type Fields, sameJson } from '#shared/domain/replay.ts';
import type { Rank, Verdict } from '#shared/domain/verdict.ts';
import type { Json } from '#shared/lib/canonical-json.ts';
import { z } from 'zod';
import { decodeCost, encodeCost } from '#electron/store/amounts.ts';
import type { AutoRows, ReplaySalt, ReplayTransition, SaltInput, StoredBundle, StoredVerdict, VerdictInput } from '#electron/store/api.ts';
import { numberOf, rowKey } from '#electron/store/keys.ts';
import { encodeRank } from '#electron/store/sparse-rank.ts';
import type { Findings } from './findings.ts';

// Made once: building a schema takes longer than using it.
const Members = z.record(z.string(), z.json());
const AnyJson = z.json();

/** JSON text as a value; the text itself where it is none. */
function parsed(text: string): Json {
  try {
    return AnyJson.parse(JSON.parse(text));
  } catch {
    return text;
  }
}

/** The members of JSON text; null where it is no object. */
export function membersOf(text: string): { readonly [key: string]: Json } | null {
  try {
    return Members.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

export type RowContext = {
  readonly no: number;
  /** Rank of the bundle that opened the era. */
  readonly genesis: Rank;
  readonly findings: Findings;
};

/** Where a transition's lines stand in the chain. */
export type EventSpan = { readonly from: number; readonly to: number };

const costOf = (text: string, expected: Cost): Json => {
  if (text === encodeCost(expected)) return expected;
  try {
    return decodeCost(text);
  } catch {
    return text;
  }
};

/** `verdict` is that of the transition, null without one; `bundleSeq` that of what it committed, `baseSeq` that of the head. */
export function compareTransition(
  { no, genesis, findings }: RowContext,
  row: ReplayTransition,
  t: Transition,
  facts: { readonly verdict: Verdict | null; readonly baseSeq: number; readonly bundleSeq: number | null; readonly span: EventSpan },
): void {
  const { verdict, baseSeq, bundleSeq, span } = facts;
  const ranked = verdict?.kind === 'ranked' ? verdict : null;
  const stored: Fields = {
    outcome: outcomes[row.outcome] ?? row.outcome,
    round: row.round,
    slot: row.slot,
    base: row.base,
    bundle: row.bundle,
    duplicate_of: row.duplicate_of,
    source: row.source,
    kind: row.kind,
    code: row.code,
    potential: row.potential,
    rank: row.rank,
    cost: costOf(row.cost, t.cost),
    event_from: row.event_from,
    event_to: row.event_to,
    tree: row.tree,
    verdict: row.verdict,
    request: row.request,
    response: row.response,
    features_shown: row.features_shown,
    retrieved: row.uses,
  };
  findings.compare(`transition ${t.n}`, stored, {
    outcome: t.outcome,
    round: t.round,
    slot: t.slot,
    base: rowKey(no, baseSeq),
    bundle: bundleSeq === null ? null : rowKey(no, bundleSeq),
    duplicate_of: t.duplicateOf,
    source: t.verdictSource,
    kind: verdict?.kind ?? null,
    code: verdict === null || verdict.kind === 'ranked' ? null : verdict.code,
    potential: ranked === null ? null : potential(ranked.rank),
    rank: ranked === null ? null : encodeRank(ranked.rank, genesis),
    cost: t.cost,
    event_from: span.from,
    event_to: span.to,
    tree: t.tree,
    verdict: t.verdict,
    request: t.request,
    response: t.response,
    features_shown: t.featuresShown,
    retrieved: t.retrieved,
  });
}

/** The note is a model's and in no id, so it stays what it is. */
export function compareMemory({ findings }: RowContext, n: number, row: ReplayTransition['memory'], entry: MemoryEntry | null): void {
  const where = `memory of transition ${n}`;
  if (row === null || entry === null) {
    if (row !== null || entry !== null) findings.mismatch(where, 'row', row?.id, entry?.id);
    return;
  }
  // As the store writes it; then nothing has to be read.
  if (row.id === entry.id && row.body === JSON.stringify(entry)) return;
  const body = membersOf(row.body);
  if (body === null) {
    findings.mismatch(where, 'body', row.body, JSON.stringify(entry));
    return;
  }
  const { note, ...stored }: Fields = body;
  const { note: _none, ...recomputed } = entry;
  findings.compare(where, { ...stored, row_id: row.id }, { ...recomputed, row_id: entry.id });
  if (note !== null && typeof note !== 'string') findings.mismatch(where, 'note', note, null);
}

/** What automatic commands left behind; `made` is that of the whole round. */
export function compareAutos({ findings }: RowContext, n: number, row: ReplayTransition, made: AutoRows | undefined): void {
  const ofAttempt = <T extends { readonly n: number }>(all: readonly T[] | undefined): T[] => (all ?? []).filter((one) => one.n === n);
  const outputs = ofAttempt(made?.outputs).map(({ tree, record }) => ({ tree, record }));
  const registrations = ofAttempt(made?.registrations).map(({ record, refusal }) => ({ record, refusal }));
  if (outputs.length + registrations.length + row.outputs.length + row.registrations.length === 0) return;
  findings.compare(
    `automatic commands of transition ${n}`,
    { outputs: row.outputs.map((one) => ({ ...one })), registrations: row.registrations.map((one) => ({ ...one })) },
    { outputs, registrations },
  );
}

export function compareBundle({ no, findings }: RowContext, row: StoredBundle | null, bundle: CertifiedBundle): void {
  const where = `bundle ${bundle.seq}`;
  if (row === null) {
    findings.mismatch(where, 'row', null, bundle.id);
    return;
  }
  const { rank, latent, ...columns } = row;
  findings.compare(
    where,
    { ...columns, rank: parsed(rank), latent: latent === null ? null : parsed(latent) },
    {
      key: rowKey(no, bundle.seq),
      id: bundle.id,
      edge: bundle.edge,
      transition: bundle.transition,
      potential: bundle.potential,
      era: bundle.era,
      era_start: rowKey(no, 0),
      parent: bundle.parent,
      contract: bundle.contract,
      tree: bundle.tree,
      verdict: bundle.verdict,
      summary: bundle.summary,
      latent: bundle.latent,
      rank: bundle.rank,
      summary_text: bundle.summaryText,
    },
  );
}

// A ranked verdict whose row is what the store makes of it: then nothing has to be read.
function isAsWritten(row: StoredVerdict, { sha, tree, contract, verdict }: VerdictInput): boolean {
  if (verdict.kind !== 'ranked' || row.era === null || numberOf(row.era) !== 0 || row.ranks?.rank == null) return false;
  const { rank, runs, stable, advisory, details } = verdict;
  return (
    row.sha === sha &&
    row.tree === tree &&
    row.contract === contract &&
    row.kind === 'ranked' &&
    row.code === null &&
    row.potential === potential(rank) &&
    sameJson(row.ranks.rank, rank) &&
    row.body === JSON.stringify({ runs, stable, advisory, details })
  );
}

/** `row`: the stored verdict whose executions `input` was made from. */
export function compareVerdict({ findings }: RowContext, where: string, row: StoredVerdict, input: VerdictInput): void {
  const { verdict } = input;
  if (isAsWritten(row, input)) return;
  const { kind, rank, code, ...rest }: Fields = { code: null, rank: null, ...verdict };
  // Ranks of the same content may stand against the genesis of the run that stored it first; what counts is what they come to.
  const stored: Fields = {
    sha: row.sha,
    tree: row.tree,
    contract: row.contract,
    kind: row.kind,
    code: row.code,
    potential: row.potential,
    rank: row.ranks === null ? null : (row.ranks.rank ?? row.ranks.sparse),
    ...(membersOf(row.body) ?? { body: row.body }),
  };
  findings.compare(where, stored, {
    ...rest,
    sha: input.sha,
    tree: input.tree,
    contract: input.contract,
    kind,
    code,
    potential: verdict.kind === 'ranked' ? potential(verdict.rank) : null,
    rank,
  });
  const opens = row.era === null ? 0 : numberOf(row.era);
  if (opens !== 0 || (row.era === null) !== (row.ranks === null))
    findings.mismatch(where, 'era', row.era, 'the bundle that opened the era');
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');

export function compareSalts({ findings }: RowContext, rows: readonly ReplaySalt[], salts: readonly SaltInput[]): void {
  for (const [i, row] of rows.entries()) {
    const expected = salts[i];
    const where = `salt ${row.position}`;
    if (expected === undefined) findings.mismatch(where, 'row', row.commitment, null);
    else if (row.commitment !== expected.commitment || row.object !== expected.object)
      findings.compare(
        where,
        { commitment: row.commitment, object: row.object, salt: hex(row.salt) },
        { commitment: expected.commitment, object: expected.object, salt: hex(expected.salt) },
      );
  }
  const last = rows.at(-1)?.position ?? -1;
  for (const [i, salt] of salts.slice(rows.length).entries()) findings.mismatch(`salt ${last + 1 + i}`, 'row', null, salt.commitment);
}
