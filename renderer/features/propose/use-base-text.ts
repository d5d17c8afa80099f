// The text of a file of the base, as far as an editor can show it.
import { useEffect, useState } from 'react';
import type { Manifest } from '#shared/domain/tree.ts';
import { type BlobCache, decodeText, largestShown } from '#renderer/features/diff/index.ts';

export type BaseText =
  | { readonly kind: 'loading' }
  | { readonly kind: 'text'; readonly text: string }
  /** Bytes that are no text, or more of it than an editor takes in. */
  | { readonly kind: 'binary' | 'too-large' }
  | { readonly kind: 'failed'; readonly error: unknown };

const loading: BaseText = { kind: 'loading' };
const empty: BaseText = { kind: 'text', text: '' };

/** A stored file by its hash and size; null = one that the base does not have. `attempt`: another number asks again. */
export function useBaseText(file: Pick<Manifest[number], 'sha' | 'size'> | null, blobs: BlobCache, attempt: number): BaseText {
  const [loaded, setLoaded] = useState<{ readonly key: string; readonly text: BaseText } | null>(null);
  const sha = file?.sha ?? null;
  const size = file?.size ?? 0;
  const key = `${sha ?? ''} ${attempt}`;
  useEffect(() => {
    if (sha === null || size > largestShown) return undefined;
    const leaving = new AbortController();
    blobs.read(sha, leaving.signal).then(
      (bytes) => {
        const text = decodeText(bytes);
        setLoaded({ key, text: text === null ? { kind: 'binary' } : { kind: 'text', text } });
      },
      (error: unknown) => {
        if (!leaving.signal.aborted) setLoaded({ key, text: { kind: 'failed', error } });
      },
    );
    return () => leaving.abort();
  }, [blobs, sha, size, key]);
  if (sha === null) return empty;
  if (size > largestShown) return { kind: 'too-large' };
  return loaded?.key === key ? loaded.text : loading;
}
