// The files of a candidate that is being written: those of its base, with what the draft makes of them. Pure.
import type { Manifest } from '#shared/domain/tree.ts';
import { checkPath } from '#shared/domain/tree-id.ts';
import type { IsWritable } from '#shared/domain/writable.ts';
import { compareUtf8 } from '#shared/lib/text.ts';
import type { Draft } from '#renderer/state/drafts.ts';

export type CandidateFile = {
  readonly path: string;
  /** The file of the base; null for a new one. */
  readonly base: Manifest[number] | null;
  readonly state: 'unchanged' | 'edited' | 'new' | 'removed';
  readonly writable: boolean;
};

function stateOf(base: Manifest[number] | null, text: string | null | undefined): CandidateFile['state'] {
  if (text === undefined) return 'unchanged';
  if (base === null) return 'new';
  return text === null ? 'removed' : 'edited';
}

/** All files that the base or the draft has, in the order of trees. */
export function candidateFiles(base: Manifest, draft: Draft | undefined, isWritable: IsWritable): CandidateFile[] {
  const known = new Map(base.map((file) => [file.path, file]));
  const paths = new Set([...known.keys(), ...(draft?.texts.keys() ?? [])]);
  return [...paths].sort(compareUtf8).map((path) => {
    const file = known.get(path) ?? null;
    return { path, base: file, state: stateOf(file, draft?.texts.get(path)), writable: isWritable(path) };
  });
}

/** What is sent: every path that is not as in the base. */
export const editsOf = (draft: Draft): { path: string; text: string | null }[] =>
  [...draft.texts].map(([path, text]) => ({ path, text })).sort((a, b) => compareUtf8(a.path, b.path));

/** Why a path cannot be that of a new file; null when it can. */
export function newPathProblem(
  path: string,
  files: readonly CandidateFile[],
  isWritable: IsWritable,
): 'bad' | 'exists' | 'unwritable' | null {
  if (!checkPath(path).ok) return 'bad';
  if (files.some((file) => file.path === path)) return 'exists';
  return isWritable(path) ? null : 'unwritable';
}

/** Whether a text has line ends of more than one kind: an editor keeps one, so that an edit would change the others too. */
export function mixesLineEnds(text: string): boolean {
  const pairs = text.match(/\r\n/g)?.length ?? 0;
  const feeds = (text.match(/\n/g)?.length ?? 0) - pairs;
  const returns = (text.match(/\r/g)?.length ?? 0) - pairs;
  return [pairs, feeds, returns].filter((n) => n > 0).length > 1;
}
