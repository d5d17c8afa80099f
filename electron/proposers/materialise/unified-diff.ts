// One unified diff over any number of files, as `git diff` or `diff -u` write it, in a ```diff fence or bare. Context has to match
// exactly; where it stands is searched from the line that the hunk names, because models count lines badly.
import { applyPatch, parsePatch, type StructuredPatch } from 'diff';
import { ApplyFailed, named, type TreeEdit } from './tree-edit.ts';

const fence = /^ {0,3}(`{3,}|~{3,})[ \t]*([A-Za-z-]*)[ \t]*\r?$/;

/** The text inside the fences marked `diff` or `patch`, one after the other; where there is none, from the first line that begins a diff. */
export function findDiff(text: string): string {
  const lines = text.split('\n');
  const found: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const open = fence.exec(lines[i] ?? '');
    if (open === null || !/^(?:diff|patch)$/i.test(open[2] ?? '')) continue;
    const mark = open[1] ?? '';
    const first = i + 1;
    let end = first;
    // Lines of a diff begin with a sign, so that a fence inside one is never a fence of the answer.
    while (end < lines.length && (lines[end] ?? '').trimEnd() !== mark) end++;
    if (end === lines.length) throw new ApplyFailed('the diff is not closed: the answer ends before the end of its fence');
    found.push(...lines.slice(first, end));
    i = end;
  }
  if (found.length > 0) return `${found.join('\n')}\n`;
  const start = lines.findIndex(
    (line, i) => line.startsWith('diff --git ') || (line.startsWith('--- ') && (lines[i + 1] ?? '').startsWith('+++ ')),
  );
  return start < 0 ? '' : lines.slice(start).join('\n');
}

const hunkHeader = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;
const beginsFile = (lines: readonly string[], i: number): boolean =>
  (lines[i] ?? '').startsWith('diff --git ') ||
  ((lines[i] ?? '').startsWith('--- ') && (lines[i + 1] ?? '').startsWith('+++ ') && (lines[i + 2] ?? '').startsWith('@@ '));

/** The same diff with the counts of each hunk header made from its lines; an empty line counts as an empty line of context. */
export function recounted(diff: string): string {
  const lines = diff.split('\n');
  const nextText: number[] = [];
  for (let i = lines.length - 1, next = lines.length; i >= 0; i--) {
    if (lines[i] !== '') next = i;
    nextText[i] = next;
  }
  const out: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const header = hunkHeader.exec(lines[i] ?? '');
    if (header === null) {
      out.push(lines[i] ?? '');
      continue;
    }
    const body: string[] = [];
    let old = 0;
    let fresh = 0;
    let end = i + 1;
    for (; end < lines.length && !hunkHeader.test(lines[end] ?? '') && !beginsFile(lines, end); end++) {
      const line = lines[end] ?? '';
      const sign = line === '' || line === '\r' ? ' ' : line[0];
      if (sign !== ' ' && sign !== '+' && sign !== '-' && sign !== '\\') break;
      // An empty line at the end belongs to the answer, not to the hunk.
      const next = nextText[end] ?? lines.length;
      if (line === '' && (next === lines.length || beginsFile(lines, next))) break;
      if (sign !== '+' && sign !== '\\') old++;
      if (sign !== '-' && sign !== '\\') fresh++;
      body.push(line === '' || line === '\r' ? ` ${line}` : line);
    }
    // A hunk of no old lines names the line before it, which the parser shifts; a count of 0 says so.
    out.push(`@@ -${header[1]},${old} +${header[2]},${fresh} @@`, ...body);
    i = end - 1;
  }
  return out.join('\n');
}

const parse = (diff: string): StructuredPatch[] => {
  try {
    return parsePatch(diff);
  } catch {
    try {
      return parsePatch(recounted(diff));
    } catch (error) {
      throw new ApplyFailed(`it is no unified diff: ${error instanceof Error ? error.message.slice(0, 300) : 'it cannot be read'}`);
    }
  }
};

const isNothing = (name: string): boolean => name === '/dev/null';
/** Git writes `a/` and `b/` before paths; a diff whose names have no such prefix is taken as it stands. */
const stripped = (name: string, prefix: 'a/' | 'b/'): string => (name.startsWith(prefix) ? name.slice(2) : name);

const modeOf = (mode: string | undefined): 'file' | 'exec' | null => {
  switch (mode) {
    case undefined:
      return null;
    case '100644':
      return 'file';
    case '100755':
      return 'exec';
    default:
      throw new ApplyFailed(`mode ${named(mode)} is not that of a file: links and modules cannot be made`);
  }
};

// A name without a prefix may begin with `a/` itself: the file that is there decides.
const sourcePath = (tree: TreeEdit, name: string): string => {
  const path = stripped(name, 'a/');
  return !tree.has(path) && tree.has(name) ? name : path;
};

const applyFile = (patch: StructuredPatch, tree: TreeEdit): void => {
  const { oldFileName, newFileName, hunks, isGit = false, isRename = false, isCopy = false, isCreate = false, isDelete = false } = patch;
  if (patch.isBinary === true)
    throw new ApplyFailed(`${named(newFileName ?? oldFileName ?? '')} is a binary change, which a diff of text does not carry`);
  if (oldFileName === undefined || newFileName === undefined) {
    if (hunks.length > 0) throw new ApplyFailed('a hunk stands before the names of its file (--- and +++)');
    return;
  }
  if (hunks.length === 0 && !isGit) throw new ApplyFailed(`no hunk follows the names of ${named(newFileName)}`);
  const mode = modeOf(patch.newMode);
  const created = isCreate || isNothing(oldFileName);
  const from = sourcePath(tree, oldFileName);
  const deleted = isDelete || isNothing(newFileName);
  const to = from === oldFileName && !created ? newFileName : stripped(newFileName, 'b/');
  if (created && tree.has(to)) throw new ApplyFailed(`${named(to)} is to be created, but it is there`);
  const before = created ? '' : hunks.length === 0 ? null : tree.text(from);
  let after: string | false | null = before;
  if (before !== null && hunks.length > 0) {
    const apply = (autoConvertLineEndings: boolean) => applyPatch(before, patch, { autoConvertLineEndings, fuzzFactor: 0 });
    after = apply(false);
    if (after === false) after = apply(true);
    if (after === false) {
      const at = hunks.map(({ oldStart }) => oldStart).join(', ');
      throw new ApplyFailed(
        `the diff of ${named(created ? to : from)} does not fit: lines to remove or keep are not there as written (hunks at line ${at})`,
      );
    }
  }
  if (deleted) {
    if (after !== null && after !== '') throw new ApplyFailed(`${named(from)} is to be deleted, but the diff leaves lines in it`);
    tree.remove(from);
    return;
  }
  const bytes = after ?? tree.bytes(from);
  const kept = created ? null : tree.mode(from);
  if (isRename || (!isCopy && !created && to !== from)) {
    if (to !== from && tree.has(to)) throw new ApplyFailed(`${named(from)} is to be renamed, but ${named(to)} is there`);
    tree.remove(from);
  }
  tree.put(to, bytes, mode ?? kept);
};

/** Applies a text that is a diff and nothing else. Throws an ApplyFailed that names file and hunk. */
export function applyDiff(diff: string, tree: TreeEdit): void {
  // The parser passes over it, and what is left would be an empty file.
  if (/^GIT binary patch\r?$/m.test(diff)) throw new ApplyFailed('it has a binary patch, which a diff of text does not carry');
  for (const patch of parse(diff)) applyFile(patch, tree);
}

/** Applies the diff in a model's answer. Throws an ApplyFailed that names file and hunk. */
export function applyUnifiedDiff(text: string, tree: TreeEdit): void {
  const diff = findDiff(text);
  if (diff !== '') applyDiff(diff, tree);
}
