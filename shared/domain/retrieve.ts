// Which rejected attempts a proposer is shown, and what of them. Pure and deterministic; nothing that decides imports this file (I13).
// Semantics, section 6. Everything here, the choice as well as what is shown, is a function of what the proposer may see: of hidden
// obligations nothing, of aggregate ones their sum. So two histories that differ only in what is hidden give the same view.
import { canonicalJson } from '../lib/canonical-json.ts';
import { utf8Length } from '../lib/text.ts';
import type { Sha } from './ids.ts';
import { visibleText } from './memory-entry.ts';
import type { FileChange, MemoryEntry } from './memory.ts';
import type { Obligation } from './obligation.ts';
import { relate } from './rank.ts';
import type { Outcome } from './transition.ts';
import type { Rank } from './verdict.ts';

/** Raised whenever equal inputs could give another choice or another view; stands in the header of a run whose proposer reads memory. */
export const retrievalVersion = 1;

/** How much memory a proposer is given. */
export type MemoryLimits = {
  /** Entries at most. */
  readonly k: number;
  /** Tokens at most over all views, by `estimateTokens`. */
  readonly tokenCap: number;
  /** Of the k entries so many are kept for near misses, the others for dead ends; what one kind leaves the other may take. */
  readonly quota: number;
};

/** What a change did to one obligation that the proposer may see in full. */
export type ChangedObligation = {
  readonly key: string;
  readonly before: number;
  readonly after: number;
};

/** One entry as a proposer receives it. `rejected` stands for an outcome that would tell something about a guarded obligation. */
export type MemoryView = {
  /** Number of the attempt in its run. */
  readonly n: number;
  readonly outcome: Exclude<Outcome, 'commit'> | 'rejected';
  /** Fully visible obligations that got better or worse against the attempt's own base; at most `maxListed`, the counts are of all. */
  readonly better: readonly ChangedObligation[];
  readonly worse: readonly ChangedObligation[];
  readonly betterCount: number;
  readonly worseCount: number;
  /** Sums over the aggregate obligations; null without any, or without a rank. */
  readonly aggregate: { readonly before: number; readonly after: number } | null;
  readonly changes: readonly Pick<FileChange, 'path' | 'status' | 'added' | 'removed'>[];
  readonly excerpt: string;
  readonly note: string | null;
};

/** Obligations, and files, that one view lists at most. */
export const maxListed = 20;

/** The contract of the head, as far as it matters here. */
export type Viewed = { readonly sha: Sha; readonly obligations: readonly Obligation[] };

