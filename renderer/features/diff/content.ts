// Bytes of the two sides of a file, and what can be shown of them.
import type { FileChange } from '#shared/domain/memory.ts';
import type { CodePair } from '#renderer/widgets/CodeDiff.tsx';
import type { BlobCache } from './blobs.ts';

/** Larger files are named, not shown: Monaco would take seconds. */
export const largestShown = 8 * 1024 * 1024;

/** What a changed file is shown as. Sizes are bytes; null = that side has no file. */
export type Content =
  | {
      readonly kind: 'text';
      readonly pair: CodePair;
      /** Only line endings or the byte order mark differ, which an editor does not show. */ readonly invisible: boolean;
    }
  | { readonly kind: 'binary' | 'too-large' | 'mode'; readonly before: number | null; readonly after: number | null };

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of well-formed UTF-8 without NUL; null for everything else. */
export function decodeText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

const withoutEndings = (text: string): string => text.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n');

/** Name of what is compared: the same name is the same content. */
export const contentKey = (change: FileChange): string => `${change.before ?? '-'} ${change.after ?? '-'} ${change.path}`;

/** Loads both sides of a change. Rejects with BlobError or AbortError. */
export async function loadContent(change: FileChange, blobs: BlobCache, signal: AbortSignal): Promise<Content> {
  const side = async (sha: string | null) => (sha === null ? null : blobs.read(sha, signal));
  const [before, after] = await Promise.all([side(change.before), side(change.after)]);
  const sizes = { before: before?.length ?? null, after: after?.length ?? null };
  if (change.before !== null && change.before === change.after) return { kind: 'mode', ...sizes };
  if (Math.max(sizes.before ?? 0, sizes.after ?? 0) > largestShown) return { kind: 'too-large', ...sizes };
  const left = before ? decodeText(before) : '';
  const right = after ? decodeText(after) : '';
  if (left === null || right === null) return { kind: 'binary', ...sizes };
  return {
    kind: 'text',
    pair: { key: contentKey(change), path: change.path, before: left, after: right },
    invisible: left !== right && withoutEndings(left) === withoutEndings(right),
  };
}
