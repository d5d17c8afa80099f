import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { constants } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '#shared/lib/hash.ts';
import { treeId } from '#shared/domain/tree-id.ts';
import { blobFile, blobFolders, collectOrphans, createBlobWriter } from '#electron/store/blob-files.ts';
import { encode, rawBelow } from '#electron/store/codec.ts';
import { sql, type WritableDb } from '#electron/store/db.ts';
import { StoreError } from '#electron/store/errors.ts';
import { getBlob, getManifest } from '#electron/store/read/blobs.ts';
import { blobExists, insertContent, maxInDatabase, prepareContent } from '#electron/store/write/blobs.ts';
import { database, temporaryFolder } from './support/database.ts';

const put = (db: WritableDb, ...all: Uint8Array[]): string[] => {
  const content = prepareContent(
    db,
    all.map((bytes) => ({ sha: sha256Hex(bytes), bytes })),
    [],
  );
  db.transaction(() => insertContent(db, content));
  return all.map((bytes) => sha256Hex(bytes));
};
const insertRow = (db: WritableDb, plain: Uint8Array, codec: string, bytes: Uint8Array, dict: string | null = null) =>
  db.run(
    sql('INSERT INTO blob (sha, size, codec, dict, bytes) VALUES (?, ?, ?, ?, ?)'),
    sha256Hex(plain),
    plain.length,
    codec,
    dict,
    bytes,
  );
const text = (n: number): Uint8Array => new TextEncoder().encode('{"key": 12345, "other": [1, 2, 3]}\n'.repeat(n));
const row = (db: WritableDb, sha: string) =>
  db.get(sql<{ codec: string; bytes: Uint8Array | null; size: number }>('SELECT codec, bytes, size FROM blob WHERE sha = ?'), sha);
const kindOf = (fn: () => unknown): string => {
  try {
    fn();
  } catch (error) {
    return error instanceof StoreError ? error.kind : String(error);
  }
  return 'nothing thrown';
};

test('any bytes come back, whatever they were stored as', () => {
  const db = database();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2_000, size: 'max' }), fc.integer({ min: 1, max: 60 }), (part, times) => {
      const bytes = Buffer.concat(Array.from({ length: times }, () => part));
      const [sha = ''] = put(db, bytes);
      expect(Buffer.from(getBlob(db, sha) ?? []).equals(bytes)).toBe(true);
    }),
    { numRuns: 60 },
  );
  expect(db.all(sql<{ codec: string }>('SELECT DISTINCT codec FROM blob ORDER BY codec')).map(({ codec }) => codec)).toEqual([
    'raw',
    'zstd',
  ]);
});

test('small and incompressible bytes are raw, compressible ones compressed, large ones files', () => {
  const db = database();
  const small = text(10);
  const medium = text(2_000);
  const noise = new Uint8Array(randomBytes(100_000));
  const large = new Uint8Array(randomBytes(maxInDatabase + 1));
  const largeText = text(300_000);
  const [a = '', b = '', c = '', d = '', e = ''] = put(db, small, medium, noise, large, largeText);
  expect(small.length).toBeLessThan(rawBelow);
  expect(row(db, a)?.codec).toBe('raw');
  expect(row(db, b)).toMatchObject({ codec: 'zstd', size: medium.length });
  expect(row(db, c)?.codec).toBe('raw');
  expect(row(db, d)).toMatchObject({ codec: 'raw', bytes: null });
  expect(row(db, e)?.bytes?.length).toBeLessThan(maxInDatabase);
  expect(readFileSync(blobFile(db.blobsDir, d)).equals(large)).toBe(true);
  expect(Buffer.from(getBlob(db, d) ?? []).equals(large)).toBe(true);
  expect(Buffer.from(getBlob(db, e) ?? []).equals(largeText)).toBe(true);
  expect(readdirSync(dirname(blobFile(db.blobsDir, d)))).toEqual([d]);
});

test('storing the same bytes again is a no-op', () => {
  const db = database();
  put(db, text(1), text(1), text(2));
  put(db, text(2), text(3));
  expect(db.get(sql<{ n: number }>('SELECT count(*) AS n FROM blob'))?.n).toBe(3);
});

test('a blob under a dictionary is restored, and a damaged dictionary is found out', () => {
  const db = database();
  const base = text(300);
  const next = Buffer.concat([text(150), new TextEncoder().encode('changed\n'), text(149)]);
  const [dict = ''] = put(db, base);
  insertRow(db, next, 'zstd-dict', zstdCompressSync(next, { dictionary: base }), dict);
  expect(Buffer.from(getBlob(db, sha256Hex(next)) ?? []).equals(next)).toBe(true);
  // Of the same length, and restored without an error: only the hash tells.
  const elsewhere = base.map((b) => (b === 49 ? 50 : b));
  const other = text(200);
  insertRow(
    db,
    other,
    'zstd-dict',
    zstdCompressSync(other, { dictionary: elsewhere.map((b) => (b === 50 ? 49 : b)) }),
    put(db, elsewhere)[0],
  );
  expect(() => getBlob(db, sha256Hex(other))).toThrow(/is damaged/);
});

