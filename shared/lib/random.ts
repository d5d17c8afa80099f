// Random numbers that are the same on every machine, in every process and for every order of calls elsewhere.
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson } from './canonical-json.ts';

export interface Random {
  /** Uniform in [0, 1), 53 bits. */
  next(): number;
  /** Uniform integer in [0, n), without modulo bias; `n` is an integer from 1 to 2^53 - 1. */
  int(n: number): number;
  /** A uniformly chosen element of a list that is not empty. */
  pick<T extends string | number | boolean | object | null>(list: readonly T[]): T;
}

const rotl = (x: number, k: number): number => (x << k) | (x >>> (32 - k));

/**
 * A deterministic generator: xoshiro128** (Blackman and Vigna, 2018) whose state is the first 16 bytes, little-endian, of the SHA-256 of
 * the RFC 8785 text of `seedParts`. Equal parts give equal sequences; ['a', 1] and ['a1'] are different parts. Not for secrets.
 */
export function createRandom(seedParts: readonly (string | number)[]): Random {
  const digest = sha256(utf8ToBytes(canonicalJson(seedParts)));
  const view = new DataView(digest.buffer, digest.byteOffset, digest.byteLength);
  let a = view.getInt32(0, true);
  let b = view.getInt32(4, true);
  let c = view.getInt32(8, true);
  let d = view.getInt32(12, true);

  const uint32 = (): number => {
    const result = Math.imul(rotl(Math.imul(b, 5), 7), 9) >>> 0;
    const t = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= t;
    d = rotl(d, 11);
    return result;
  };
  const uint53 = (): number => (uint32() >>> 5) * 2 ** 26 + (uint32() >>> 6);
  const int = (n: number): number => {
    if (!Number.isSafeInteger(n) || n < 1) throw new RangeError(`random int: the bound is ${n}, must be an integer from 1 to 2^53 - 1`);
    const limit = 2 ** 53 - (2 ** 53 % n);
    let draw = uint53();
    while (draw >= limit) draw = uint53();
    return draw % n;
  };
  return {
    next: () => uint53() / 2 ** 53,
    int,
    pick: <T extends string | number | boolean | object | null>(list: readonly T[]): T => {
      const chosen = list.length === 0 ? undefined : list[int(list.length)];
      if (chosen === undefined) throw new RangeError('random pick: the list is empty');
      return chosen;
    },
  };
}
