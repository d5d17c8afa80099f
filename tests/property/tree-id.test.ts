import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkManifest, checkPath, sortManifest, treeId } from '#shared/domain/tree-id.ts';
import type { Manifest, ManifestEntry } from '#shared/domain/tree.ts';
import { sha256Text } from '#shared/lib/hash.ts';
import { createRandom } from '#shared/lib/random.ts';
import { vectors } from './lib/vectors.ts';

const segment = fc.string({ unit: fc.constantFrom('a', 'b', 'B', '-', '_', 'é', '한', '😀', '\uff21'), minLength: 1, maxLength: 4 });
const path = fc.array(segment, { minLength: 1, maxLength: 3 }).map((s) => s.join('/'));
const entry: fc.Arbitrary<ManifestEntry> = fc.record({
  mode: fc.constantFrom('file', 'exec'),
  path,
  sha: fc.nat({ max: 5 }).map((n) => sha256Text(`content ${n}`)),
  size: fc.nat({ max: 1_000 }),
});
const manifest: fc.Arbitrary<Manifest> = fc.uniqueArray(entry, { selector: (e) => e.path, maxLength: 8 });

const shuffled = (m: Manifest, seed: number): Manifest => {
  const random = createRandom(['shuffle', seed]);
  return m
    .map((e) => ({ e, key: random.next() }))
    .sort((a, b) => a.key - b.key)
    .map(({ e }) => e);
};

describe('tree id', () => {
  test.each(vectors.trees)('vector: $name', ({ manifest: m, order, sha }) => {
    expect(sortManifest(m).map((e) => e.path)).toEqual(order);
    expect(treeId(m)).toBe(sha);
  });

  test('the golden of the design is among the vectors', () => {
    expect(vectors.trees.map((t) => t.sha)).toContain('41fcff3d0f5f9e4f2b0324d23e2645ab4ae4a79077116e8b59479d6d33ae1d59');
  });

  test('does not depend on the order of entries, of their keys, or on fields beside them', () => {
    fc.assert(
      fc.property(manifest, fc.nat(), (m, seed) => {
        const id = treeId(m);
        expect(treeId(shuffled(m, seed))).toBe(id);
        expect(treeId(m.map(({ mode, path: p, sha, size }) => ({ size, sha, path: p, mode, note: 'beside' })))).toBe(id);
      }),
    );
  });

  test('changes with every field of every entry, and with entries added or removed', () => {
    fc.assert(
      fc.property(manifest, entry, fc.nat(), (m, extra, at) => {
        fc.pre(!m.some((e) => e.path === extra.path));
        const id = treeId(m);
        expect(treeId([...m, extra])).not.toBe(id);
        const i = at % Math.max(1, m.length);
        const e = m[i];
        if (e === undefined) return;
        const changes: ManifestEntry[] = [
          { ...e, mode: e.mode === 'file' ? 'exec' : 'file' },
          { ...e, path: extra.path },
          { ...e, sha: sha256Text(`not ${e.sha}`) },
          { ...e, size: e.size + 1 },
        ];
        expect(changes.map((c) => treeId(m.with(i, c))).includes(id)).toBe(false);
        expect(treeId(m.toSpliced(i, 1))).not.toBe(id);
      }),
    );
  });

  test('two entries for one path are refused', () => {
    fc.assert(
      fc.property(manifest, entry, (m, e) => {
        fc.pre(!m.some((x) => x.path === e.path));
        expect(() => treeId([e, ...m, { ...e, size: e.size + 1 }])).toThrow('two entries for');
      }),
    );
  });
});

describe('manifests', () => {
  const file = (p: string, size = 1): ManifestEntry => ({ mode: 'file', path: p, sha: sha256Text(p), size });

  // A second, slower statement of what a case-insensitive file system would merge: compares all pairs of names in all folders.
  const clash = (m: Manifest): boolean => {
    const names = m.flatMap((e) =>
      e.path.split('/').map((_, i, all) => ({ path: all.slice(0, i + 1).join('/'), folder: i + 1 < all.length })),
    );
    const key = (p: string): string => p.normalize('NFD').toUpperCase().toLowerCase();
    return names.some((a) => names.some((b) => key(a.path) === key(b.path) && (a.path !== b.path || a.folder !== b.folder)));
  };

  test('accepted exactly when no two names are one on another file system; the order of entries does not matter', () => {
    fc.assert(
      fc.property(manifest, fc.nat(), (m, seed) => {
        expect(checkManifest(m).ok).toBe(!clash(m));
        expect(checkManifest(shuffled(m, seed)).ok).toBe(!clash(m));
      }),
      { numRuns: 1_000 },
    );
  });

  test('limits hold for every order: number of files and sum of sizes', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 20 }), { maxLength: 6 }), fc.nat({ max: 6 }), fc.nat({ max: 60 }), (sizes, maxFiles, maxBytes) => {
        const m = sizes.map((size, i) => file(`f${i}`, size));
        const fits = sizes.length <= maxFiles && sizes.reduce((s, x) => s + x, 0) <= maxBytes;
        const result = checkManifest(m, { maxFiles, maxBytes });
        expect(result.ok ? 'ok' : result.error.code).toBe(fits ? 'ok' : 'too_large');
      }),
    );
  });
});

describe('paths', () => {
  test('plain paths pass unchanged', () => {
    fc.assert(
      fc.property(path, (p) => {
        expect(checkPath(p)).toEqual({ ok: true, value: p });
      }),
    );
  });

  test('whatever text comes: an accepted path is safe to join to a folder and means one file everywhere', () => {
    const hostile = fc.string({
      unit: fc.oneof(
        fc.constantFrom('.', '/', '\\', ':', ' ', '\0', '\n', 'C', 'nul', 'com1', 'e\u0301', '\ud800', 'a', '~'),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      ),
      maxLength: 8,
    });
    fc.assert(
      fc.property(hostile, (p) => {
        const result = checkPath(p);
        const safe =
          p.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..' && !/[. ]$/.test(segment)) &&
          !/[\\:\p{Cc}]/u.test(p) &&
          p.isWellFormed() &&
          p.normalize('NFC') === p;
        expect(result.ok ? safe : /^the path ".*" (?:has|is) /s.test(result.error)).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });
});
