// Blocks of lines to find and lines to put in their place:
//
//   src/a.js
//   <<<<<<< SEARCH
//   lines as they are
//   =======
//   lines as they shall be
//   >>>>>>> REPLACE
//
// An empty SEARCH makes a new file (or fills an empty one). `<delete path="…"/>` deletes. Blocks apply in order, each to what the
// earlier ones left.
import { applyDelete } from './full-files.ts';
import { readTag } from './tags.ts';
import { ApplyFailed, named, type TreeEdit, withLineEnds } from './tree-edit.ts';

const opening = /^<{5,9} SEARCH[ \t]*\r?$/;
const middle = /^={5,9}[ \t]*\r?$/;
const closing = /^>{5,9} REPLACE[ \t]*\r?$/;
const fenceLine = /^[ \t]*(?:`{3,}|~{3,})/;

// The path is the last line with text before the block, without the marks that models put around it.
const pathAbove = (lines: readonly string[], at: number): string | null => {
  for (let i = at - 1; i >= 0 && i >= at - 3; i--) {
    const line = (lines[i] ?? '').trim();
    if (line === '' || fenceLine.test(line)) continue;
    let start = 0;
    let end = line.length;
    while (start < end && '#*` '.includes(line[start] ?? '')) start++;
    while (end > start && ':*` '.includes(line[end - 1] ?? '')) end--;
    const path = line.slice(start, end);
    return path === '' || closing.test(line) ? null : path;
  }
  return null;
};

const countOf = (text: string, part: string, wholeLines: boolean): { readonly count: number; readonly at: number } => {
  let count = 0;
  let first = -1;
  for (let at = text.indexOf(part); at >= 0 && count < 2; at = text.indexOf(part, at + 1)) {
    // Whole lines only: what begins in the middle of a line is another line.
    if (wholeLines && at > 0 && text[at - 1] !== '\n') continue;
    if (count === 0) first = at;
    count++;
  }
  return { count, at: first };
};

/**
 * Puts `replace` where `search` stands, which with `wholeLines` begins and ends where lines do. Throws an ApplyFailed where it is not
 * found, or more than once.
 */
export function replaceOnce(tree: TreeEdit, path: string, search: string, replace: string, { wholeLines }: { wholeLines: boolean }): void {
  if (search === '') {
    if (tree.has(path) && tree.bytes(path).length > 0)
      throw new ApplyFailed(`${named(path)} is there and not empty: an empty SEARCH makes a new file`);
    tree.put(path, replace, null);
    return;
  }
  const text = tree.text(path);
  const crlf = tree.crlf(path);
  const old = withLineEnds(search, crlf);
  const fresh = withLineEnds(replace, crlf);
  const found = countOf(text, old, wholeLines);
  if (found.count === 1) {
    tree.put(path, text.slice(0, found.at) + fresh + text.slice(found.at + old.length), null);
    return;
  }
  const shown = named(search.split('\n')[0] ?? '');
  if (found.count > 1)
    throw new ApplyFailed(`${named(path)}: the lines from ${shown} on stand there more than once; give more lines around them`);
  // The last line of a file may have no line end; a block always ends with one.
  const last = old.replace(/\r?\n$/, '');
  const at = text.length - last.length;
  if (wholeLines && last !== '' && at >= 0 && text.endsWith(last) && (at === 0 || text[at - 1] === '\n')) {
    tree.put(path, text.slice(0, at) + fresh.replace(/\r?\n$/, ''), null);
    return;
  }
  throw new ApplyFailed(`${named(path)}: the lines from ${shown} on are not there as written`);
}

const joined = (lines: readonly string[]): string => (lines.length === 0 ? '' : `${lines.join('\n')}\n`);

/** Throws an ApplyFailed that names the file and the first line of the block. */
export function applySearchReplace(text: string, tree: TreeEdit): void {
  const lines = text.split('\n');
  let path: string | null = null;
  for (let i = 0; i < lines.length; i++) {
    if (applyDelete(tree, readTag(lines[i] ?? ''))) continue;
    if (!opening.test(lines[i] ?? '')) continue;
    // A second block under the same path may leave the path out.
    path = pathAbove(lines, i) ?? path;
    if (path === null) throw new ApplyFailed('a SEARCH block has no path above it');
    let split = i + 1;
    while (split < lines.length && !middle.test(lines[split] ?? '')) split++;
    let end = split + 1;
    while (end < lines.length && !closing.test(lines[end] ?? '')) end++;
    if (end >= lines.length) throw new ApplyFailed(`a block for ${named(path)} is not closed: the answer ends before >>>>>>> REPLACE`);
    replaceOnce(tree, path, joined(lines.slice(i + 1, split)), joined(lines.slice(split + 1, end)), { wholeLines: true });
    i = end;
  }
}
