// What changed between two trees, for people, summaries and exploration memory. It decides nothing.
import { hash } from 'node:crypto';
import type { Sha } from '#shared/domain/ids.ts';
import type { FileChange } from '#shared/domain/memory.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { compareUtf8 } from '#shared/lib/text.ts';

/** Equal lines of two files: `before` from `a` on and `after` from `b` on, `length` of them. */
type Run = { readonly a: number; readonly b: number; readonly length: number };

/** Edits that Myers' algorithm may follow; past it, what lies between equal beginnings and ends counts as replaced whole. */
export const maxEdits = 1_000;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Lines with their line ends (a last line without one differs from one with it), or null for what is no text. */
const linesOf = (bytes: Uint8Array): readonly string[] | null => {
  if (bytes.includes(0)) return null;
  try {
    const text = decoder.decode(bytes);
    return text === '' ? [] : text.split(/(?<=\n)/);
  } catch {
    return null;
  }
};

/**
 * Equal runs of a[from, aEnd) and b[from, bEnd) on a shortest edit script (Myers 1986), in order; null when it needs more than
 * `maxEdits` insertions and deletions.
 */
const shortestEdit = (a: readonly string[], b: readonly string[], from: number, aEnd: number, bEnd: number): readonly Run[] | null => {
  const n = aEnd - from;
  const m = bEnd - from;
  const limit = Math.min(n + m, maxEdits);
  const reach = new Int32Array(2 * limit + 3);
  const center = limit + 1;
  const at = (k: number): number => reach[center + k] ?? 0;
  const trace: Int32Array[] = [];
  for (let d = 0; d <= limit; d++) {
    trace.push(reach.slice(center - d - 1, center + d + 2));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
      while (x < n && x - k < m && a[from + x] === b[from + x - k]) x++;
      reach[center + k] = x;
      if (x >= n && x - k >= m) return walkBack(trace, n, m, from);
    }
  }
  return null;
};

/** From the end of the edit graph back to its beginning; trace[d] holds the reaches of diagonals -d-1 to d+1 before round d. */
const walkBack = (trace: readonly Int32Array[], n: number, m: number, from: number): readonly Run[] => {
  const runs: Run[] = [];
  let x = n;
  let y = m;
  for (let d = trace.length - 1; d >= 0; d--) {
    const reach = trace[d];
    const at = (k: number): number => reach?.[k + d + 1] ?? 0;
    const k = x - y;
    const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const fromX = d === 0 ? 0 : at(down ? k + 1 : k - 1);
    const startX = d === 0 ? 0 : down ? fromX : fromX + 1;
    if (x > startX) runs.push({ a: from + startX, b: from + startX - k, length: x - startX });
    x = fromX;
    y = d === 0 ? 0 : fromX - (down ? k + 1 : k - 1);
  }
  return runs.reverse();
};

/** Replaced stretches: lines [a, aEnd) of `before` gave way to lines [b, bEnd) of `after`. */
type Hunk = { readonly a: number; readonly aEnd: number; readonly b: number; readonly bEnd: number };

const hunksOf = (before: readonly string[], after: readonly string[]): readonly Hunk[] => {
  let from = 0;
  while (from < before.length && from < after.length && before[from] === after[from]) from++;
  let aEnd = before.length;
  let bEnd = after.length;
  while (aEnd > from && bEnd > from && before[aEnd - 1] === after[bEnd - 1]) {
    aEnd--;
    bEnd--;
  }
  const runs = shortestEdit(before, after, from, aEnd, bEnd) ?? [];
  const hunks: Hunk[] = [];
  let a = from;
  let b = from;
  for (const run of [...runs, { a: aEnd, b: bEnd, length: 0 }]) {
    if (run.a > a || run.b > b) hunks.push({ a, aEnd: run.a, b, bEnd: run.b });
    a = run.a + run.length;
    b = run.b + run.length;
  }
  return hunks;
};

const sha = (data: string | Uint8Array): Sha => hash('sha256', data, 'hex');

/** A hunk by what it does and not by where: its path and its removed and added lines, so the same edit elsewhere in the file is the same. */
const hunkSha = (path: string, removed: readonly string[], added: readonly string[]): Sha => sha(JSON.stringify([path, removed, added]));

