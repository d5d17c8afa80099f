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

const lineEnd = /\r\n|[\n\r\u2028\u2029]/;

/** Bytes of UTF-8 that an excerpt may take. */
export const maxExcerptBytes = 4_096;

// So much of one detail is looked through; words times lines would otherwise grow with what a verifier prints.
const maxFilteredUnits = 65_536;

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

/** Drops the lines of a text that name an obligation which is not fully visible, by its key or its title. */
function visibleLines(obligations: readonly Obligation[]): (text: string) => string {
  // A title of several lines is looked for line by line, as the text is.
  const words = obligations
    .filter((o) => o.visibility !== 'full')
    .flatMap((o) => [o.key, ...o.title.split(lineEnd)].map((w) => w.trim().toLowerCase()))
    .filter((w) => w !== '');
  return (text) => {
    if (words.length === 0) return text;
    const lines = text.slice(0, maxFilteredUnits).split(lineEnd);
    // The last line of a cut text may hold half a word that the filter would know whole.
    if (text.length > maxFilteredUnits) lines.pop();
    return lines
      .filter((line) => {
        const lower = line.toLowerCase();
        return !words.some((word) => lower.includes(word));
      })
      .join('\n');
  };
}

/** First line of the excerpt of a verdict that candidate code could have forged. */
export const tamperEvidentLabel = 'tamper-evident only: the candidate could reach the verifier that ranked it';

/** A text without the lines that contain the key or the title of an obligation that is not fully visible. */
export function visibleText(obligations: readonly Obligation[], text: string): string {
  return visibleLines(obligations)(text);
}

/**
 * What of the verifier's words may be kept in a memory entry and shown to a proposer, at most 4 KiB of UTF-8, cut at a code point. First
 * the label of a verdict that candidate code could have forged (`tamperEvidentOnly`); then the details of fully visible obligations, in coordinate order; how many aggregate obligations had details, not which. Lines that contain the
 * key or the title of an obligation that is not fully visible are dropped. `output` (the verifier's whole output) names nobody
 * knows what, so it is kept only when every obligation is fully visible. Lone surrogates become U+FFFD.
 */
export function excerptFor(
  obligations: readonly Obligation[],
  details: Readonly<Record<string, string>>,
  output: string,
  tamperEvidentOnly = false,
): string {
  const guarded = obligations.filter((o) => o.visibility !== 'full');
  const allowed = visibleLines(obligations);
  const said = (o: Obligation): string | null => (Object.hasOwn(details, o.key) ? (details[o.key] ?? null) : null);
  const parts: string[] = [];
  let units = 0;
  const add = (part: string): void => {
    parts.push(part);
    units += part.length + 1;
  };
  if (tamperEvidentOnly) add(tamperEvidentLabel);
  for (const o of obligations) {
    // A UTF-16 unit takes at least one byte, so nothing after this could still be seen.
    if (units > maxExcerptBytes) break;
    const text = said(o);
    if (o.visibility === 'full' && text !== null) add(`${o.key}: ${allowed(text)}`);
  }
  const aggregate = guarded.filter((o) => o.visibility === 'aggregate' && said(o) !== null).length;
  if (aggregate > 0) add(`aggregate obligations with details: ${aggregate}`);
  if (guarded.length === 0 && output !== '') add(output.slice(0, maxExcerptBytes));
  return truncateUtf8(parts.join('\n').toWellFormed(), maxExcerptBytes);
}
