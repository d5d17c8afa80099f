// Names of trees and the paths that a tree may hold. A candidate's paths are hostile: whatever a file system could read differently
// on another machine (case, normalisation, reserved names, separators) is refused before anything is written. Semantics, sections 1 and 11.
import { hashJson } from '../lib/hash.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { compareUtf8, utf8Length } from '../lib/text.ts';
import type { Sha } from './ids.ts';
import type { Manifest } from './tree.ts';

const maxPathBytes = 1_024;
const maxSegmentBytes = 255;

/** Entries in the order of a tree: by the UTF-8 bytes of their paths. Throws an Error when a path occurs twice. */
export function sortManifest(manifest: Manifest): Manifest {
  const sorted = [...manifest].sort((a, b) => compareUtf8(a.path, b.path));
  for (const [i, entry] of sorted.entries()) {
    if (i > 0 && sorted[i - 1]?.path === entry.path) throw new Error(`the tree has two entries for ${JSON.stringify(entry.path)}`);
  }
  return sorted;
}

/**
 * SHA-256 of the RFC 8785 JSON of the sorted manifest, an array of {mode, path, sha, size}. Independent of the order of `manifest`.
 * Throws an Error when a path occurs twice; does not judge paths (`checkManifest` does).
 */
export function treeId(manifest: Manifest): Sha {
  return hashJson(sortManifest(manifest).map(({ mode, path, sha, size }) => ({ mode, path, sha, size })));
}

// Names that Windows gives to devices, with or without an extension; COM and LPT also take superscript digits.
const reservedName = /^(?:con|prn|aux|nul|clock\$|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])$/i;
const control = /\p{Cc}/u;

const segmentProblem = (segment: string): string | null => {
  if (segment === '') return 'has an empty segment';
  if (segment === '.' || segment === '..') return `has the segment "${segment}"`;
  if (segment.endsWith('.') || segment.endsWith(' ')) return 'has a segment that ends in a dot or a space';
  const stem = (segment.split('.', 1)[0] ?? '').trimEnd();
  if (reservedName.test(stem)) return `has the reserved name ${JSON.stringify(stem)}`;
  if (utf8Length(segment) > maxSegmentBytes) return `has a segment longer than ${maxSegmentBytes} bytes`;
  return null;
};

const pathProblem = (path: string): string | null => {
  if (path === '') return 'is empty';
  if (utf8Length(path) > maxPathBytes) return `is longer than ${maxPathBytes} bytes`;
  if (!path.isWellFormed()) return 'has a lone surrogate';
  if (control.test(path)) return 'has a control character';
  if (path.includes('\\')) return 'has a backslash';
  if (path.includes(':')) return 'has a colon (a drive letter or a stream on Windows)';
  if (path.startsWith('/')) return 'is absolute';
  if (path.normalize('NFC') !== path) return 'is not in Unicode normal form NFC';
  for (const segment of path.split('/')) {
    const problem = segmentProblem(segment);
    if (problem !== null) return problem;
  }
  return null;
};

const quote = (path: string): string => JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);

/**
 * Accepts a path that is relative, `/`-separated, NFC and means the same file on every system; returns it unchanged, or says what is wrong
 * with it. Lexical only: links are the business of whoever opens the file.
 */
export function checkPath(path: string): Result<string, string> {
  const problem = pathProblem(path);
  return problem === null ? ok(path) : err(`the path ${quote(path)} ${problem}`);
}

export interface ManifestRules {
  readonly maxFiles?: number;
  /** Sum of the sizes of all files. */
  readonly maxBytes?: number;
}

/** Why a manifest is refused; `code` is the matching code of an `invalid` verdict, `path` the entry at fault where there is one. */
export interface ManifestProblem {
  readonly code: 'bad_path' | 'too_large';
  readonly path: string | null;
  readonly message: string;
}

// Upper case first brings together what lower case alone keeps apart (ß and ss, final and medial sigma); decomposing first makes the
// result independent of how accents were typed. Stricter than any one file system, on purpose.
const fold = (path: string): string => path.normalize('NFD').toUpperCase().toLowerCase().normalize('NFC');

/**
 * Checks every path of a manifest (`checkPath`) and all of them together: no two that a case-insensitive or normalising file system
 * would merge (folders included), no file where another path needs a folder, at most `maxFiles` entries and `maxBytes` in total.
 */
export function checkManifest(manifest: Manifest, rules: ManifestRules = {}): Result<Manifest, ManifestProblem> {
  const { maxFiles, maxBytes } = rules;
  if (maxFiles !== undefined && manifest.length > maxFiles) {
    return err({ code: 'too_large', path: null, message: `the tree has ${manifest.length} files, at most ${maxFiles} are allowed` });
  }
  const names = new Map<string, { readonly path: string; readonly folder: boolean }>();
  // Folders that passed already, by their exact spelling: most paths of a tree share theirs.
  const folders = new Set<string>();
  let bytes = 0;
  for (const entry of manifest) {
    const problem = pathProblem(entry.path);
    if (problem !== null) return err({ code: 'bad_path', path: entry.path, message: `the path ${quote(entry.path)} ${problem}` });
    bytes += entry.size;
    if (maxBytes !== undefined && bytes > maxBytes) {
      return err({
        code: 'too_large',
        path: entry.path,
        message: `the tree has more than the ${maxBytes} bytes that are allowed, from ${quote(entry.path)} on`,
      });
    }
    for (let end = entry.path.indexOf('/'); ; end = entry.path.indexOf('/', end + 1)) {
      const folder = end >= 0;
      const path = folder ? entry.path.slice(0, end) : entry.path;
      if (folder && folders.has(path)) continue;
      const folded = fold(path);
      const known = names.get(folded);
      if (known === undefined) names.set(folded, { path, folder });
      else if (known.path !== path) {
        return err({
          code: 'bad_path',
          path: entry.path,
          message: `the paths ${quote(known.path)} and ${quote(path)} are one on some file systems`,
        });
      } else {
        // A folder seen before was skipped above, so at most one of the two is a folder.
        const what = known.folder || folder ? 'is both a file and a folder' : 'occurs twice';
        return err({ code: 'bad_path', path: entry.path, message: `the path ${quote(path)} ${what}` });
      }
      if (!folder) break;
      folders.add(path);
    }
  }
  return ok(manifest);
}
