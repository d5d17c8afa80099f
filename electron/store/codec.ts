// How bytes are kept: as they are, or compressed. Every read checks length and SHA-256 of what came out.
import { hash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Sha } from '#shared/domain/ids.ts';
import { assertNever } from '#shared/lib/assert.ts';
import { StoreError } from './errors.ts';
import { messageOf } from '#shared/lib/message-of.ts';

export type Codec = 'raw' | 'zstd' | 'zstd-dict';
export type Encoded = { readonly codec: 'raw' | 'zstd'; readonly bytes: Uint8Array };

/** Smaller than this, compressing takes longer than writing what it saves, and it stands between a decision and its commit; see README. */
export const rawBelow = 32_768;

/** Up to this size (plain) compression stands between a decision and its commit, and takes the fastest level; see README. */
const fastUpTo = 256 * 1_024;

/** Compresses where that saves at least a tenth. */
export function encode(bytes: Uint8Array): Encoded {
  if (bytes.length < rawBelow) return { codec: 'raw', bytes };
  const fast = bytes.length <= fastUpTo;
  const params: Record<number, number> = { [constants.ZSTD_c_compressionLevel]: fast ? 1 : 3 };
  // Small tables: setting up the default ones takes longer than compressing 20 KB.
  if (fast) {
    params[constants.ZSTD_c_windowLog] = 18;
    params[constants.ZSTD_c_hashLog] = 13;
  }
  const packed = zstdCompressSync(bytes, { params, pledgedSrcSize: bytes.length, chunkSize: Math.min(bytes.length, 1_048_576) + 1_024 });
  return packed.length < 0.9 * bytes.length ? { codec: 'zstd', bytes: packed } : { codec: 'raw', bytes };
}

/** What was stored, and what it was stored as. `dictionary` gives the plain bytes behind `dict`. */
export type Stored = {
  readonly sha: Sha;
  readonly size: number;
  readonly codec: Codec;
  readonly bytes: Uint8Array;
  readonly dictionary?: Uint8Array;
};

const plain = ({ codec, bytes, size, dictionary }: Stored): Uint8Array => {
  switch (codec) {
    case 'raw':
      return bytes;
    case 'zstd':
      return zstdDecompressSync(bytes, { maxOutputLength: Math.max(1, size) });
    case 'zstd-dict':
      if (dictionary === undefined) throw new Error('its dictionary is missing');
      return zstdDecompressSync(bytes, { maxOutputLength: Math.max(1, size), dictionary });
    default:
      return assertNever(codec, 'codec');
  }
};

/**
 * Restores plain bytes. Throws a StoreError of kind `corrupt` that names the object when they are not what its name says: Node's decoder
 * gives the first frame of several and is silent about the rest, and a wrong dictionary restores wrong bytes without an error.
 */
export function decode(stored: Stored, what: string): Uint8Array {
  const { sha, size } = stored;
  let bytes: Uint8Array;
  try {
    bytes = plain(stored);
  } catch (error) {
    throw new StoreError('corrupt', `${what} ${sha} is damaged: ${messageOf(error)}`, {
      cause: error,
    });
  }
  if (bytes.length !== size) throw new StoreError('corrupt', `${what} ${sha} is damaged: ${bytes.length} bytes instead of ${size}`);
  const found = hash('sha256', bytes);
  if (found !== sha) throw new StoreError('corrupt', `${what} ${sha} is damaged: its bytes have the SHA-256 ${found}`);
  return bytes;
}
