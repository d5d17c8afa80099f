// Contents of files by their hash, from the page's own origin. They never change, so the last few are kept.
import { busy } from '#renderer/client/activity.ts';
import type { Sha } from '#shared/domain/ids.ts';

/** `missing`: the engine has no such content. `failed`: it did not answer, or not with the content. */
export class BlobError extends Error {
  override readonly name = 'BlobError';
  readonly kind: 'missing' | 'failed';
  readonly sha: Sha;
  constructor(kind: 'missing' | 'failed', sha: Sha, message: string) {
    super(message);
    this.kind = kind;
    this.sha = sha;
  }
}

const keptBlobs = 24;
const keptBytes = 32 * 1024 * 1024;

/** Fetches blobs and keeps the last few, by number and by bytes. `get` is the page's fetch; tests hand in their own. */
export function createBlobCache(get: (url: string, init: RequestInit) => Promise<Response> = (url, init) => fetch(url, init)) {
  /** Oldest first. */
  const kept = new Map<Sha, Uint8Array>();
  let bytes = 0;

  const keep = (sha: Sha, content: Uint8Array) => {
    if (content.length > keptBytes / 2 || kept.has(sha)) return;
    kept.set(sha, content);
    bytes += content.length;
    for (const [oldest, old] of kept) {
      if (kept.size <= keptBlobs && bytes <= keptBytes) break;
      kept.delete(oldest);
      bytes -= old.length;
    }
  };

  const load = async (sha: Sha, signal: AbortSignal): Promise<Uint8Array> => {
    const response = await get(`/blob/${sha}`, { signal, credentials: 'same-origin' });
    if (response.status === 404) throw new BlobError('missing', sha, `no content with the hash ${sha}`);
    if (!response.ok)
      throw new BlobError('failed', sha, `asking for ${sha} was answered with ${response.status} ${response.statusText}`.trim());
    return new Uint8Array(await response.arrayBuffer());
  };

  return {
    /** The bytes with this hash. Rejects with BlobError, or with AbortError when `signal` says so. */
    async read(sha: Sha, signal: AbortSignal): Promise<Uint8Array> {
      const known = kept.get(sha);
      if (known) {
        kept.delete(sha);
        kept.set(sha, known);
        return known;
      }
      const content = await busy(load(sha, signal));
      keep(sha, content);
      return content;
    },
    /** Whether the content is here already. */
    has: (sha: Sha): boolean => kept.has(sha),
  };
}

export type BlobCache = ReturnType<typeof createBlobCache>;