const addedFile = (file: TreeFile, status: 'added' | 'removed'): { change: FileChange; hunk: Sha } => {
  const lines = linesOf(file.bytes);
  const count = lines?.length ?? file.bytes.length;
  const own = sha(file.bytes);
  const added = status === 'added';
  return {
    change: {
      path: file.path,
      status,
      binary: lines === null,
      added: added ? count : 0,
      removed: added ? 0 : count,
      before: added ? null : own,
      after: added ? own : null,
    },
    hunk:
      lines === null
        ? hunkSha(file.path, added ? [] : [own], added ? [own] : [])
        : hunkSha(file.path, added ? [] : lines, added ? lines : []),
  };
};

/**
 * Differences of two trees: one change per file that differs, in tree order, and the SHA-256 of every hunk (path, removed and added lines;
 * a binary file is one hunk of its two hashes, a change of mode one of its modes). `added` and `removed` count lines, in a binary file
 * bytes. Exact up to `maxEdits` inserted and removed lines a file; past that what lies between the common beginning and end counts as
 * replaced. A rename is a removal and an addition.
 */
export function fileChanges(
  before: readonly TreeFile[],
  after: readonly TreeFile[],
): { readonly changes: FileChange[]; readonly hunks: Sha[] } {
  const old = new Map(before.map((file) => [file.path, file]));
  const now = new Map(after.map((file) => [file.path, file]));
  const changes: FileChange[] = [];
  const hunks: Sha[] = [];
  for (const path of [...new Set([...old.keys(), ...now.keys()])].sort(compareUtf8)) {
    const a = old.get(path);
    const b = now.get(path);
    if (a === undefined || b === undefined) {
      const file = a ?? b;
      if (file === undefined) continue;
      const { change, hunk } = addedFile(file, a === undefined ? 'added' : 'removed');
      changes.push(change);
      hunks.push(hunk);
      continue;
    }
    const shaA = sha(a.bytes);
    const shaB = sha(b.bytes);
    if (shaA === shaB) {
      if (a.mode === b.mode) continue;
      changes.push({ path, status: 'mode', binary: false, added: 0, removed: 0, before: shaA, after: shaB });
      hunks.push(hunkSha(path, [a.mode], [b.mode]));
      continue;
    }
    const linesA = linesOf(a.bytes);
    const linesB = linesOf(b.bytes);
    if (linesA === null || linesB === null) {
      changes.push({ path, status: 'modified', binary: true, added: b.bytes.length, removed: a.bytes.length, before: shaA, after: shaB });
      hunks.push(hunkSha(path, [shaA], [shaB]));
      continue;
    }
    let added = 0;
    let removed = 0;
    for (const hunk of hunksOf(linesA, linesB)) {
      removed += hunk.aEnd - hunk.a;
      added += hunk.bEnd - hunk.b;
      hunks.push(hunkSha(path, linesA.slice(hunk.a, hunk.aEnd), linesB.slice(hunk.b, hunk.bEnd)));
    }
    changes.push({ path, status: 'modified', binary: false, added, removed, before: shaA, after: shaB });
  }
  return { changes, hunks };
}

/** Bytes that two files have in common at their beginning and at their end. */
const commonBytes = (a: Uint8Array, b: Uint8Array): number => {
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return head + tail;
};

/** Words, and every other character alone. */
const piecesOf = (line: string): readonly string[] => line.match(/[\p{L}\p{N}_]+|[^\p{L}\p{N}_]/gu) ?? [];

const removedIn = (before: readonly string[], after: readonly string[]): number =>
  hunksOf(before, after).reduce((sum, { a, aEnd }) => sum + aEnd - a, 0);

/**
 * Paths of files that both trees have and of which nothing is left: not one line. Of a file of one line, less than half of its words and
 * signs; of one that is no text, less than half of its bytes at the beginning and the end.
 */
export function rewrittenFiles(before: readonly TreeFile[], after: readonly TreeFile[]): string[] {
  const now = new Map(after.map((file) => [file.path, file.bytes]));
  return before.flatMap(({ path, bytes }) => {
    const other = now.get(path);
    if (other === undefined || bytes.length === 0) return [];
    const [linesA, linesB] = [linesOf(bytes), linesOf(other)];
    const rewritten = (): boolean => {
      if (linesA === null || linesB === null) return 2 * commonBytes(bytes, other) < bytes.length;
      const [line] = linesA;
      if (linesA.length > 1 || line === undefined) return removedIn(linesA, linesB) === linesA.length;
      const pieces = piecesOf(line);
      return 2 * (pieces.length - removedIn(pieces, piecesOf(linesB.join('')))) < pieces.length;
    };
    return rewritten() ? [path] : [];
  });
}
