// Making entries of the exploration memory: what was tried and did not commit, and what the verifier said, cut to what may be seen.
// Semantics, section 6. Nothing that decides imports this file (I13).
import { hashJson } from '../lib/hash.ts';
import { truncateUtf8 } from '../lib/text.ts';
import { features } from './features.ts';
import type { Sha } from './ids.ts';
import type { FileChange, MemoryEntry } from './memory.ts';
import type { Obligation } from './obligation.ts';
import type { Outcome } from './transition.ts';
import type { Rank, Verdict } from './verdict.ts';

/** Bytes of UTF-8 that an excerpt may take. */
export const maxExcerptBytes = 4_096;

export interface MemoryFacts {
  readonly run: string;
  readonly contract: Sha;
  readonly transition: number;
  readonly base: Sha;
  /** Rank of the base before any swap. */
  readonly baseRank: Rank;
  readonly tree: Sha | null;
  readonly outcome: Exclude<Outcome, 'commit'>;
  /** null for a duplicate or an aborted attempt. */
  readonly verdict: Verdict | null;
  readonly changes: readonly FileChange[];
  readonly hunks: readonly Sha[];
  /** From `excerptFor`. */
  readonly excerpt: string;
  /** Written by a model, untrusted; not part of the id. */
  readonly note: string | null;
}

/** Per coordinate -1 improved, 0 tied, 1 worsened. Throws when the ranks differ in length. */
export function signVector(base: Rank, candidate: Rank): (-1 | 0 | 1)[] {
  if (base.length !== candidate.length) throw new RangeError(`sign vector: ranks of ${base.length} and ${candidate.length} coordinates`);
  return candidate.map((c, i) => {
    const b = base[i] ?? Number.NaN;
    return c < b ? -1 : c > b ? 1 : 0;
  });
}

/** The entry of one rejected attempt. `id` is the SHA-256 of the RFC 8785 JSON of everything but `id` and `note`. */
export function memoryEntry({ verdict, note, changes, hunks, ...facts }: MemoryFacts): MemoryEntry {
  const rank = verdict?.kind === 'ranked' ? verdict.rank : null;
  const body = {
    ...facts,
    rank,
    signs: rank === null ? null : signVector(facts.baseRank, rank),
    features: features(facts.baseRank, verdict, facts.outcome),
    changes: [...changes],
    hunks: [...hunks],
  };
  return { id: hashJson(body), ...body, note };
}

/**
 * What of the verifier's words may be kept in a memory entry and shown to a proposer, at most 4 KiB of UTF-8, cut at a code point:
 * the details of fully visible obligations, in coordinate order; how many aggregate obligations had details, not which. Lines that contain the
 * key or the title of an obligation that is not fully visible are dropped. `output` (the verifier's whole output) names nobody
 * knows what, so it is kept only when every obligation is fully visible. Lone surrogates become U+FFFD.
 */
export function excerptFor(obligations: readonly Obligation[], details: Readonly<Record<string, string>>, output: string): string {
  const guarded = obligations.filter((o) => o.visibility !== 'full');
  const words = guarded.flatMap((o) => [o.key.toLowerCase(), o.title.toLowerCase()]);
  const allowed = (text: string): string => {
    if (words.length === 0) return text;
    return text
      .split(/\r\n|[\n\r\u2028\u2029]/)
      .filter((line) => {
        const lower = line.toLowerCase();
        return !words.some((word) => lower.includes(word));
      })
      .join('\n');
  };
  const said = (o: Obligation): string | null => (Object.hasOwn(details, o.key) ? (details[o.key] ?? null) : null);
  const parts: string[] = [];
  for (const o of obligations) {
    const text = said(o);
    if (o.visibility === 'full' && text !== null) parts.push(`${o.key}: ${allowed(text)}`);
  }
  const aggregate = guarded.filter((o) => o.visibility === 'aggregate' && said(o) !== null).length;
  if (aggregate > 0) parts.push(`aggregate obligations with details: ${aggregate}`);
  if (guarded.length === 0 && output !== '') parts.push(output);
  return truncateUtf8(parts.join('\n').toWellFormed(), maxExcerptBytes);
}
