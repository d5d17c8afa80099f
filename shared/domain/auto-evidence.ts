// What a task's automatic commands said about one candidate, as a part of the evidence excerpt. It has no authority: nothing that decides
// imports this file (I13), and a replay takes it as it was recorded.
import { truncateUtf8, utf8Length } from '../lib/text.ts';
import type { Sha } from './ids.ts';
import { maxExcerptBytes, visibleText } from './memory-entry.ts';
import type { Obligation } from './obligation.ts';

/** One command on one tree. */
export type AutoOutput = {
  readonly name: string;
  readonly tree: Sha;
  /** How it ended, in a few words, such as `exit 1`. */
  readonly ending: string;
  /** stdout and stderr. Hostile. */
  readonly output: string;
};

const marker = '[auto] ';

/** Bytes of UTF-8 that all commands together, and that one of them, may take of an excerpt. */
const maxAutoBytes = 2_048;
const maxOneBytes = 1_024;

const lines = (text: string): string[] => text.split(/\r\n|[\n\r\u2028\u2029]/);

/** The text of all outputs, each under a line that names the command and the tree; without lines that name a guarded obligation. */
export function autoText(obligations: readonly Obligation[], outputs: readonly AutoOutput[]): string {
  const parts = outputs.map(({ name, tree, ending, output }) => {
    const said = visibleText(obligations, output.toWellFormed()).trimEnd();
    const head = `${marker}${name} on tree ${tree.slice(0, 12)}: ${ending.toWellFormed()}`;
    return said === '' ? head : truncateUtf8(`${head}\n${said}`, maxOneBytes);
  });
  return truncateUtf8(parts.join('\n'), maxAutoBytes);
}

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

/** The `auto` that `joinEvidence` was given; empty when it was given none. Only for a contract that has automatic commands. */
export function autoPart(excerpt: string): string {
  if (excerpt.startsWith(marker)) return excerpt;
  const at = excerpt.indexOf(`\n${marker}`);
  return at < 0 ? '' : excerpt.slice(at + 1);
}
