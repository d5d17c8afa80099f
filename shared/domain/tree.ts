// The manifest of an artifact: one entry per regular file, sorted by the UTF-8 bytes of its path.
import { z } from 'zod';
import { Count, Sha } from './ids.ts';

/** `path` is relative, `/`-separated and NFC; `size` is in bytes; `sha` is of the plain bytes. */
export const ManifestEntry = z.strictObject({ mode: z.enum(['file', 'exec']), path: z.string().min(1), sha: Sha, size: Count });
export type ManifestEntry = z.infer<typeof ManifestEntry>;

export const Manifest = z.array(ManifestEntry);
export type Manifest = z.infer<typeof Manifest>;

/** One file of an artifact in memory. */
export type TreeFile = { readonly path: string; readonly mode: 'file' | 'exec'; readonly bytes: Uint8Array };
