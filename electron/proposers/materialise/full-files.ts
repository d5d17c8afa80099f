// Whole files: `<file path="src/a.js">`, the lines of the file, `</file>`; `<delete path="src/b.js"/>`. A file ends with a line end
// unless the tag says `end="none"`; `mode="exec"` or `mode="file"` changes the mode, which is otherwise kept.
import { isClosing, readTag, type Tag } from './tags.ts';
import { ApplyFailed, named, type TreeEdit, withLineEnds } from './tree-edit.ts';

const pathOf = ({ name, attributes }: Tag): string => {
  const path = attributes.get('path');
  if (path === undefined || path === '') throw new ApplyFailed(`<${name}> has no path`);
  return path;
};

const modeOf = (tag: Tag): 'file' | 'exec' | null => {
  const mode = tag.attributes.get('mode');
  if (mode === undefined || mode === 'file' || mode === 'exec') return mode ?? null;
  throw new ApplyFailed(`the mode of ${named(pathOf(tag))} is ${named(mode)}; it is "file" or "exec"`);
};

/** Applies `<delete>`; false for any other tag. */
export function applyDelete(tree: TreeEdit, tag: Tag | null): boolean {
  if (tag?.name !== 'delete') return false;
  tree.remove(pathOf(tag));
  return true;
}

/** Throws an ApplyFailed for a file that is named twice, is not closed, or is deleted and not there. */
export function applyFullFiles(text: string, tree: TreeEdit): void {
  const lines = text.split('\n');
  const seen = new Set<string>();
  for (let i = 0; i < lines.length; i++) {
    const tag = readTag(lines[i] ?? '');
    if (applyDelete(tree, tag)) continue;
    if (tag?.name !== 'file') continue;
    const path = pathOf(tag);
    if (seen.has(path)) throw new ApplyFailed(`${named(path)} is written twice`);
    seen.add(path);
    if (tag.closed) {
      tree.put(path, '', modeOf(tag));
      continue;
    }
    const first = i + 1;
    let end = first;
    while (end < lines.length && !isClosing(lines[end] ?? '', 'file')) end++;
    if (end === lines.length) throw new ApplyFailed(`${named(path)} is not closed: the answer ends before </file>`);
    const body = lines.slice(first, end).join('\n');
    const ended = end === first || tag.attributes.get('end') === 'none' ? body : `${body}\n`;
    tree.put(path, withLineEnds(ended, tree.crlf(path)), modeOf(tag));
    i = end;
  }
}
