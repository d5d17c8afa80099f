// What automatic commands said about a tree: the record of it, and its part of the evidence excerpt. It has no authority: nothing that
// decides imports this file (I13), and a replay takes it as it was recorded.
import { z } from 'zod';
import { canonicalJson } from '../lib/canonical-json.ts';
import { truncateUtf8, utf8Length } from '../lib/text.ts';
import { type Registration } from './auto-registry.ts';
import { Sha } from './ids.ts';
import { maxExcerptBytes, visibleText } from './memory-entry.ts';
import type { Obligation } from './obligation.ts';

/** One command on one tree, as it is stored (canonical JSON of it, under its SHA-256). */
export const AutoOutput = z.strictObject({
  format: z.literal('pawl.auto/1'),
  name: z.string(),
  command: z.array(z.string()).readonly(),
  tree: Sha,
  /** `candidate`: the tree that the attempt came to. `proposal`: one on the way there, seen by the proposer. */
  at: z.enum(['candidate', 'proposal']),
  /** How it ended, in a few words, such as `exit 1`. */
  ending: z.string(),
  /** stdout and stderr, as text. Hostile. */
  output: z.string(),
});
export type AutoOutput = z.infer<typeof AutoOutput>;

/** A request for a further command, as it is stored. */
export const AutoRequestRecord = z.strictObject({
  format: z.literal('pawl.auto.request/1'),
  name: z.string(),
  command: z.array(z.string()).readonly(),
});
export type AutoRequestRecord = z.infer<typeof AutoRequestRecord>;

/** Of what a proposer may say in one request so much is kept: a malformed one may be of any length. */
const maxKept = 1_000;

/** The record of a request, whatever it is: text is cut and made well-formed. */
export function requestRecord({ request: { name, command } }: Registration): AutoRequestRecord {
  const kept = (text: string): string => text.slice(0, maxKept).toWellFormed();
  return { format: 'pawl.auto.request/1', name: kept(name), command: command.slice(0, 64).map(kept) };
}

/** Texts of the records, as they are hashed and stored. */
export const recordText = (record: AutoOutput | AutoRequestRecord): string => canonicalJson(record);

const marker = '[auto] ';

/** Bytes of UTF-8 that all commands together, and that one of them, may take of an excerpt. */
const maxAutoBytes = 2_048;
const maxOneBytes = 1_024;
/** Characters of a name that was not even registered. */
const maxNamed = 100;

const lines = (text: string): string[] => text.split(/\r\n|[\n\r\u2028\u2029]/);

type Said = Pick<AutoOutput, 'name' | 'tree' | 'at' | 'ending' | 'output'>;

/**
 * The text of refused requests and of all outputs, each output under a line that names the command and the tree; without lines that name a
 * guarded obligation. What comes first is kept when there is too much: the outputs of the attempt's own tree, then the latest of the others.
 */
export function autoText(obligations: readonly Obligation[], outputs: readonly Said[], registrations: readonly Registration[]): string {
  const visible = (text: string): string => visibleText(obligations, text);
  const refused = registrations.flatMap((registration) => {
    const { refusal } = registration;
    const name = lines(requestRecord(registration).name)[0] ?? '';
    return refusal === null ? [] : [`${marker}${name.slice(0, maxNamed).toWellFormed()} not registered: ${refusal}`];
  });
  const own = outputs.filter(({ at }) => at === 'candidate');
  const seen = new Set(own.map(placeOf));
  const others = outputs
    .filter(({ at }) => at === 'proposal')
    .reverse()
    .filter((one) => seen.size < seen.add(placeOf(one)).size);
  const said = [...own, ...others].map(({ name, tree, ending, output }) => ({
    head: `${marker}${name} on tree ${tree.slice(0, 12)}: ${ending.toWellFormed()}`,
    body: visible(output.toWellFormed()).trimEnd(),
  }));
  const parts = [...refused.map((head) => ({ head, body: '' })), ...said]
    // Without its first line nobody could tell whose words, on which tree, the others are.
    .filter(({ head }) => visible(head) === head)
    .map(({ head, body }) => (body === '' ? head : truncateUtf8(`${head}\n${body}`, maxOneBytes)));
  return truncateUtf8(parts.join('\n'), maxAutoBytes);
}

const placeOf = ({ name, tree }: Said): string => `${tree} ${name}`;

/** The excerpt of the verifier's words followed by `auto`, which is kept whole; what stands in the way of telling them apart again goes. */
export function joinEvidence(excerpt: string, auto: string): string {
  if (auto === '') return excerpt;
  const own = lines(excerpt)
    .filter((line) => !line.startsWith(marker))
    .join('\n');
  if (own === '') return auto;
  const kept = truncateUtf8(own, maxExcerptBytes - utf8Length(auto) - 1);
  return `${kept}\n${auto}`;
}

/**
 * The `auto` that `joinEvidence` was given; empty when it was given none. For runs whose outputs were not stored yet, by a version that only
 * had the excerpt.
 */
export function autoPart(excerpt: string): string {
  if (excerpt.startsWith(marker)) return excerpt;
  const at = excerpt.indexOf(`\n${marker}`);
  return at < 0 ? '' : excerpt.slice(at + 1);
}
