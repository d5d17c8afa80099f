// Changed files as JSON: what is written is what is read, byte for byte, and what cannot be meant is refused.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { humanResponse, isHumanResponse, materialiseHuman } from '#electron/proposers/human.ts';
import { materialiseCommand } from '#electron/proposers/command.ts';
import { readRecord, recordBytes } from '#electron/proposers/recorded.ts';
import { applyChanges, encodeChanges, TreeChanges } from '#electron/proposers/tree-changes.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { canonicalJson } from '#shared/lib/canonical-json.ts';
import { sha256Text } from '#shared/lib/hash.ts';
import { bytesOf, filesOf, treeOf } from '../../support/engine/builders.ts';

const paths = ['a.txt', 'b/c.bin', 'b/é.txt', 'run.sh', '__proto__', 'toString'];
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => bytesOf(text)),
  fc.constantFrom(bytesOf('\ufeffbom\r\nno end'), new Uint8Array(), Uint8Array.of(0xff, 0xfe, 0)),
);
const tree: fc.Arbitrary<TreeFile[]> = fc
  .subarray(paths)
  .chain((names) => fc.tuple(...names.map((path) => fc.record({ path: fc.constant(path), mode: fc.constantFrom('file', 'exec'), bytes }))));

test('changes that were written as JSON make the same tree of their base', () => {
  fc.assert(
    fc.property(tree, tree, (base, after) => {
      const kept = new Map(base.map((file) => [file.path, file]));
      const changed = after.filter(({ path, mode, bytes: now }) => {
        const old = kept.get(path);
        return old?.mode !== mode || Buffer.compare(old.bytes, now) !== 0;
      });
      const names = new Set(after.map(({ path }) => path));
      const removed = base.map(({ path }) => path).filter((path) => !names.has(path));
      const stored = TreeChanges.parse(JSON.parse(canonicalJson(encodeChanges(changed, removed))));
      const made = applyChanges(base, stored);
      expect(made.ok && treeOf(made.value)).toBe(treeOf(after));
    }),
    { numRuns: 500 },
  );
});

describe('what is refused', () => {
  const base = filesOf({ 'a.txt': 'a' });
  const file = { path: 'b.txt', mode: 'file' as const, text: 'b' };
  test.each([
    ['a file that is not there', { changed: [], removed: ['b.txt'] }],
    ['a removal twice', { changed: [], removed: ['a.txt', 'a.txt'] }],
    ['a file named twice', { changed: [file, file], removed: [] }],
    ['one both removed and changed', { changed: [{ ...file, path: 'a.txt' }], removed: ['a.txt'] }],
  ])('%s', (_, changes) => {
    expect(applyChanges(base, changes)).toMatchObject({ ok: false, error: { code: 'apply_failed' } });
  });

  test('responses of another form hold no candidate', () => {
    for (const text of ['', '{', 'null', '{"format":"pawl.search/1"}', '{"format":"pawl.command/1","changed":[]}']) {
      expect(materialiseHuman(bytesOf(text), base)).toMatchObject({ ok: false, error: { code: 'no_candidate' } });
      expect(materialiseCommand(bytesOf(text), base)).toMatchObject({ ok: false, error: { code: 'no_candidate' } });
      expect(isHumanResponse(bytesOf(text))).toBe(false);
    }
  });
});

test('what a person submits keeps modes, adds plain files, removes, and is known by its form', () => {
  const base: TreeFile[] = [{ path: 'run.sh', mode: 'exec', bytes: bytesOf('old') }, ...filesOf({ 'a.txt': 'a' })];
  const response = humanResponse(base, [
    { path: 'run.sh', text: 'new' },
    { path: 'a.txt', text: null },
    { path: 'b.txt', text: 'b' },
  ]);
  expect(isHumanResponse(response)).toBe(true);
  const made = materialiseHuman(response, base);
  expect(made.ok && treeOf(made.value)).toBe(
    treeOf([{ path: 'run.sh', mode: 'exec', bytes: bytesOf('new') }, ...filesOf({ 'b.txt': 'b' })]),
  );
});

test('a record is read as it was written, and nothing else is one', () => {
  const responses = [sha256Text('a'), null, sha256Text('b')];
  expect(readRecord(recordBytes(responses))).toEqual(responses);
  expect(readRecord(bytesOf('[]'))).toBe(null);
});