/** The values that a proposer may know: those of fully visible obligations, in order, then the sum of the aggregate ones if there are any. */
const visibleValues = (rank: Rank, obligations: readonly Obligation[]): number[] => {
  const full = rank.filter((_, i) => obligations[i]?.visibility === 'full');
  const aggregate = rank.filter((_, i) => obligations[i]?.visibility === 'aggregate');
  return aggregate.length === 0 ? full : [...full, sum(aggregate)];
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const isGuarded = (obligations: readonly Obligation[]): boolean => obligations.some(({ visibility }) => visibility !== 'full');

const shownOutcome = (outcome: MemoryEntry['outcome'], guarded: boolean): MemoryView['outcome'] => {
  switch (outcome) {
    case 'tie':
    case 'regression':
    case 'incomparable':
    case 'not_selected':
    case 'unstable':
      // Which of them it was depends on every obligation.
      return guarded ? 'rejected' : outcome;
    case 'duplicate':
    case 'invalid':
    case 'no_verdict':
    case 'aborted':
      return outcome;
    default:
      return outcome satisfies never;
  }
};

/**
 * What a proposer receives of an entry. Ids are left out: they are hashes over every value and would let hidden ones be guessed. An entry
 * of another contract keeps its files and nothing that was measured, because whose values they are is not known here.
 */
export function memoryView(entry: MemoryEntry, contract: Viewed): MemoryView {
  const same = entry.contract === contract.sha;
  const { obligations } = contract;
  const { rank, baseRank } = entry;
  const changed: ChangedObligation[] = [];
  if (same && rank !== null) {
    for (const [i, { key, visibility }] of obligations.entries()) {
      const before = baseRank[i];
      const after = rank[i];
      if (visibility === 'full' && before !== undefined && after !== undefined && before !== after) changed.push({ key, before, after });
    }
  }
  const better = changed.filter(({ before, after }) => after < before);
  const worse = changed.filter(({ before, after }) => after > before);
  const ofAggregate = (values: Rank): number => sum(values.filter((_, i) => obligations[i]?.visibility === 'aggregate'));
  const hasAggregate = obligations.some(({ visibility }) => visibility === 'aggregate');
  return {
    n: entry.transition,
    outcome: shownOutcome(entry.outcome, !same || isGuarded(obligations)),
    better: better.slice(0, maxListed),
    worse: worse.slice(0, maxListed),
    betterCount: better.length,
    worseCount: worse.length,
    aggregate: same && rank !== null && hasAggregate ? { before: ofAggregate(baseRank), after: ofAggregate(rank) } : null,
    changes: entry.changes.slice(0, maxListed).map(({ path, status, added, removed }) => ({ path, status, added, removed })),
    // It was filtered when it was made; a second time costs little, and an entry may have come from elsewhere.
    excerpt: same ? visibleText(obligations, entry.excerpt) : '',
    note: same && entry.note !== null ? visibleText(obligations, entry.note) : null,
  };
}

/** Tokens that a view counts as: a quarter of the bytes of its canonical JSON, rounded up. Part of `retrievalVersion`. */
export function estimateTokens(view: MemoryView): number {
  return Math.ceil(utf8Length(canonicalJson(view)) / 4);
}

export type RetrieveInput = {
  /** In any order; an id that stands twice counts once. */
  readonly entries: readonly MemoryEntry[];
  readonly head: { readonly id: Sha; readonly rank: Rank };
  readonly contract: Viewed;
  /** Ids of the bundles that the head descends from; the head itself may be missing. */
  readonly ancestors: Iterable<Sha>;
  readonly limits: MemoryLimits;
  /** How often each entry was shown already, by id; absent = never. */
  readonly counters: ReadonlyMap<Sha, number>;
  /** Also entries that were tried on a bundle which is no ancestor of the head. */
  readonly anyBase?: boolean;
};

type Scored = {
  readonly entry: MemoryEntry;
  readonly same: boolean;
  readonly near: boolean;
  readonly score: number;
};

// Run ids are UUIDv7, so that their order is that of their starts.
const older = (a: MemoryEntry, b: MemoryEntry): number => (a.run !== b.run ? (a.run < b.run ? -1 : 1) : a.transition - b.transition);

const hunkSet = ({ hunks }: MemoryEntry): string => [...new Set(hunks)].sort().join(' ');

/**
 * The entries to show, best first: those of the head's contract before others, then by 3 x (values that the attempt improved and that the
 * head still violates) - 2 x (values it worsened) + 1 for a near miss - times shown + recency (from 0 up to 1, by age among the
 * eligible), the newer first among equals. At most one entry per set of hunks, at most `limits.k` entries and `limits.tokenCap` tokens; an
 * entry that does not fit is passed over. A near miss is an incomparable or not selected attempt; with guarded obligations, one that was
 * incomparable or better by what the proposer may see. An aborted attempt says nothing and is never shown.
 */
export function retrieve({ entries, head, contract, ancestors, limits, counters, anyBase = false }: RetrieveInput): MemoryEntry[] {
  const { obligations } = contract;
  const bases = new Set([...ancestors, head.id]);
  const headValues = visibleValues(head.rank, obligations);
  const guarded = isGuarded(obligations);
  const eligible = [...new Map(entries.map((entry) => [entry.id, entry])).values()]
    .filter(({ outcome, base }) => outcome !== 'aborted' && (anyBase || bases.has(base)))
    .sort(older);
  const scored = eligible.map((entry, age): Scored => {
    const same = entry.contract === contract.sha;
    let improved = 0;
    let worsened = 0;
    let near = !guarded && (entry.outcome === 'incomparable' || entry.outcome === 'not_selected');
    if (same && entry.rank !== null) {
      const before = visibleValues(entry.baseRank, obligations);
      const after = visibleValues(entry.rank, obligations);
      for (const [i, value] of after.entries()) {
        const old = before[i] ?? value;
        if (value < old && (headValues[i] ?? 0) > 0) improved++;
        else if (value > old) worsened++;
      }
      if (guarded) {
        const relation = relate(after, before);
        near = relation === 'incomparable' || relation === 'dominates';
      }
    }
    near &&= same;
    const score = 3 * improved - 2 * worsened + (near ? 1 : 0) - (counters.get(entry.id) ?? 0) + age / eligible.length;
    return { entry, same, near, score };
  });
  scored.sort((a, b) => Number(b.same) - Number(a.same) || b.score - a.score || older(b.entry, a.entry));

  const { k, tokenCap } = limits;
  const left = { near: Math.min(limits.quota, k), dead: Math.max(0, k - limits.quota) };
  const taken = new Set<Scored>();
  const seen = new Set<string>();
  let tokens = 0;
  const take = (one: Scored): boolean => {
    if (taken.size >= k || taken.has(one)) return false;
    const hunks = hunkSet(one.entry);
    if (seen.has(hunks)) return false;
    const cost = estimateTokens(memoryView(one.entry, contract));
    if (tokens + cost > tokenCap) return false;
    seen.add(hunks);
    tokens += cost;
    taken.add(one);
    return true;
  };
  for (const one of scored) {
    const kind = one.near ? 'near' : 'dead';
    if (left[kind] > 0 && take(one)) left[kind]--;
  }
  for (const one of scored) take(one);
  return scored.filter((one) => taken.has(one)).map(({ entry }) => entry);
}
