// The one place that makes SHA-256 in shared code: bytes, text and JSON each by one function.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson, type Json } from './canonical-json.ts';

/** Lowercase hex SHA-256 of `bytes` (64 characters). */
export function sha256Hex(bytes: Uint8Array): string {
  return bytesToHex(sha256(bytes));
}

/** SHA-256 of the UTF-8 bytes of `text`. Throws on a lone surrogate: an encoder would replace it, and two texts would share a hash. */
export function sha256Text(text: string): string {
  if (!text.isWellFormed())
    throw new Error('sha256Text: the text has a lone surrogate and therefore no UTF-8 form; hash its bytes instead');
  return sha256Hex(utf8ToBytes(text));
}

/** SHA-256 of the RFC 8785 text of `value`: every hash of JSON in Pawl is made here. Throws what `canonicalJson` throws. */
export function hashJson(value: Json): string {
  return sha256Text(canonicalJson(value));
}