describe('damage is found at every read and named', () => {
  const plain = text(50);
  const sha = sha256Hex(plain);
  const flipped = (bytes: Uint8Array, at: number): Uint8Array => bytes.map((b, i) => (i === at ? b ^ 1 : b));
  const frames = Buffer.concat([zstdCompressSync(plain.subarray(0, 100)), zstdCompressSync(plain.subarray(100))]);

  test.each<[string, string, Uint8Array]>([
    ['a flipped raw byte', 'raw', flipped(plain, 7)],
    ['a missing byte', 'raw', plain.subarray(1)],
    ['an added byte', 'raw', Buffer.concat([plain, new Uint8Array(1)])],
    ['a flipped compressed byte', 'zstd', flipped(zstdCompressSync(plain), 12)],
    ['a cut frame', 'zstd', zstdCompressSync(plain).subarray(0, 20)],
    ['two frames, of which the decoder gives the first', 'zstd', frames],
    ['nothing compressed at all', 'zstd', plain],
    ['more than was declared', 'zstd', zstdCompressSync(text(5_000))],
  ])('%s', (_, codec, bytes) => {
    const db = database();
    insertRow(db, plain, codec, bytes);
    expect(() => getBlob(db, sha)).toThrow(sha);
    expect(kindOf(() => getBlob(db, sha))).toBe('corrupt');
  });

  test('a checksum in the frame is not relied on', () => {
    const db = database();
    insertRow(db, plain, 'zstd', zstdCompressSync(text(49), { params: { [constants.ZSTD_c_checksumFlag]: 1 } }));
    expect(kindOf(() => getBlob(db, sha))).toBe('corrupt');
  });

  test('a damaged or missing file', () => {
    const db = database();
    const large = new Uint8Array(randomBytes(maxInDatabase + 1));
    const [name = ''] = put(db, large);
    const file = blobFile(db.blobsDir, name);
    writeFileSync(file, flipped(large, 1_000));
    expect(() => getBlob(db, name)).toThrow(/is damaged/);
    writeFileSync(file, large);
    expect(getBlob(db, name)?.length).toBe(large.length);
    const [gone = ''] = put(db, new Uint8Array(randomBytes(maxInDatabase + 1)));
    const folder = temporaryFolder();
    mkdirSync(folder, { recursive: true });
    writeFileSync(blobFile(db.blobsDir, gone), '');
    expect(kindOf(() => getBlob(db, gone))).toBe('corrupt');
  });

  test('a manifest', () => {
    const db = database();
    const [file = ''] = put(db, plain);
    const manifest = [{ mode: 'file' as const, path: 'a.txt', sha: file, size: plain.length }];
    const tree = treeId(manifest);
    const bytes = new TextEncoder().encode(JSON.stringify([{ ...manifest[0], path: 'b.txt' }]));
    db.run(sql(`INSERT INTO tree (sha, size, codec, manifest) VALUES (?, ?, 'raw', ?)`), tree, bytes.length, bytes);
    expect(() => getManifest(db, tree)).toThrow(tree);
  });
});

test('bytes that are not what their name says are refused before anything is written', () => {
  const db = database();
  expect(() => prepareContent(db, [{ sha: sha256Hex(text(1)), bytes: text(2) }], [])).toThrow(/its bytes have the SHA-256/);
  expect(existsSync(db.blobsDir)).toBe(false);
});

test('large manifests are compressed and come back sorted', () => {
  const db = database();
  const files = Array.from({ length: 700 }, (_, i) => ({
    mode: i % 9 === 0 ? ('exec' as const) : ('file' as const),
    path: `src/päth-${(i * 31) % 700}.ts`,
    bytes: text(i % 3),
  }));
  const manifest = files.map(({ mode, path, bytes }) => ({ mode, path, sha: sha256Hex(bytes), size: bytes.length }));
  const tree = treeId(manifest);
  const content = prepareContent(
    db,
    files.map(({ bytes }) => ({ sha: sha256Hex(bytes), bytes })),
    [{ tree, manifest }],
  );
  db.transaction(() => insertContent(db, content));
  const found = getManifest(db, tree) ?? [];
  expect(found).toHaveLength(700);
  expect(treeId(found)).toBe(tree);
  expect(db.get(sql<{ codec: string }>('SELECT codec FROM tree'))?.codec).toBe('zstd');
});

test('files that no row names are removed, temporary ones too', () => {
  const db = database();
  const [kept = ''] = put(db, new Uint8Array(randomBytes(maxInDatabase + 1)));
  const orphan = 'ab'.repeat(32);
  createBlobWriter(db.blobsDir)(orphan, text(1));
  writeFileSync(join(db.blobsDir, kept.slice(0, 2), `${kept}.tmp`), 'half');
  writeFileSync(join(db.blobsDir, kept.slice(0, 2), 'notes.txt'), 'not ours');
  mkdirSync(join(db.blobsDir, 'other'));
  const removed = blobFolders(db.blobsDir).map((folder) => collectOrphans(folder, (sha) => blobExists(db, sha)));
  expect(removed.reduce((a, b) => a + b, 0)).toBe(2);
  expect(existsSync(blobFile(db.blobsDir, orphan))).toBe(false);
  expect(getBlob(db, kept)).not.toBeNull();
  expect(readdirSync(join(db.blobsDir, kept.slice(0, 2))).sort()).toEqual([kept, 'notes.txt'].sort());
});

test('a file that cannot be written stops the write before its transaction', () => {
  const db = database();
  const large = new Uint8Array(randomBytes(maxInDatabase + 1));
  mkdirSync(db.blobsDir, { recursive: true });
  writeFileSync(join(db.blobsDir, sha256Hex(large).slice(0, 2)), 'a file where the folder should be');
  expect(() => put(db, large)).toThrow(sha256Hex(large));
  expect(db.get(sql<{ n: number }>('SELECT count(*) AS n FROM blob'))?.n).toBe(0);
  expect(() => blobFile(db.blobsDir, '../../etc/passwd')).toThrow(/not a SHA-256/);
});

test('encoding keeps what it cannot shrink', () => {
  const noise = new Uint8Array(randomBytes(50_000));
  expect(encode(noise)).toEqual({ codec: 'raw', bytes: noise });
  expect(encode(text(2_000)).bytes.length).toBeLessThan(2_000);
});
